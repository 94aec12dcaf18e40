"""Steps that take other pieces of the data than the original's: more rows of a series, batches that overlap."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from converter.diagnostics import Diagnostic
from converter.planner.batch_size.overlapping import behind_stop, moved_back, overlapping
from converter.planner.batch_size.sorted_buffers import sorted_buffers
from converter.planner.batch_size.streams import kept_places, streams
from converter.planner.cases import Placed
from converter.planner.checking import check, each
from converter.planner.wording import finding

CODES = ("TMG344",)


@check(Placed, batch="per-gpu")
def taken_behind_stop(case: Placed) -> Iterator[Diagnostic]:
    """Batches of a loop over a part of the data that may take rows behind it."""
    runs = case.facts.runs_of(case.steps)
    for node, stop in islice(behind_stop(case.facts, runs, case.size.scaled, case.options.num_gpus or 2), 1):
        yield finding(case.facts, node, "TMG344 taken_behind_stop", stop=stop)


def _first_place(case: Placed) -> Iterator[ast.AST]:
    """Where rows each go on through a part of the data of their own."""
    return islice(kept_places(case.facts, case.size.scaled), 1)


def _first_window(case: Placed) -> Iterator[ast.AST]:
    """Where batches do not begin at the end of the one before."""
    return islice(overlapping(case.facts, case.steps, case.size.scaled), 1)


def _first_moved_back(case: Placed) -> Iterator[ast.AST]:
    """Where the last batch takes rows of the one before, to be whole."""
    return islice(moved_back(case.facts, case.steps, case.size.scaled), 1)


cut = each(Placed, "TMG344 cut_into_rows", lambda case: streams(case.facts, case.size.scaled), batch="per-gpu")
followed = each(Placed, "TMG344 followed_by_rows", _first_place, batch="per-gpu")
collected = each(
    Placed,
    "TMG344 sorted_in_buffer",
    lambda case: dict.fromkeys(sorted_buffers(case.facts, case.size.scaled)),
    batch="per-gpu",
)
taken = each(Placed, "TMG344 taken_in_windows", _first_window, batch="per-gpu")
whole = each(Placed, "TMG344 moved_back", _first_moved_back, batch="per-gpu")
