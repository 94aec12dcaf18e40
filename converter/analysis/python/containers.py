"""The items of lists, dicts, shapes and of a pipeline's batches."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from converter.analysis.frames import Place
from converter.analysis.python.joins import join
from converter.analysis.tensors import moving, shaping
from converter.analysis.values import (
    LISTED,
    Constant,
    Host,
    Input,
    Mapping,
    Number,
    Sequence,
    ShapeOf,
    Tensor,
    Typed,
    Value,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def item_place(holder: Value, key: Value) -> Place:
    """The place of an item of a container, by the key's value or else by its identity: with a "?" in front."""
    if isinstance(key, Number) and key.value is None:
        return Place("item", holder.uid, "?", holder=holder)
    known = repr(getattr(key, "value", key.uid))
    return Place("item", holder.uid, known if hasattr(key, "value") else f"?{known}", holder=holder)


def entry_of(walk: Walk, batch: Input, key: str, node: ast.AST) -> Input:
    """A component of a batch that came in as a dict; it is there from when the batch is."""
    if key not in batch.entries:
        made = batch.entries[key] = batch.another()
        made.site, made.time, made.node, made.scopes = batch.site, batch.time, batch.node, batch.scopes
        walk.facts.tensors.append(made)
        walk.facts.inputs.append(made)
    walk.read(item_place(batch, Constant(key)), batch.entries[key], node)
    return batch.entries[key]


def known_item(walk: Walk, holder: Value, key: Value, node: ast.AST) -> Value | None:
    """The value of `holder[key]` for a list, a dict or a shape; None for any other holder."""
    if isinstance(holder, Mapping):
        return holder.get(key) or any_of([v for _, v in holder.pairs], (holder, key))
    if isinstance(holder, ShapeOf):
        cut = node.slice if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
        return shaping.dimension(holder, key) if cut is None else _dimensions(walk, holder, cut, key)
    if isinstance(holder, Sequence):
        note_position(walk, holder)
        if holder.many:
            if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)):
                return any_of(holder.elements[:1], (holder, key))
            part = Sequence(holder.elements, holder.mutable, many=True)
            part.inputs = (*part.inputs, holder, key)
            return part
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return _slice_of(walk, holder, node.slice)
        if (
            isinstance(key, Number)
            and isinstance(key.value, int)
            and -len(holder.elements) <= key.value < len(holder.elements)
        ):
            return holder.elements[key.value]
        return any_of(holder.elements, (holder, key))
    return None


def note_position(walk: Walk, holder: Value) -> None:
    """Notes that entries of a list of the graph's variables are told apart by the order in which these were made."""
    entries = holder.elements if isinstance(holder, Sequence) else []
    if any(isinstance(entry, Tensor) and entry.op == LISTED for entry in entries):
        walk.facts.told_by_position = True


def _dimensions(walk: Walk, shape: ShapeOf, cut: ast.Slice, key: Value) -> Value:
    """`x.get_shape()[1:]`: the entries of a shape; of an unknown one only the last is known to be one."""
    if shape.tensor.rank is not None:
        return _slice_of(walk, Sequence(iterate(shape, None)), cut)
    begin = walk.evaluate(cut.lower) if cut.lower is not None else None
    last = getattr(begin, "value", None) == -1 and cut.upper is None and cut.step is None
    return Sequence([shaping.dimension(shape, Number(-1))]) if last else Host((shape, key))


def any_of(candidates: list[Value], inputs: tuple[Value, ...]) -> Value:
    """One of several values, it is not known which; a value of Python where there are none."""
    if not candidates:
        return Host(inputs)
    value = candidates[0]
    for candidate in candidates[1:]:
        value = join(value, candidate)
    return value


def _slice_of(walk: Walk, holder: Sequence, node: ast.Slice) -> Value:
    bounds = []
    for part in (node.lower, node.upper, node.step):
        value = walk.evaluate(part) if part is not None else Constant(None)
        known = getattr(value, "value", None)
        if part is not None and not isinstance(known, int):
            result = Sequence(holder.elements, holder.mutable, many=bool(holder.elements))
            result.inputs = (*result.inputs, holder, value)
            return result
        bounds.append(known)
    return Sequence(holder.elements[slice(*bounds)], holder.mutable).like(holder)


def iterate(value: Value, length: int | None) -> list[Value]:
    """The values that unpacking or a loop gives, as many as are known to differ."""
    if isinstance(value, Sequence):
        return value.elements * (length or 2) if value.many and value.elements else list(value.elements)
    if isinstance(value, Mapping):
        return [key for key, _ in value.pairs]
    if isinstance(value, ShapeOf):
        rank = value.tensor.rank if value.tensor.rank is not None else length
        return [shaping.dimension(value, Number(i)) for i in range(rank or 1)]
    if isinstance(value, Input) and (value.op.endswith("get_next") or value.op.startswith("train.")):
        return [value.another() for _ in range(length or 2)]  # components of an iterator's or a queue's batch
    if isinstance(value, Tensor):
        parts = moving.unstacked(value)
        return [Tensor(parts.batch, (value,), parts.dims, "unstack") for _ in range(length or 2)]
    if isinstance(value, Host) and value.call == "run" and (several := _fetched(value)):
        rest = [v for v in value.inputs if v is not several]
        return [Host((*rest, fetch), "run", value.node) for fetch in several.elements]
    return [Host((value,), "item", getattr(value, "node", None)) for _ in range(length or 2)]


def _fetched(run: Host) -> Sequence | None:
    """The list that a run fetches; None if it fetches one value."""
    return next((v for v in run.inputs if isinstance(v, Sequence) and not v.many), None)


def flag_value(walk: Walk, holder: Typed, name: str, node: ast.AST) -> Number:
    """The value of a flag before the script sets it: an unknown number with an origin."""
    origin = walk.origin(node, "flag", name)
    return Number(None, frozenset((origin,)), frozenset((origin,)), (holder,))
