"""Which training steps share a loop."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.flow.joined import choices
from converter.analysis.values import Origin, Tensor, Value, needed
from converter.diagnostics import Refusal
from converter.planner.questions.batch_values import depends_on_batch
from converter.planner.questions.drawn_batches import drawn_in
from converter.planner.region.region import Region, batch_inputs, find_region


def grouped(
    facts: Facts, steps: list[TrainStep], sizes: frozenset[Origin]
) -> tuple[list[TrainStep], list[tuple[list[TrainStep], Region]]]:
    """The training steps and their loops; where a flag chooses among models with inputs of their own, one for each."""
    try:
        return steps, _groups(facts, steps, sizes)
    except Refusal as refusal:
        apart = [
            replace(step, loss=loss, chosen=loss is not step.loss)
            for step in steps for loss in choices(step.loss) if loss.batch.kind != "free"
        ]  # fmt: skip
        if len(apart) == len(steps):
            raise
        try:
            return apart, _groups(facts, apart, sizes)
        except Refusal:
            raise refusal from None


def _groups(facts: Facts, steps: list[TrainStep], sizes: frozenset[Origin]) -> list[tuple[list[TrainStep], Region]]:
    """Training steps that share inputs, or what is drawn, share a loop; models side by side have loops of their own."""
    parts: list[list[TrainStep]] = []
    for step in steps:
        mine = batches_behind(facts, [step])
        joined = [p for p in parts if mine & batches_behind(facts, p) and not _trained_before(facts, p, step)]
        parts = [p for p in parts if p not in joined] + [[s for p in joined for s in p] + [step]]
    try:
        found = [(p, find_region(facts, p, batch_inputs(facts, p), sizes)) for p in parts]
        if len(found) == 1 or _apart([region for _, region in found]):
            return found
    except Refusal:
        if len(parts) == 1:
            raise
    return [(steps, find_region(facts, steps, batch_inputs(facts, steps), sizes))]


def _trained_before(facts: Facts, steps: list[TrainStep], later: TrainStep) -> bool:
    """Whether models are trained before another is built, which has nothing in common with them but its inputs."""
    trained = {step.result.uid for step in steps}
    built = needed([later.loss])
    runs = [run for run in facts.runs if run.time < later.loss.time and run.computes(trained)]
    shared = (v for uid, v in needed(s.loss for s in steps).items() if uid in built and depends_on_batch(v))
    return bool(runs) and not any(isinstance(value, Tensor) for value in shared)


def _apart(regions: list[Region]) -> bool:
    """Whether loops do not reach into each other."""
    spans = [(id(r.block.body), min((*r.before, *r.tower)), max((*r.after, *r.tower))) for r in regions]
    ordered = sorted(spans)
    inside = any(one[0] == two[0] and one[2] >= two[1] for one, two in pairwise(ordered))
    nested = any(r is not q and q.in_tower(r.block.frame.call_site) for r in regions for q in regions)
    return not inside and not nested


def batches_behind(facts: Facts, steps: list[TrainStep]) -> set[Value]:
    """The inputs and the drawn batches behind the losses of training steps."""
    return {*batch_inputs(facts, steps), *drawn_in(needed(step.loss for step in steps))}
