"""Results as Markdown for the comment on a pull request: what a reviewer decides on comes first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from converter.diagnostics import Diagnostic
from converter.report import text
from converter.report.results import FileResult
from converter.report.review import Point, failed_first, lines_to_look_at, to_judge, where_to_look
from converter.report.verification import FATES, replicas
from converter.verify.data import CheckResult, Fate, Report

LONGEST = 60_000  # characters; GitHub takes comments of 65,536
STALE = "TMG011"  # a converted file that is not what its source gives now
_STATUSES = {"passed": "passed", "failed": "**failed**", "skipped": "skipped"}


def results(done: Sequence[FileResult]) -> str:
    """A run: the counts, what is out of date, refusals, warnings, all files, and diffs as far as there is room."""
    by_kind: dict[str, list[Diagnostic]] = {"error": [], "warning": [], "info": [], STALE: []}
    for finding in (finding for result in done for finding in result.diagnostics):
        stale = finding.severity == "error" and finding.code == STALE
        by_kind[STALE if stale else finding.severity].append(finding)
    parts = [f"### tf-multigpu: {text.summary(done) or 'no files'}"]
    parts += _findings("Not up to date", by_kind[STALE])
    parts += _findings("Refused", by_kind["error"])
    parts += _findings("To decide", by_kind["warning"])
    rows = [(_code(one.path), one.outcome, _code(one.output or "")) for one in done if one.outcome != "unchanged"]
    parts += [_table(("file", "outcome", "output"), rows)] if rows else []
    commands = dict.fromkeys(result.again for result in done)
    parts.append("\n".join(f"- to write it: {_code(command)}" for command in commands if command))
    parts += [_details(f"Proof of {result.path}", result.report) for result in done if result.report]
    parts += [_details(f"Diff of {result.path}", result.diff, "diff") for result in done if result.diff]
    return _joined(list(filter(None, parts)))


def verification(report: Report) -> str:
    """A proof: the verdict, what differs by design, the table of checks, and what was not checked."""
    towers = replicas(report)
    parts = [
        f"### tf-multigpu verify: {report.verdict}",
        _escaped(f"{towers}, batch {report.batch}, {report.steps} steps: {report.reason}"),
    ]
    points = [f"- **{_escaped(point.topic)}**{_place(point)}: {_escaped(point.text)}" for point in to_judge(report)]
    parts += _ledger(report, "wrong")
    if points:
        parts += ["#### To judge", "\n".join(points)]
    parts += _ledger(report, "differs")
    if report.checks:
        parts.append("#### Proof")
        rows = [
            (
                _escaped(check.name),
                _STATUSES[check.status],
                _figure(check.figure),
                _figure(check.tolerance),
                _escaped(check.detail) + _suspects(report, check),
            )
            for check in failed_first(report.checks)
        ]
        parts.append(_table(("check", "result", "largest error", "allowed", "what"), rows))
    left = [entry for entry in report.ledger if entry.fate == "unchecked"]
    if left:
        listed = "\n".join(f"- {_escaped(entry.what)}: {_escaped(entry.detail)}" for entry in left)
        parts.append(f"<details><summary>Not checked ({len(left)})</summary>\n\n{listed}\n\n</details>")
    if report.log:
        parts.append(_details("What the script printed last", report.log))
    return _joined(parts)


def _ledger(report: Report, fate: Fate) -> Iterator[str]:
    entries = [entry for entry in report.ledger if entry.fate == fate]
    if entries:
        yield f"#### {FATES[fate][:1].upper()}{FATES[fate][1:]}"
        yield "\n".join(f"- **{_escaped(entry.what)}**: {_escaped(entry.detail)}" for entry in entries)


def _suspects(report: Report, check: CheckResult) -> str:
    why, spots = lines_to_look_at(report, check) if check.status == "failed" else ("", ())
    return f" ({_escaped(where_to_look(spots))}, {why})" if spots else ""


def _place(point: Point) -> str:
    return f" {point.code}, {point.where}" if point.code else ""


def _findings(heading: str, findings: Sequence[Diagnostic]) -> Iterator[str]:
    if findings:
        yield f"#### {heading}"
        yield "\n".join(line for finding in findings for line in _finding(finding))


def _finding(finding: Diagnostic) -> Iterator[str]:
    yield f"- {_code(finding.place)} **{finding.code}** {_escaped(finding.message)}"
    if finding.text.strip():
        yield f"  <br>{_code(finding.text.strip())}"
    if finding.hint:
        yield f"  <br>→ {_escaped(finding.hint)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _details(summary: str, body: str, language: str = "") -> str:
    fence = "```"
    while fence in body:
        fence += "`"
    block = f"{fence}{language}\n{body.rstrip()}\n{fence}"
    return f"<details><summary>{_escaped(summary)}</summary>\n\n{block}\n\n</details>"


def _joined(parts: Sequence[str]) -> str:
    """All parts that there is room for; what is left out is counted."""
    kept: list[str] = []
    room = LONGEST
    for part in parts:
        if len(part) <= room:
            kept.append(part)
            room -= len(part) + 2
    left = len(parts) - len(kept)
    note = [f"_{left} {'part' if left == 1 else 'parts'} left out: too long for a comment._"] if left else []
    return "\n\n".join([*kept, *note]) + "\n"


def _code(value: str) -> str:
    """A code span that holds whatever is in it, also in a table."""
    if not value:
        return ""
    fence = "``" if "`" in value else "`"
    pad = " " if "`" in value else ""
    return f"{fence}{pad}{_one_line(value).replace('|', chr(92) + '|')}{pad}{fence}"


def _escaped(value: str) -> str:
    plain = _one_line(value)
    for mark in "\\`*_[]|#":
        plain = plain.replace(mark, "\\" + mark)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _one_line(value: str) -> str:
    return " ".join(value.split())


def _figure(value: float | None) -> str:
    return "" if value is None else "0" if value == 0 else f"{value:.1e}"
