"""Moving averages that the model makes of its tensors are used after it."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Tensor, Value, needed, tensors_in
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.region import Region
from converter.planner.wording import finding

CODES = ("TMG226",)


@check(Placed)
def moving_averages(case: Placed) -> Iterator[Diagnostic]:
    """Moving averages that the model keeps and the script uses after it: only the first tower updates them."""
    facts, regions = case.facts, case.regions
    applied = [e for e in facts.effects_of(EffectKind.AVERAGE) if any(r.in_any_tower(e.site) for r in regions)]
    if not applied:
        return
    for name in (e for e in facts.effects_of(EffectKind.GRAPH_NAME) if isinstance(e.value, Input)):
        if any(e.node is name.node for e in applied):
            yield finding(facts, name.node, "TMG226 tracks_an_input")
    for effect in facts.effects:
        if effect.kind in (EffectKind.AVERAGE, EffectKind.AVERAGE_READ) and _meets(effect, applied, regions):
            yield finding(facts, effect.node, "TMG226 asked_for_after")
    yield from (
        finding(facts, tensor.node or facts.tree, "TMG226 waits") for region in regions for tensor in _lost(region)
    )


def _meets(effect: Effect, applied: list[Effect], regions: tuple[Region, ...]) -> bool:
    """Whether something outside the towers is asked of an object whose averages they have made."""
    if any(r.in_any_tower(effect.site) for r in regions):
        return False
    return any(e.value is effect.value and e.time < effect.time for e in applied)


def _lost(region: Region) -> Iterator[Tensor]:
    """Updates that are run after the model, and that the last tower would leave to the first one."""
    for access in region.reads_after:
        yield from (t for t in tensors_in(access.value) if region.in_tower(t.site) and _is_lost(t))


def _is_lost(tensor: Tensor) -> bool:
    """Whether an operation of the last tower updates no average, because the first tower's does."""
    if tensor.op == "ema" or tensor.batch.kind != "free":
        return False
    if has(tensor.op, Trait.PASSES_UPDATES):
        return any(_is_lost(t) for value in tensor.inputs for t in tensors_in(value)) or _updates(tensor.control)
    return ((tensor.op == "join" or has(tensor.op, Trait.CHOICE)) and _updates(tensor.inputs)) or (
        tensor.op == "no_op" and _updates(tensor.control)
    )


def _updates(values: tuple[Value, ...]) -> bool:
    return any(isinstance(v, Tensor) and v.op == "ema" for v in needed(values).values())
