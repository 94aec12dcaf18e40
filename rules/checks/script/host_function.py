"""Python functions inside the graph: what tf.py_func does to the batch is not seen in the graph."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.mapped import by_python
from converter.planner.cases import Placed
from converter.planner.checking import check, of_effects
from converter.planner.wording import finding

CODES = ("TMG313",)


def _in_towers(case: Placed, effect: Effect) -> bool:
    return any(region.in_any_tower(effect.site) for region in case.regions)


host_functions = of_effects(Placed, "TMG313 in_towers", EffectKind.HOST_FUNCTION, _in_towers)


@check(Placed, batch="per-gpu")
def of_batches(case: Placed) -> Iterator[Diagnostic]:
    """Python functions to which a data set gives whole batches, which are those of all GPUs now."""
    for value in by_python(case.facts, case.size.scaled):
        yield finding(case.facts, value.node or case.steps[0].call, "TMG313 of_batches", name=value.op)
