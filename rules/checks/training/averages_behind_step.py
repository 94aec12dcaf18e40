"""An optimizer keeps moving averages of the variables, behind its own update."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.questions.averaged_variables import averaging
from converter.planner.wording import finding

CODES = ("TMG238",)


@check(Placed)
def averages_behind_step(case: Placed) -> Iterator[Diagnostic]:
    """Optimizers that average variables which another device holds."""
    if case.options.variables == "gpu:0":
        return
    for node in averaging(case.steps):
        yield finding(case.facts, node, "TMG238")
