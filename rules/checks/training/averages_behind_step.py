"""An optimizer keeps moving averages of the variables, behind its own update."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.traits import Trait, has
from converter.analysis.values import Typed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG238",)


@check(Placed)
def averages_behind_step(case: Placed) -> Iterator[Diagnostic]:
    """Optimizers that average variables which another device holds."""
    if case.options.variables == "gpu:0":
        return
    made = {id(step.optimizer): step.optimizer for step in case.steps}
    for optimizer in made.values():
        if isinstance(optimizer, Typed) and optimizer.node and has(_last(optimizer.name), Trait.AVERAGES_BEHIND_STEP):
            yield finding(case.facts, optimizer.node, "TMG238")


def _last(name: str) -> str:
    return name.rpartition(".")[2]
