"""Which training steps share a loop."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, takewhile

from converter.analysis.facts import Facts, TrainStep, behind_losses
from converter.analysis.flow.joined import choices
from converter.analysis.values import Input, Origin, Sides, Tensor
from converter.dataclass import dataclass
from converter.planner.outcome import Refused, Reread
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.batch_values import depends_on_batch
from converter.planner.region.continued import in_several_blocks, region_of
from converter.planner.region.executions import StepGroup, in_one_loop, kept_inside, never_in_one_loop
from converter.planner.region.inputs import batch_inputs, batches_behind, met_inputs
from converter.planner.region.region import Model, Region, loss_model
from converter.planner.steps import executions
from converter.planner.wording import finding
from converter.planner.writing.findings import line_seen_from


@dataclass(frozen=True)
class Placing:
    """How loops are placed.

    handing: whether statements of the towers may make placeholders. once: whether any loss may be computed once from
    merged results. chained: whether each tower's loss is computed in a loop of its own where that can be done.
    met: whether batches are cut, too, that only other values of the towers need.
    """

    handing: bool = False
    once: bool = False
    chained: bool = False
    met: bool = False


def grouped(
    facts: Facts, steps: Sequence[TrainStep], sizes: frozenset[Origin], how: Placing
) -> tuple[StepGroup, ...] | Refused | Reread:
    """The training steps by their loops; where a flag chooses among models with inputs of their own, one for each.

    A call that is executed for several losses which the same towers build takes a step for each of them.
    """

    def model(part: Sequence[TrainStep], staying: frozenset[ast.stmt] = frozenset()) -> Model | Refused:
        beside = met_inputs(facts, part) if how.met else ()
        made = loss_model(facts, part, (*batch_inputs(part), *beside), sizes, how.handing)
        return replace(made, staying=staying) if isinstance(made, Model) else made

    def place(part: Sequence[TrainStep], staying: frozenset[ast.stmt] = frozenset()) -> Region | Refused | Reread:
        return region_of(model(part, staying), how.once, how.chained)

    found = _groups(facts, list(steps), place)
    if isinstance(found, Refused) and (alternatives := _in_place_of(facts, steps)):
        several = _of_each(facts, alternatives, model, how.once, how.chained)
        found = found if isinstance(several, Refused) else several
    if not isinstance(found, (Refused, Reread)) and (more := _executed_again(facts, found)):
        return _groups(facts, [*steps, *more], place)
    if not isinstance(found, (Refused, Reread)):
        return found
    apart = [
        replace(step, loss=loss, chosen=loss is not step.loss)
        for step in steps
        for loss in choices(step.loss)
        if loss.batch.kind != "free"
    ]
    if len(apart) == len(steps) or not all(batches_behind([step]) for step in apart):
        return found
    by_choice = _groups(facts, apart, place)
    return found if isinstance(by_choice, (Refused, Reread)) else by_choice


def _of_each(
    facts: Facts,
    steps: list[TrainStep],
    model: Callable[..., Model | Refused],
    once: bool,
    chained: bool,
) -> tuple[StepGroup, ...] | Refused | Reread:
    """The loops of models of which a run builds one, whose last parts the same statements build."""
    chains: dict[int, tuple[Region, ...]] = {}
    for step in steps:
        chain = chains[step.result.uid] = in_several_blocks(model([step]))
        if not chain:
            made = region_of(model([step]), once, chained) if step is not steps[0] else None
            return made if isinstance(made, Reread) else Refused(())
        if any(never_in_one_loop(chain[-1], other[-1]) for other in chains.values() if other is not chain):
            return Refused(())

    def place(part: Sequence[TrainStep], staying: frozenset[ast.stmt] = frozenset()) -> Region | Refused | Reread:
        taken = {step.result.uid for step in part}
        beside = [one[:-1] for uid, one in chains.items() if uid not in taken]
        return region_of(model(part, staying), once, chained, beside)

    return _groups(facts, steps, place)


def _in_place_of(facts: Facts, steps: Sequence[TrainStep]) -> list[TrainStep]:
    """Steps, and those that the same calls take in place of them for models of other classes; none without such."""
    found = {_methods(step): step for step in steps}
    pairs = ((one, two) for one in steps for two in executions(facts, steps) if one.call is two.call)
    beside = [two for one, two in pairs if one.site.excludes(two.site)]
    for step in beside:
        found.setdefault(_methods(step), step)
    return [*steps, *(step for step in found.values() if step not in steps)] if beside else []


def _methods(step: TrainStep) -> tuple[ast.AST, ...]:
    """The statements of methods that lead to a step, innermost first, up to what calls the first of them."""
    around = takewhile(lambda site: site.frame.owner is not None, step.site.chain())
    return tuple(site.stmt for site in around)


def _executed_again(facts: Facts, groups: Sequence[StepGroup]) -> list[TrainStep]:
    """Steps for other losses of the same towers, taken by the same calls: of a list of losses, filled before the first.

    Each loss is made in the block of the towers, or by a function that this block calls for each of them.
    Losses that are made between the steps belong to a model that is built and trained once in each turn of a loop.
    """
    found: dict[int, TrainStep] = {}
    for group in groups:
        known = {step.loss.uid for step in group.steps}
        for call in {step.call for step in group.steps}:
            block = group.region.block
            steps = [s for s in facts.train_steps if s.call is call and block.statement(s.loss.site) is not None]
            first = min((step.time for step in steps), default=0)
            if all(step.loss.time < first for step in steps):
                found.update({s.loss.uid: s for s in steps if s.loss.uid not in known and depends_on_batch(s.loss)})
    return sorted(found.values(), key=lambda step: step.time)


def _groups(
    facts: Facts, steps: list[TrainStep], place: Callable[..., Region | Refused | Reread]
) -> tuple[StepGroup, ...] | Refused | Reread:
    """Training steps that share inputs, or random batches, share a loop; independent models get loops of their own.

    Where no loop holds models that share nothing but inputs, each has its own, too.
    place: what finds the region of some steps; it may be told which statements their towers have to keep.
    """

    def share_batches(part: list[TrainStep], step: TrainStep) -> bool:
        return bool(batches_behind([step]) & batches_behind(part)) and not _is_another_model(facts, part, step)

    parts: list[list[TrainStep]] = []
    apart: list[list[TrainStep]] = []
    for step in steps:
        parts, apart = _with_step(parts, step, share_batches), _with_step(apart, step, _share_results)
    made = _placed(facts, steps, parts, place)
    if isinstance(made, Refused) and len(apart) > len(parts):
        each = _placed(facts, steps, apart, place)
        return made if isinstance(each, Refused) else each
    return made


def _with_step(
    parts: list[list[TrainStep]], step: TrainStep, are_joined: Callable[[list[TrainStep], TrainStep], bool]
) -> list[list[TrainStep]]:
    """The parts with one more step, which joins all of those that it belongs to."""
    joined = [part for part in parts if are_joined(part, step)]
    return [p for p in parts if p not in joined] + [[s for p in joined for s in p] + [step]]


def _share_results(steps: Sequence[TrainStep], later: TrainStep) -> bool:
    """True if losses are computed from a common result of a batch, and not only from common inputs."""
    shared = (value for uid, value in behind_losses(steps).items() if uid in later.behind and depends_on_batch(value))
    return any(isinstance(value, Tensor) and not isinstance(value, Input) for value in shared)


def _placed(
    facts: Facts,
    steps: list[TrainStep],
    parts: Sequence[list[TrainStep]],
    place: Callable[..., Region | Refused | Reread],
) -> tuple[StepGroup, ...] | Refused | Reread:
    """The loops of these parts of the steps, or one loop for all steps; else why there is none for the first part."""
    found: list[StepGroup] = []
    for part in parts:
        region = place(part)
        if not isinstance(region, Region):
            return region if len(parts) == 1 else _of_all(steps, place, region)
        found.append(StepGroup(part, region))
    if len(found) == 1 or _are_disjoint(tuple(group.region for group in found)):
        return tuple(found)
    if shared := _by_loop(found) or _by_loop(_with_all_kept(found, place)):
        return shared
    return _of_all(steps, place, _of_twins(facts, found))


def _of_all(
    steps: list[TrainStep], place: Callable[..., Region | Refused | Reread], otherwise: Refused | Reread | None
) -> tuple[StepGroup, ...] | Refused | Reread:
    """One loop for all steps; otherwise: why some of them have none by themselves, to be told if there is none."""
    region = place(steps)
    if isinstance(region, Region):
        return (StepGroup(steps, region),)
    return otherwise if isinstance(region, Refused) and isinstance(otherwise, Refused) else region


def _of_twins(facts: Facts, found: Sequence[StepGroup]) -> Refused | None:
    """The refusal of two models that the same statements build, each of which would have its loop there; else None."""
    twice = _built_alike(found)
    if twice is None:
        return None
    first, second = (step.call for step in twice)
    return Refused((finding(facts, second, PlanFault.BUILT_ALIKE, line=line_seen_from(facts, second, first)),))


def _with_all_kept(groups: Sequence[StepGroup], place: Callable[..., Region | Refused | Reread]) -> list[StepGroup]:
    """The groups again, where each one's towers keep what those of any of them keep of a block that is opened."""
    kept = kept_inside([group.region for group in groups])
    regions = [place(group.steps, kept) for group in groups] if kept else []
    return [StepGroup(g.steps, r) for g, r in zip(groups, regions, strict=False) if isinstance(r, Region)]


def _by_loop(groups: Sequence[StepGroup]) -> tuple[StepGroup, ...]:
    """One group for each loop, which serves all executions of its block; none where they would have other loops."""
    bodies = {id(group.region.block.body): group.region.block.body for group in groups}
    alike = [[group for group in groups if group.region.block.body is body] for body in bodies.values()]
    shared = [in_one_loop(several) if len(several) > 1 else several[0] for several in alike]
    made = tuple(group for group in shared if group is not None)
    loops = tuple(region for group in made for region in (*group.region.ahead, group.region))
    return made if len(made) == len(bodies) < len(groups) and _are_disjoint(loops) else ()


def _built_alike(groups: Sequence[StepGroup]) -> tuple[TrainStep, TrainStep] | None:
    """Steps of two models that the same statements build, one after the other: each would have its loop there."""
    for one, two in combinations(groups, 2):
        if one.region.block.body is two.region.block.body and one.region.block.frame is not two.region.block.frame:
            return one.steps[0], two.steps[0]
    return None


def _is_another_model(facts: Facts, steps: list[TrainStep], later: TrainStep) -> bool:
    """True if a model shares only inputs with others, and is built once these were trained, or in place of them."""
    trained = {step.result.uid for step in steps}
    built = later.behind
    before = any(run.time < later.loss.time and run.computes(trained) for run in facts.runs)
    shared = (v for uid, v in behind_losses(steps).items() if uid in built and depends_on_batch(v))
    return (before or _in_other_branches(steps, later)) and not any(isinstance(value, Tensor) for value in shared)


def _in_other_branches(steps: list[TrainStep], later: TrainStep) -> bool:
    """True if a condition chooses between building and training a model, and others."""
    mine = _branches(later)
    return bool(mine) and all(
        any(mine[at] != side for at, side in _branches(step).items() if at in mine) for step in steps
    )


def _branches(step: TrainStep) -> Sides:
    """The conditions that a loss and its training step both stand under, by their frames, and on which side."""
    built = step.loss.site.sides() if step.loss.site is not None else {}
    return {at: side for at, side in step.site.sides().items() if built.get(at) is side}


def _are_disjoint(regions: tuple[Region, ...]) -> bool:
    """True if no loop overlaps or contains another."""
    spans = [(id(r.block.body), min((*r.before, *r.tower)), max((*r.after, *r.tower))) for r in regions]
    ordered = sorted(spans)
    inside = any(one[0] == two[0] and one[2] >= two[1] for one, two in pairwise(ordered))
    nested = any(r is not q and q.in_tower(r.block.frame.call_site) for r in regions for q in regions)
    return not inside and not nested
