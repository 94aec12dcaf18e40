"""Losses that are not a mean over the examples: computed once, after the towers, from their merged results."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Input, Instance, Origin, Tensor, Value, needed
from converter.diagnostics import Refusal
from converter.planner.questions.batch_values import counts_examples, depends_on_batch
from converter.planner.region.block import Block
from converter.planner.region.layers import layers_in
from converter.planner.region.named_calls import Apart, expressions_apart
from converter.planner.region.region import Region, around_inputs, innermost_block, settled
from converter.planner.writing.findings import refuse


def global_region(
    facts: Facts, steps: Sequence[TrainStep], inputs: tuple[Input, ...], sizes: frozenset[Origin]
) -> Region:
    """The region whose towers compute one result for each example, with the losses behind them.

    Raises:
        Apart: a statement computes results of the towers and the loss from them; its calls need lines of their own.
        Refusal: the losses are not computed from results for each example, or these not in one place.
    """
    values = needed(step.loss for step in steps)
    batched = [v for v in values.values() if depends_on_batch(v) and v.site is not None]
    _check_followed(facts, steps, batched)
    early = early_values(values)
    block = innermost_block(facts, batched, [step.loss for step in steps], ended=False)
    while True:
        late = {block.statement(v.site) for v in batched if v.uid not in early}
        layers = layers_in(facts, (v for v in batched if v.uid in early))
        mixed = {i for v in layers if (i := block.statement(v.site)) is not None and i in late}
        if not mixed:
            break
        block = _inside(facts, block, batched, layers, mixed, early)
    made = [v for v in batched if v.uid in early]
    tower = {i for v in made if (i := block.statement(v.site)) is not None and i not in late}
    block, tower = around_inputs(facts, block, tower, made, values)
    work = {i for v in layers if (i := block.statement(v.site)) is not None}
    if not work or not work <= tower:
        raise _no_place(facts, steps)
    region = Region(
        block, frozenset(), frozenset(tower), frozenset(), inputs, values, 0, 0, frozenset(), {}, {},
        forward=True, exact=True,
    )  # fmt: skip
    return settled(region, made, steps, sizes)


def early_values(values: dict[int, Value]) -> set[int]:
    """The values behind a loss that a tower computes of its own examples as one GPU does of all: one for each example.

    A number of examples, or the number of a row, is another one in a tower: what is computed from it comes later.
    """
    users: dict[int, list[Value]] = {}
    for value in values.values():
        for part in (*value.inputs, *value.parts()) if not isinstance(value, (Input, Instance)) else ():
            users.setdefault(part.uid, []).append(value)
    todo = [v for v in values.values() if not _is_early(v)]
    late: set[int] = set()
    while todo:
        value = todo.pop()
        if value.uid not in late:
            late.add(value.uid)
            todo += users.get(value.uid, ())
    return {uid for uid in values if uid not in late}


def _is_early(value: Value) -> bool:
    if isinstance(value, Input) or not isinstance(value, Tensor):
        return True
    if value.op == "range":
        return False
    if value.batch.kind == "free":
        return not counts_examples(value)
    return value.batch.kind == "example" and value.batch.packed != "minor"


def _inside(
    facts: Facts, block: Block, batched: list[Value], layers: list[Tensor], mixed: set[int], early: set[int]
) -> Block:
    """The block inside of a statement that builds the model and the loss; calls in it that are the model are named."""
    apart = expressions_apart(facts, block, layers, mixed, early)
    if apart:
        raise Apart(apart)
    work = {block.statement(v.site) for v in layers}
    index = next(iter(mixed))
    repeated = isinstance(block.body[index], (ast.For, ast.AsyncFor, ast.While, ast.Try))
    inside = [v for v in batched if block.statement(v.site) == index]
    inner = innermost_block(facts, inside, [], ended=False)
    if repeated or len(work) > 1 or inner.body is block.body:
        raise _no_place(facts, [])
    return inner


def _check_followed(facts: Facts, steps: Sequence[TrainStep], batched: Iterable[Value]) -> None:
    """What a call that is not followed computes may be the model, which must not be computed on one device."""
    unfollowed = set(facts.unfollowed)
    for value in batched:
        unknown = isinstance(value, Tensor) and value.batch.kind == "opaque" and _may_be_model(value.op)
        if unknown or (isinstance(value, Host) and value.node in unfollowed):
            raise _no_place(facts, steps)


def _may_be_model(op: str) -> bool:
    return has(op, Trait.LAYER) and "losses." not in op


def _no_place(facts: Facts, steps: Sequence[TrainStep]) -> Refusal:
    return refuse(facts, steps[0].call if steps else facts.tree, "TMG302",
                  "the loss is not computed from results for each example that are made in one place",
                  "make these results, and then the loss, in statements of their own")  # fmt: skip
