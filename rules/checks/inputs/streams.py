"""Steps that take other pieces of the data than the original's: more rows of a series, batches that overlap."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.batch_size.overlapping import overlapping
from converter.planner.batch_size.streams import kept_places, streams
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG344",)


@check(Placed)
def cut_into_rows(case: Placed) -> Iterator[Diagnostic]:
    """Data whose rows are as many as a batch has, if the batch grows."""
    for node in streams(case.facts, case.size.scaled) if case.options.batch == "per-gpu" else ():
        yield finding(case.facts, node, "TMG344 cut_into_rows")


@check(Placed)
def followed_by_rows(case: Placed) -> Iterator[Diagnostic]:
    """Rows that each go on through a part of the data of their own, if the batch grows. Says so once."""
    nodes = kept_places(case.facts, case.size.scaled) if case.options.batch == "per-gpu" else ()
    for node in nodes:
        yield finding(case.facts, node, "TMG344 followed_by_rows")
        return


@check(Placed)
def taken_in_windows(case: Placed) -> Iterator[Diagnostic]:
    """Batches that do not begin where the one before ends, if the batch grows. Says so once."""
    if case.options.batch != "per-gpu":
        return
    for node in overlapping(case.facts, case.steps, case.size.scaled):
        yield finding(case.facts, node, "TMG344 taken_in_windows")
        return
