"""Steps that take other pieces of the data than the original's: more rows of a series, batches that overlap."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.batch_size.overlapping import overlapping
from converter.planner.batch_size.streams import kept_places, streams
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn

CODES = ("TMG344",)


@check(Placed)
def cut_into_rows(case: Placed) -> Iterator[Diagnostic]:
    """Data whose rows are as many as a batch has, if the batch grows."""
    for node in streams(case.facts, case.size.scaled) if case.options.batch == "per-gpu" else ():
        yield warn(
            case.facts,
            node,
            "TMG344",
            "the data is cut into as many rows as a batch has, and a larger batch has more and shorter ones: steps "
            "take pieces from other places than the original's",
            "cut the data into pieces first and take batches of these, if their order matters",
        )


@check(Placed)
def followed_by_rows(case: Placed) -> Iterator[Diagnostic]:
    """Rows that each go on through a part of the data of their own, if the batch grows. Says so once."""
    nodes = kept_places(case.facts, case.size.scaled) if case.options.batch == "per-gpu" else ()
    for node in nodes:
        yield warn(
            case.facts,
            node,
            "TMG344",
            "each row of the batches goes on from a place of its own: a larger batch goes through more parts of the "
            "data side by side, and its steps take other rows than the original's batches together",
            "use --batch total, with which the towers share the original's rows",
        )
        return


@check(Placed)
def taken_in_windows(case: Placed) -> Iterator[Diagnostic]:
    """Batches that do not begin where the one before ends, if the batch grows. Says so once."""
    if case.options.batch != "per-gpu":
        return
    for node in overlapping(case.facts, case.steps, case.size.scaled):
        yield warn(
            case.facts,
            node,
            "TMG344",
            "batches begin here at numbers that do not go on by the batch size: the larger batch takes other rows than "
            "the original's batches together",
            "let the loop go on by the batch size, or take windows of a fixed length and batches of these",
        )
        return
