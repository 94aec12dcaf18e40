"""Concatenated batches are combined with an input that has one row for each example."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.reasons import Why
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.region.inputs import uncut_values

CODES = ("TMG215",)


@check(Selected)
def stacked_batches(case: Selected) -> Iterator[Diagnostic]:
    """Several batches stacked on top of each other that meet an input with one row for each example."""
    yield from uncut_values(
        case.facts,
        case.steps,
        "TMG215",
        {
            Why.CONFLICT: "feed a separate input for each of the batches",
            Why.PIECES: "feed a separate input for each of the pieces",
        },
    )
