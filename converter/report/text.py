"""Findings and results as lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from converter.diagnostics import DECISIVE, Diagnostic
from converter.report.excerpt import excerpt
from converter.report.results import EXIT_CODES, FileResult

STDIN = "<stdin>"  # the path of a script from standard input
MOST_NAMED = 12  # files that one line names


def diagnostic(finding: Diagnostic) -> str:
    """`path:line:column: CODE message`, the script's line with a caret below it, and the hint, indented."""
    head = f"{finding.place}: {finding.code} {finding.message}"
    return "\n".join([head, *excerpt(finding), *(f"    {line}" for line in finding.hint.splitlines())])


def diagnostics(findings: Sequence[Diagnostic]) -> str:
    """One finding after the other, in the order of their places; what no edit of a line mends comes first."""
    ordered = sorted(findings, key=lambda finding: (finding.code not in DECISIVE, _place(finding)))
    return "\n".join(map(diagnostic, ordered))


def summary(results: Sequence[FileResult]) -> str:
    """`1 converted, 2 unchanged, 1 refused`, in the order from good to bad."""
    counts = Counter(result.outcome for result in results)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in EXIT_CODES if counts[outcome])


def findings_summary(results: Sequence[FileResult]) -> str:
    """`3 findings in 1 file, 2 clean`: what `lint` found, counted."""
    with_findings = [result for result in results if result.outcome == "found"]
    number, files = sum(len(result.diagnostics) for result in with_findings), len(with_findings)
    in_files = f"{number} finding{'s' * (number != 1)} in {files} file{'s' * (files != 1)}"
    others = summary([result for result in results if result.outcome != "found"])
    return ", ".join(part for part in (in_files if number else "", others) if part)


def outcome(result: FileResult) -> str:
    """`train.py: converted, written to train_mg.py`."""
    elsewhere = result.output and result.output != result.path
    copied = result.outcome == "refused" and result.written  # into the output folder, for what else is there
    how = "copied as it is to" if copied else "written to" if result.written else "for"
    where = f", {how} {result.output}" if elsewhere else ""
    return f"{result.path}: {result.outcome}{where}"


def line(result: FileResult) -> str:
    """A result in one line.

    `train.py:9:5: TMG201 why; and 2 more; refused` for a refused file (`net.py:3:1: TMG202 why; train.py: refused` if
    the reason stands in another one), else `train.py: converted, written to train_mg.py; warnings: TMG301 (line 7)`.
    """
    errors = [finding for finding in result.diagnostics if finding.severity == "error"]
    warned = [finding for finding in result.diagnostics if finding.severity == "warning"]
    became = outcome(result)
    first = errors[0] if errors else warned[0] if warned and not result.written else None
    if first is not None:
        more = [f"and {len(errors) - 1} more"] if errors[1:] else []
        became = became.removeprefix(f"{result.path}: ") if first.path == result.path else became
        return "; ".join([f"{first.place}: {first.code} {first.message}", *more, became])
    codes = ", ".join(f"{one.code} ({one.where})" if one.line else one.code for one in warned)
    return f"{became}; warnings: {codes}" if warned else became


def left_out(results: Sequence[FileResult]) -> str:
    """One line that lists the files and folders not copied into an output folder; "" if there are none."""
    named = [
        f"{result.path} ({finding.message.removeprefix('left out: ')})"
        for result in results
        if result.outcome == "left out"
        for finding in result.diagnostics[:1]
    ]
    more = f", and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return f"left out: {', '.join(named[:MOST_NAMED])}{more}" if named else ""


def again(command: str) -> str:
    """The advice to write what a check found to be out of date."""
    return f"    to write it: {command}"


def decisions(result: FileResult, proven: bool = False) -> str:
    """What a conversion decided, one line each, and the commands that come next; "" where nothing is known of it.

    proven: whether the proof has been made already.
    """
    if not result.decisions:
        return ""
    rows = [(decision.topic, decision.text) for decision in result.decisions]
    warned = sum(finding.severity == "warning" for finding in result.diagnostics)
    rows += [("warnings", f"{warned}, said above")] if warned else []
    rows += [(command.purpose, command.line) for command in result.commands]
    told = any(command.purpose != "run" for command in result.commands)
    rows += [] if proven or told else [("next", _next(result))]
    return "\n".join(f"    {topic + ':':15}{text}" for topic, text in rows)


def _next(result: FileResult) -> str:
    import shlex  # 2 ms, which a run that converts nothing is spared

    if result.output and result.path == STDIN:
        return f"tf-multigpu verify ORIGINAL {shlex.quote(result.output)}, with the text from standard input in a file"
    if result.output and result.output != result.path:
        return shlex.join(["tf-multigpu", "verify", result.path, result.output])
    name = shlex.quote(result.path)
    return f"tf-multigpu verify ORIGINAL {name}, with the text from before, as version control has it"


def _place(finding: Diagnostic) -> tuple[str, int, int, int, str]:
    return finding.path, finding.cell, finding.line, finding.column, finding.code
