"""Batches that are prepared before the model reads them: the loop begins after their preparation."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Set

from converter.analysis.effects import VARIABLES, EffectKind
from converter.analysis.facts import Decisions, Facts
from converter.analysis.tensors.masking import is_count
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Tensor, Value, Variable, closure, needed, tensors_in
from converter.planner.region.block import Block

MODEL = {*VARIABLES, EffectKind.BATCH_NORM}  # effects of what belongs into the towers


def prepared_batches(block: Block, indexes: Set[int], values: Mapping[int, Value]) -> Decisions:
    """The results of statements that make inputs or preprocess them; empty if they build a model too.

    A pipeline that reads, reshapes and encodes examples, or looks them up in a table, may do so once for the whole
    batch.
    """
    made = (e for e in block.effects_in(indexes) if e.kind in MODEL)
    if any(not isinstance(e.value, Variable) for e in made):
        return {}  # a layer
    inside = [v for v in values.values() if isinstance(v, Tensor) and block.statement(v.site) in indexes]
    if any(t.batch.kind not in ("example", "free") for t in inside):
        return {}  # a mean of the batch would be one of all towers' examples
    weighed = (t for t in inside if any(map(_is_weight, t.inputs)))
    if any(t.batch.kind == "example" and not has(t.op, Trait.LOOKS_UP) for t in weighed):
        return {}
    found: dict[ast.AST, int | None] = {}
    for tensor in _leaving(block, indexes, values):
        if isinstance(tensor, Input) or tensor.batch.kind == "free":
            continue
        rows = tensor.batch.kind == "example" and not tensor.batch.packed and tensor.batch.over is None
        if not rows or tensor.node is None:
            return {}
        elsewhere = (v for v in values.values() if isinstance(v, Tensor) and v.node is tensor.node)
        if any(block.statement(v.site) not in indexes for v in elsewhere):
            return {}  # in a function that the model calls too
        if found.setdefault(tensor.node, tensor.batch.axis) != tensor.batch.axis:
            return {}  # branches join batches in rows with batches in columns
    return found


def lengths_of(facts: Facts, block: Block, lengths: Value) -> Decisions:
    """Sequence lengths that a separate statement of the block computes from the inputs; empty for others.

    Counted once for the whole batch and cut with it, they tell the towers how long the longest of all is.
    """
    if not isinstance(lengths, Tensor) or isinstance(lengths, Input) or lengths.node is None or lengths.site is None:
        return {}
    rows = lengths.batch.kind == "example" and lengths.batch.axis == 0 and not lengths.batch.packed
    stmt = lengths.site.stmt
    alone = isinstance(stmt, ast.Assign) and stmt.value is lengths.node and stmt in block.body
    once = all(v is lengths or v.node is not lengths.node for v in facts.tensors)
    if rows and is_count(lengths) and alone and once:
        return {lengths.node: 0}
    return lengths_of(facts, block, inner) if (inner := uncast(lengths)) is not lengths else {}


def uncast(value: Value) -> Value:
    """The value before casts to another type, as decoders do with lengths."""
    while isinstance(value, Tensor) and has(value.op, Trait.CASTS) and isinstance(value.inputs[0], Tensor):
        value = value.inputs[0]
    return value


def _is_weight(value: Value) -> bool:
    """Whether a value is a variable, or made of variables and no example."""
    free = isinstance(value, Tensor) and value.batch.kind == "free"
    return free and any(isinstance(v, Variable) for v in needed([value]).values())


def prepares(block: Block, index: int, values: Mapping[int, Value]) -> bool:
    """True if the loss uses values that a statement computes from inputs that it makes itself."""
    return any(not isinstance(t, Input) and t.batch.kind != "free" for t in _leaving(block, {index}, values))


def _leaving(block: Block, indexes: Set[int], values: Mapping[int, Value]) -> list[Tensor]:
    """The tensors of some statements that the loss takes from them."""
    inside = {uid for uid, value in values.items() if block.statement(value.site) in indexes}
    outside = (value for uid, value in values.items() if uid not in inside)
    crossing = {i.uid: i for value in outside for i in (*value.inputs, *value.parts()) if i.uid in inside}
    return [t for value in crossing.values() for t in tensors_in(value)]


def upstream(inputs: Iterable[Input]) -> tuple[Input, ...]:
    """Inputs, and those that they are prepared from, in the order in which the script makes them."""
    found = closure(inputs, lambda value: (v for v in needed(value.inputs).values() if isinstance(v, Input)))
    return tuple(sorted((v for v in found if isinstance(v, Input)), key=lambda value: value.uid))
