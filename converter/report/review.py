"""What a reviewer of a conversion has to judge, and the lines to look at if a check has failed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from converter.dataclass import dataclass
from converter.plan.decisions import RATE_OF_BATCH_SIZE
from converter.report.sides import side_by_side
from converter.verify.data import Changed, CheckResult, ConversionOrigin, Report

# Lines of the ledger that leave something to judge, and the topic of each.
_TOPICS = {
    "one step": "Global batch",
    "schedule": "Learning rate",
    "learning rate": "Learning rate",
    "loss": "Loss",
    "moving averages": "Batch norm and moving averages",
    "variables in slices": "Variables",
}
# The rules whose lines do what a check compares; any other check is about the towers as a whole.
_TOWERS = ("TMG101", "TMG102", "TMG103")
_LINES = {
    "gradients": ("TMG101", "TMG102", "TMG103", "TMG117", "TMG118"),
    "sparse gradients": ("TMG101", "TMG102"),
    "uneven batch": ("TMG103", "TMG108", "TMG117"),
    "fewer examples than towers": ("TMG103", "TMG108", "TMG117"),
    "batch": ("TMG103", "TMG108", "TMG110"),
    "variables": ("TMG105", "TMG122", "TMG139"),
    "collections": ("TMG107",),
    "placement": ("TMG109",),
    "slices": ("TMG139",),
}
_HELPERS_END = "# tf-multigpu: end of helpers"


@dataclass(frozen=True)
class Point:
    """One thing that a reviewer has to judge."""

    topic: str
    text: str
    where: str = ""
    code: str = ""


def to_judge(report: Report) -> tuple[Point, ...]:
    """Global batch, learning rate, loss, batch norm, then the conversion's warnings; only what applies."""
    differs = [entry for entry in report.ledger if entry.fate == "differs"]
    points = [Point(_TOPICS[entry.what], entry.detail) for entry in differs if entry.what in _TOPICS]
    if report.verdict != "not comparable" and report.gpus > 1:
        points += _unchanged_rate(report, {point.topic for point in points})
    order = list(dict.fromkeys(_TOPICS.values()))
    points.sort(key=lambda point: order.index(point.topic))
    warnings = [finding for finding in report.origin.findings if finding.severity == "warning"]
    return (*points, *(Point("Warning", finding.message, finding.where, finding.code) for finding in warnings))


def failed_first(checks: Iterable[CheckResult]) -> list[CheckResult]:
    """Checks in the order in which a reader needs them."""
    return sorted(checks, key=lambda check: check.status != "failed")


def _unchanged_rate(report: Report, topics: set[str]) -> list[Point]:
    computed = any(finding.code == RATE_OF_BATCH_SIZE for finding in report.origin.findings)
    if report.batch == "total" or computed or "Learning rate" in topics:
        return []
    header = report.origin.header
    ours = header is None or header.options.target in ("auto", "towers")  # else the option is refused
    how = "--scale-lr linear or sqrt changes it" if ours else "change it in the script where it should grow"
    text = f"unchanged, while a step takes {report.gpus} times the examples; {how}"
    return [Point("Learning rate", text)]


@dataclass(frozen=True)
class Spot:
    """Lines to look at. file: "" for the converted script. cell: of a notebook, else 0; then lines are those in it.

    rows: the same lines, as those of the script that a notebook's cells make.
    """

    file: str
    cell: int
    lines: tuple[int, ...]
    rows: tuple[int, ...]

    def said(self, script: str = "") -> str:
        """`train_mg.py:12, 20-24`, `train_mg.ipynb, cell 3, line 2`; without a name of the script `lines 12, 20-24`."""
        name = os.path.join(os.path.dirname(script), self.file) if self.file else script
        lines = f"line{'s' if len(self.lines) > 1 else ''} {ranges(self.lines)}"
        if self.cell:
            return f"{name + ', ' if name else ''}cell {self.cell}, {lines}"
        return f"{name}:{ranges(self.lines)}" if name else lines


def lines_to_look_at(report: Report, check: CheckResult) -> tuple[str, tuple[Spot, ...]]:
    """The lines of the converted files to look at for a failed check, and the reason for naming them.

    A file that is not what the tool writes is most likely wrong where it is not; else the lines are those that do
    what the check compares.
    """
    origin = report.origin
    if origin.edited:
        spots = tuple(spot for file, lines in origin.edited for spot in _spots(origin, file, lines))
        return "not as the tool writes it", spots
    wanted = set(_LINES.get(check.name, _TOWERS))
    named = (("" if number == 0 else file.name, _written_for(file, wanted)) for number, file in enumerate(origin.files))
    spots = tuple(spot for file, lines in named for spot in _spots(origin, file, lines))
    return ("written for it", spots) if spots else ("", ())


def where_to_look(spots: Iterable[Spot], script: str = "") -> str:
    """The places of some lines in words."""
    return "; ".join(spot.said(script) for spot in spots)


def _spots(origin: ConversionOrigin, file: str, lines: Sequence[int]) -> Iterator[Spot]:
    """Lines of one file, by the cells that they are in."""
    if file or not origin.cells:
        if lines:
            yield Spot(file, 0, tuple(lines), tuple(lines))
        return
    placed = [(*origin.cells[line - 1], line) for line in lines if line <= len(origin.cells)]
    for cell, group in groupby((one for one in placed if one[0]), lambda one: one[0]):
        found = list(group)
        yield Spot("", cell, tuple(line for _, line, _ in found), tuple(row for _, _, row in found))


def _written_for(script: Changed, wanted: set[str]) -> tuple[int, ...]:
    """The lines of a converted file, below its helpers, that come from some of these rules."""
    stretches = side_by_side(script.before, script.after, script.trace)
    rows = [row for stretch in stretches for row in stretch.rows if row.right and wanted.intersection(row.codes)]
    lines = script.after.splitlines()
    first = lines.index(_HELPERS_END) + 1 if _HELPERS_END in lines else 0
    found = [row.right for row in rows if row.right and row.right > first and "".join(t for t, _ in row.after).strip()]
    return tuple(sorted(set(found)))


def ranges(numbers: Sequence[int]) -> str:
    """`12, 20-24`."""
    return ", ".join(_ranges(numbers))


def _ranges(numbers: Iterable[int]) -> Iterable[str]:
    for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in group]
        yield f"{run[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}"
