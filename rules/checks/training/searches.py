"""Training steps that only search values for a trained model stay on one GPU."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG379",)


@check(Selected)
def stays_on_one_gpu(case: Selected) -> Iterator[Diagnostic]:
    """Steps that only search values for a trained model."""
    for step in case.searches:
        yield finding(case.facts, step.call, "TMG379")
