"""Python functions inside the graph: what tf.py_func does to the batch is not seen in the graph."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG313",)


@check(Placed)
def host_functions(case: Placed) -> Iterator[Diagnostic]:
    """Functions of Python that the towers call with their shards."""
    for effect in case.facts.effects:
        if effect.kind is EffectKind.HOST_FUNCTION and any(region.in_any_tower(effect.site) for region in case.regions):
            yield finding(case.facts, effect.node, "TMG313", name=effect.name)
