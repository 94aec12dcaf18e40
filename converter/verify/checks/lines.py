"""Compares the lines behind the original's graph with the lines that the plan puts into the towers.

The plan comes from reading the script, the traced lines from running it (child/tmgprobe/graph/lines.py). A line whose
operations depend on a batch and are needed by the loss must lie in the towers. Else they work on whole batches.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from converter.dataclass import dataclass
from converter.parsing import parse_text
from converter.plan.border import MaskedMean, Sum
from converter.source.python2 import readable
from converter.source.text import split_lines
from converter.verify.data import CheckResult
from converter.verify.origin import Repeated
from converter.verify.processes.workspace import run_as

if TYPE_CHECKING:
    from converter.conversion import Conversion, OtherFile
    from converter.plan import At, Plan

Role = Literal[
    "before the towers",
    "in the towers",
    "after the towers",
    "in the gradient's call",
    "prepares batches",
    "once more after the towers",
]
PREPARES: Role = "prepares batches"  # once for all towers
BEFORE: Role = "before the towers"
TOWER: Role = "in the towers"
AFTER: Role = "after the towers"
AGAIN: Role = "once more after the towers"  # from what they give: this is what the script reads
GRADIENT: Role = "in the gradient's call"  # a loss written there moves into the towers as an expression

SizedLines = tuple[str, int, int, tuple[float, ...]]

NAME = "traced lines"
RANKS = ("other", "needed", "traced")  # as in child/tmgprobe/graph/lines.py
GRADIENTS = ("TMG101", "TMG102", "TMG118", "TMG133", "TMG167")  # the rules that rewrite where gradients are taken
LISTED = 5  # lines named in one sentence


@dataclass(frozen=True)
class LineSpan:
    """Where the lines first..last of a file go; `file` is its path from the script's folder."""

    file: str
    first: int
    last: int
    role: Role


@dataclass(frozen=True)
class PlannedLines:
    """What a conversion does with the lines of the files that it changes; `missing` says why that is not known.

    script: the name of the script among them.
    forward: the end of a loss is computed on the towers' merged outputs, outside of them on purpose.
    once: so is a loss that is not a mean, and its gradient is to be that of the whole batch. Not where the conversion
        warned that statistics of the batch go into it: these are of each tower's share, by design.
    said: the codes of the warnings with which it was made.
    counted: whether it weighs the towers' losses by what masks leave of their shards.
    merged: whether the end of a loss is computed once, also where statistics of the towers' shares go into it.
    summed: whether the towers' losses are added up, and not averaged; None where some are.
    shorter: whether an epoch has fewer steps, as the script counts them by its batch size.
    single: where branches of the script begin in which it builds one tower, as they set the batch size to 1.
    sizes: statements that read a size of batches which grows with the towers: [file, first line, last, numbers that
        are written there]; None where that is not known.
    """

    script: str = ""
    spans: tuple[LineSpan, ...] = ()
    missing: str = ""
    forward: bool = False
    once: bool = False
    said: frozenset[str] = frozenset()
    counted: bool = False
    merged: bool = False
    summed: bool | None = None
    shorter: bool = False
    single: tuple[str, ...] = ()
    sizes: tuple[SizedLines, ...] | None = None

    @property
    def towers(self) -> Mapping[str, Any]:
        """What child/tmgprobe/reference/region.py needs to know of the towers; empty where no plan is known.

        Its spans: for each statement its file, its first and last line, and whether the script reads what the towers
        build of it: of the spans of one statement the first counts, in their order as numbers.
        """
        spans = [(span.file, span.first, span.last, span.role in (TOWER, GRADIENT)) for span in self.spans]
        plan = {"spans": spans, "counted": self.counted, "once": self.merged, "summed": self.summed}
        return plan if spans else {}


def planned_lines(repeated: Repeated | None) -> PlannedLines:
    """The plan of a conversion that was repeated, if that gave the same text.

    What it warned of stands also where a line of its text was edited since.
    """
    if repeated is None:
        return PlannedLines(missing="the converted script has no header that can be read")
    again, origin = repeated.conversion, repeated.origin
    said = frozenset(finding.code for finding in again.diagnostics) if origin.same_source else frozenset()
    missing = "" if origin.rewritten else "the converted script is not what its header's conversion gives"
    if again.plan is None or not (origin.rewritten or origin.same_source):
        return PlannedLines(missing=missing or "its header's conversion has no plan", said=said)
    found = _merges_in([made.plan for made in repeated.files.values() if made.plan is not None])
    return replace(
        found,
        script=run_as(Path(again.source.path).name),
        spans=tuple(span for path, made in repeated.files.items() for span in _spans_in(run_as(path), made)),
        missing=missing,
        once=found.once and not missing,
        said=said,
        shorter=epochs_are_shorter(repeated.files),
        single=tuple(f"{Path(at.path or again.source.path).name}:{at.line}" for at in again.plan.single),
        sizes=sizes_of(repeated.files),
    )


def _merges_in(plans: Sequence[Plan]) -> PlannedLines:
    """How plans have the towers' losses merged, or computed once of what the towers give."""
    forward = any(plan.forward for plan in plans)
    merged = any(edit.why == "TMG167" for plan in plans for edit in plan.replaces)
    merges = [merge for plan in plans for loop in plan.loops for merge in loop.border.merges]
    hows = {isinstance(merge.how, Sum) for merge in merges if merge.loss}
    return PlannedLines(
        forward=forward,
        once=merged and not any(plan.shares for plan in plans),
        counted=any(isinstance(merge.how, MaskedMean) for merge in merges),
        merged=merged or forward,
        summed=hows.pop() if len(hows) == 1 else None,
    )


def epochs_are_shorter(files: Mapping[str, Conversion | OtherFile]) -> bool:
    """Whether an epoch has fewer steps in a conversion, as the script counts them by its batch size."""
    return any(made.plan.counted for made in files.values() if made.plan is not None)


def sizes_of(files: Mapping[str, Conversion | OtherFile]) -> tuple[SizedLines, ...] | None:
    """Statements of changed files that read a size of batches; None where there is no plan. files: see `Repeated`."""
    planned = any(made.plan is not None for made in files.values())
    return tuple(size for path, made in files.items() for size in _sizes_in(path, made)) if planned else None


def _sizes_in(path: str, made: Conversion | OtherFile) -> Iterable[SizedLines]:
    """Statements of a changed file that read a size of batches; see `PlannedLines`."""
    if made.source is None or made.plan is None:
        return
    name, text = run_as(path), readable(made.source.text) if made.named is None else made.named.text
    read = {at.line for at in made.plan.sizes if at.path == made.plan.path}
    for node in ast.walk(parse_text(text)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            first, last = node.lineno, node.end_lineno or node.lineno
            if not read.isdisjoint(range(first, last + 1)):
                parts = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
                numbers = tuple(sorted({float(value) for value in parts if isinstance(value, (int, float))}))
                first, last = (made.named.place(line, 1)[0] if made.named else line for line in (first, last))
                yield name, first, last, numbers


def _spans_in(name: str, made: Conversion | OtherFile) -> Iterable[LineSpan]:
    """The spans of a changed file by the lines of its original, also where calls got names before it was planned."""
    if made.source is None or made.plan is None:
        return ()
    if made.named is None:
        return spans_of(name, readable(made.source.text), made.plan)
    place, found = made.named.place, spans_of(name, made.named.text, made.plan)
    return (replace(span, first=place(span.first, 1)[0], last=place(span.last, 1)[0]) for span in found)


def spans_of(file: str, text: str, plan: Plan) -> tuple[LineSpan, ...]:
    """For each statement that the plan names: all of its lines, and where they go."""
    ends: dict[tuple[int, int], int] = {}
    simple: list[tuple[int, int]] = []
    for node in ast.walk(parse_text(text)):
        if isinstance(node, ast.stmt):
            ends[node.lineno, node.col_offset] = end = node.end_lineno or node.lineno
            if not hasattr(node, "body"):
                simple.append((node.lineno, end))
    lines = split_lines(text)

    def statement(first: int, last: int) -> LineSpan:
        """A frame names the first line of a call, which may stand above the argument that is edited."""
        around = [(begin, end) for begin, end in simple if begin <= first and last <= end]
        return LineSpan(file, *min(around, key=lambda lines: lines[1] - lines[0], default=(first, last)), GRADIENT)

    found = [statement(edit.at.line, edit.end.line) for edit in plan.replaces if edit.why in GRADIENTS]

    def add(role: Role, starts: Iterable[At]) -> None:
        for at in starts:
            # `ast` counts columns in bytes, the plan in characters
            offset = len(lines[at.line - 1][: at.column].encode())
            found.append(LineSpan(file, at.line, ends[at.line, offset], role))

    add(PREPARES, plan.prepared)
    for loop in plan.loops:
        add(BEFORE, loop.before)
        add(TOWER, loop.tower)
        add(AFTER, loop.after)
        add(AGAIN, (at for again in loop.again for at in again.ats))
        for block in loop.splits:
            add(BEFORE, block.stmts)
        opened = {block.at for block in loop.behind}
        for block in loop.behind:
            add(AFTER, [at for at in block.stmts if at not in opened])
    return tuple(found)


def check_lines(
    planned: PlannedLines, stacks: Sequence[Mapping[str, Any]] | None
) -> tuple[CheckResult, tuple[str, ...]]:
    """The check, and notes on the towers' lines that the loss does not need.

    stacks: what child/tmgprobe/graph/lines.py found, None where there was no step.
    """
    if planned.missing:
        return CheckResult(NAME, "skipped", planned.missing), ()
    if not stacks:
        return CheckResult(NAME, "skipped", "no input with a batch axis was found"), ()
    outside: dict[tuple[str, int], str] = {}
    traced: set[tuple[str, int]] = set()
    best: dict[LineSpan, str] = {}
    for stack in stacks:
        file, line, span = _placed(planned, stack["lines"])
        if stack["rank"] == "traced":
            if span is None or span.role not in (TOWER, GRADIENT, PREPARES):
                where = span.role if span else "outside of the towers"
                named = _shown(planned, file, line)
                outside.setdefault((file, line), f"{named}, {where}, makes {stack['operation']}")
            else:
                traced.add((span.file, span.first))
        if span and span.role == TOWER:
            best[span] = max(best.get(span, "other"), stack["rank"], key=RANKS.index)
    if outside and planned.forward and traced:
        named = ", ".join(_shown(planned, *place) for place in sorted(outside)[:LISTED])
        note = f"{NAME}: the end of the loss is computed once, on the towers' merged outputs: {named}"
        return _passed(traced), (note, *_notes(planned, best))
    if outside:
        listed = "; ".join(outside[place] for place in sorted(outside)[:LISTED])
        more = f"; and {len(outside) - LISTED} more" if len(outside) > LISTED else ""
        detail = f"the loss needs what these lines compute from a batch, but no tower does: {listed}{more}"
        return CheckResult(NAME, "failed", detail), ()
    return _passed(traced), tuple(_notes(planned, best))


def _shown(planned: PlannedLines, file: str, line: int) -> str:
    return f"line {line}" if file == planned.script else f"{file} line {line}"


def _passed(traced: Collection[tuple[str, int]]) -> CheckResult:
    detail = f"{len(traced)} statements compute the loss from a batch in the original's graph, all in the towers"
    return CheckResult(NAME, "passed", detail)


def _placed(planned: PlannedLines, lines: Sequence[Sequence[Any]]) -> tuple[str, int, LineSpan | None]:
    """The statement of the outermost line of a stack that the plan names: its file, first line and where it goes.

    Without one: the innermost line and None. Up to Python 3.7 a frame's line is any line of its statement. Spans
    are nested where a with block of the towers leaves some of its statements out: the narrowest counts.
    """
    for path, line in lines:
        spans = (span for span in planned.spans if path == span.file and span.role != AGAIN)
        around = [span for span in spans if span.first <= line <= span.last]
        if around:
            narrowest = min(around, key=lambda span: span.last - span.first)
            return path, narrowest.first, narrowest
    path, line = lines[-1]
    return path, line, None


def _notes(planned: PlannedLines, best: Mapping[LineSpan, str]) -> Iterable[str]:
    towers = [span for span in planned.spans if span.role == TOWER]
    for why, which in (
        ("make no operation", [span for span in towers if span not in best]),
        ("do not depend on a batch", [span for span in towers if best.get(span) == "needed"]),
        ("make only operations that the loss does not need", [span for span in towers if best.get(span) == "other"]),
    ):
        if which:
            named = ", ".join(_shown(planned, span.file, span.first) for span in which[:LISTED])
            yield f"{NAME}: statements of the towers that {why}: {named}" + (", …" if len(which) > LISTED else "")
