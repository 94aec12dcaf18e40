"""Layers that would be computed once for the whole batch, outside of the towers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.facts import TrainStep, behind_losses
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Tensor, Value, Variable, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.layers import SHARE, layers_in
from converter.planner.region.region import Region
from converter.planner.wording import finding

CODES = ("TMG258",)


@check(Placed)
def layers_outside_of_towers(case: Placed) -> Iterator[Diagnostic]:
    """Refuse if the towers contain less than nine tenths of the layers between inputs and losses.

    Only operations that compute with weights count: what prepares a batch (casts, one_hot, a look-up in a table) may
    be computed once for all towers.
    """
    layers = layers_in(case.facts, _behind(case.steps, case.regions))
    outside = [t for t in layers if not _in_towers(t, case.steps, case.regions)]
    inside = len(layers) - len(outside)
    if inside >= SHARE * len(layers):
        return
    first = min(outside, key=lambda t: t.time)
    yield finding(case.facts, first.node or case.steps[0].call, "TMG258 outside", number=len(layers), inside=inside)


@check(Placed)
def model_of_no_batch(case: Placed) -> Iterator[Diagnostic]:
    """Towers that only look up what products of weights give once for all examples, as a graph convolution does."""
    behind = list(behind_losses(case.steps).values())
    if layers_in(case.facts, behind):
        return
    looked_up = [v for t in behind if isinstance(t, Tensor) and t.batch.kind == "example" for v in t.inputs]
    products = [
        t
        for t in needed(v for v in looked_up if isinstance(v, Tensor) and v.batch.kind == "free").values()
        if isinstance(t, Tensor)
        and t.batch.kind == "free"
        and has(t.op, Trait.ANY_PRODUCT)
        and not _in_towers(t, case.steps, case.regions)
        and any(isinstance(v, Variable) for v in needed([t]).values())
    ]
    if products:
        yield finding(
            case.facts,
            min(products, key=lambda t: t.time).node or case.steps[0].call,
            "TMG258 no_batch",
            number=len(products),
        )


def _behind(steps: Iterable[TrainStep], regions: Iterable[Region]) -> list[Value]:
    """All that losses are computed from, and what computes the inputs of the towers."""
    found = dict(behind_losses(steps))
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
