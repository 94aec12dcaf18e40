"""A number of steps is divided by the batch size."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.batch_size.intervals import divided_steps
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG387",)


@check(Placed)
def steps_by_batch_size(case: Placed) -> Iterator[Diagnostic]:
    """Ratios of a number of steps and a batch size that grows."""
    if case.options.batch != "per-gpu":
        return
    for node in divided_steps(case.facts, case.regions, case.steps, case.size.scaled):
        yield finding(case.facts, node, "TMG387")
