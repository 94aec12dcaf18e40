"""--scale-lr asks for a larger learning rate, and the script's is not seen."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.learning_rate import rates_not_seen
from converter.planner.wording import finding

CODES = ("TMG256",)


@check(Placed)
def rate_not_seen(case: Placed) -> Iterator[Diagnostic]:
    """Refuse --scale-lr where an optimizer's learning rate cannot be scaled."""
    if case.options.scale_lr == "none":
        return
    for node in rates_not_seen(case.facts, case.steps):
        yield finding(case.facts, node, "TMG256")
