"""Training steps that only search values for a trained model stay on one GPU."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.writing.findings import warn

CODES = ("TMG379",)


@check(Selected)
def stays_on_one_gpu(case: Selected) -> Iterator[Diagnostic]:
    """Steps that only search values for a trained model."""
    for step in case.searches:
        yield warn(
            case.facts,
            step.call,
            "TMG379",
            "the variables that this step trains have a row for each example: it stays on one GPU, outside of the "
            "towers, and takes the whole batch",
            "where this search takes the time, run it with the original script on one GPU",
        )
