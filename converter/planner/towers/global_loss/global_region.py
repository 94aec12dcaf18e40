"""Losses that are not a mean over the examples: computed once, after the towers, from their merged results."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from converter.analysis.facts import Facts, TrainStep, behind_losses
from converter.analysis.tensors.places import RANGES
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Input, Instance, Origin, Tensor, Value, closure
from converter.planner.outcome import Refused, Reread
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.batch_values import counts_examples, depends_on_batch
from converter.planner.region.block import Block
from converter.planner.region.layers import layers_in
from converter.planner.region.region import Model, Region, around_inputs, innermost_block, settled
from converter.planner.towers.global_loss.named_calls import CallsOnOwnLines, expressions_apart
from converter.planner.wording import finding


def global_region(
    facts: Facts, steps: Sequence[TrainStep], inputs: tuple[Input, ...], sizes: frozenset[Origin]
) -> Region | Refused | Reread | CallsOnOwnLines:
    """The region whose towers compute one result for each example, with the losses behind them.

    CallsOnOwnLines where one statement computes results of the towers and, from them, the loss.
    """
    values = behind_losses(steps)
    batched = [v for v in values.values() if depends_on_batch(v) and v.site is not None]
    early = early_values(values)
    block = innermost_block(facts, batched, [step.loss for step in steps], ended=False)
    if block is None or not _is_followed(facts, batched):
        return _no_place(facts, steps)
    while True:
        late = {block.statement(v.site) for v in batched if v.uid not in early}
        layers = layers_in(facts, (v for v in batched if v.uid in early))
        mixed = {i for v in layers if (i := block.statement(v.site)) is not None and i in late}
        if not mixed:
            break
        apart = expressions_apart(facts, block, layers, mixed, early)
        if apart:
            return CallsOnOwnLines(tuple(apart))
        inner = _inside(facts, block, batched, layers, mixed)
        if inner is None:
            return _no_place(facts, steps)
        block = inner
    made = [v for v in batched if v.uid in early]
    model = Model(facts, steps, inputs, values, made, sizes=sizes)
    tower = {i for v in made if (i := block.statement(v.site)) is not None and i not in late}
    around = around_inputs(model, block, tower)
    if isinstance(around, (Refused, Reread)):
        return around
    block, tower = around
    work = {i for v in layers if (i := block.statement(v.site)) is not None}
    return settled(model, block, tower, True, exact=True) if work and work <= tower else _no_place(facts, steps)


def early_values(values: Mapping[int, Value]) -> set[int]:
    """Values with a row for each example that a tower can compute for its own examples exactly as one GPU does for all.

    Values that depend on the number of examples, or on row numbers, differ in a tower and are computed after the loop.
    """
    users: dict[int, list[Value]] = {}
    for value in values.values():
        for part in (*value.inputs, *value.parts()) if not isinstance(value, (Input, Instance)) else ():
            users.setdefault(part.uid, []).append(value)
    first = (v for v in values.values() if not _is_early(v))
    late = {value.uid for value in closure(first, lambda value: users.get(value.uid, ()))}
    return {uid for uid in values if uid not in late}


def _is_early(value: Value) -> bool:
    if isinstance(value, Input) or not isinstance(value, Tensor):
        return True
    if value.op in RANGES:
        return False
    if value.batch.kind == "free":
        return not counts_examples(value)
    return value.batch.kind == "example" and value.batch.packed != "minor"


def _inside(facts: Facts, block: Block, batched: list[Value], layers: list[Tensor], mixed: set[int]) -> Block | None:
    """The block inside of a statement that builds the model and the loss; None where that is not one place."""
    work = {block.statement(v.site) for v in layers}
    index = next(iter(mixed))
    repeated = isinstance(block.body[index], (ast.For, ast.AsyncFor, ast.While, ast.Try))
    inner = innermost_block(facts, [v for v in batched if block.statement(v.site) == index], [], ended=False)
    return None if repeated or len(work) > 1 or inner is None or inner.body is block.body else inner


def _is_followed(facts: Facts, batched: Iterable[Value]) -> bool:
    """True if all calls are followed: a call that is not may build the model, which must not stay on one device."""
    unfollowed = set(facts.unfollowed)
    return not any(
        (isinstance(value, Tensor) and value.batch.kind == "opaque" and _may_be_model(value.op))
        or (isinstance(value, Host) and value.node in unfollowed)
        for value in batched
    )


def _may_be_model(op: str) -> bool:
    return has(op, Trait.LAYER) and not has(op, Trait.LOSS)


def _no_place(facts: Facts, steps: Sequence[TrainStep]) -> Refused:
    return Refused((finding(facts, steps[0].call, PlanFault.LOSS_NOT_FROM_RESULTS),))
