"""Moving averages that the model makes of its tensors: the first tower keeps them, and what that cannot express."""

from __future__ import annotations

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Tensor, Value, needed, tensors_in
from converter.diagnostics import Refusal
from converter.planner.region.region import Region
from converter.planner.writing.findings import refuse


def check_averages(facts: Facts, regions: list[Region]) -> None:
    """Refuses moving averages of a model that are used after it in a way that only the last tower would answer."""
    applied = [e for e in facts.effects_of(EffectKind.AVERAGE) if any(r.in_any_tower(e.site) for r in regions)]
    if not applied:
        return
    for name in (e for e in facts.effects_of(EffectKind.GRAPH_NAME) if isinstance(e.value, Input)):
        if any(e.node is name.node for e in applied):
            raise refuse(facts, name.node, "TMG226", "this moving average is named after the batch, which towers cut",
                         "average a tensor that the model computes")  # fmt: skip
    for effect in facts.effects:
        if effect.kind in (EffectKind.AVERAGE, EffectKind.AVERAGE_READ) and _meets(effect, applied, regions):
            raise refuse(facts, effect.node, "TMG226",
                         "moving averages that the model made of its tensors are asked for after it",
                         "keep what .average() gives in the model under a name, and use that")  # fmt: skip
    for region in regions:
        _check_updates(facts, region)


def _meets(effect: Effect, applied: list[Effect], regions: list[Region]) -> bool:
    """Whether something outside the towers is asked of an object whose averages they have made."""
    if any(r.in_any_tower(effect.site) for r in regions):
        return False
    return any(e.value is effect.value and e.time < effect.time for e in applied)


def _check_updates(facts: Facts, region: Region) -> None:
    """Updates that are run after the model must be the first tower's own: other towers only stand beside them."""
    for access in facts.accesses:
        if access.write or not region.comes_after(access):
            continue
        for tensor in tensors_in(access.value):
            if region.in_tower(tensor.site) and _is_lost(tensor):
                raise _lost(facts, tensor)


def _lost(facts: Facts, tensor: Tensor) -> Refusal:
    return refuse(facts, tensor.node or facts.tree, "TMG226",
                  "this makes the update of moving averages wait or depend on a condition, and is run after the model",
                  "return what .apply() gives from the model, and add the condition after the loss")  # fmt: skip


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
