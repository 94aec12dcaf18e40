"""Python functions inside the graph: what tf.py_func does to the batch is not seen in the graph."""

from __future__ import annotations

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect
from converter.planner.cases import Placed
from converter.planner.checking import of_effects

CODES = ("TMG313",)


def _in_towers(case: Placed, effect: Effect) -> bool:
    return any(region.in_any_tower(effect.site) for region in case.regions)


host_functions = of_effects(Placed, "TMG313", EffectKind.HOST_FUNCTION, _in_towers)
