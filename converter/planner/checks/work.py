"""How much of a model the towers compute: layers that are left outside of them run once, on one device."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Tensor, Value, needed
from converter.planner.region.layers import SHARE, layers_in
from converter.planner.region.region import Region
from converter.planner.writing.findings import refuse


def check_work(facts: Facts, steps: Sequence[TrainStep], regions: Sequence[Region]) -> None:
    """Refuses a conversion whose towers hold less than nine tenths of the layers that a batch goes through.

    Only operations that compute with weights count: what prepares a batch (casts, one_hot, a look-up in a table) may
    be computed once for all towers.
    """
    layers = layers_in(facts, _behind(steps, regions))
    outside = [t for t in layers if not _in_towers(t, steps, regions)]
    if len(layers) - len(outside) >= SHARE * len(layers):
        return
    first = min(outside, key=lambda t: t.time)
    inside = len(layers) - len(outside)
    raise refuse(facts, first.node or steps[0].call, "TMG258",
                 f"this layer would be computed once for the whole batch, on one device: of {len(layers)} layers "
                 f"between the inputs and the loss, {inside} would be in the towers",
                 "make all inputs before the model, in statements of their own")  # fmt: skip


def _behind(steps: Iterable[TrainStep], regions: Iterable[Region]) -> list[Value]:
    """All that losses are computed from, and what computes the inputs of the towers."""
    found = needed(step.loss for step in steps)
    todo = [i for region in regions for i in region.inputs]
    while todo:
        more = needed(todo.pop().inputs)
        todo += [v for uid, v in more.items() if isinstance(v, Input) and uid not in found]
        found.update(more)
    return list(found.values())


def _in_towers(tensor: Tensor, steps: Iterable[TrainStep], regions: Iterable[Region]) -> bool:
    if any(region.in_tower(tensor.site) or tensor.node in region.inline for region in regions):
        return True
    if any(region.exact for region in regions):
        # a margin or a temperature of the loss, which reads nothing of a batch but its merged results
        return has(tensor.op, Trait.ADDS) or has(tensor.op, Trait.SCALES)
    stmts: set[ast.stmt] = {step.site.stmt for step in steps}
    return tensor.site is not None and any(site.stmt in stmts for site in tensor.site.chain())
