"""Data that lies in the graph without a placeholder: arrays, lists and constants with a row for each example."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from converter.analysis.arrays.shapes import Shape, rows_from, shape_of
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, GraphOperand, Key
from converter.analysis.tensors.spreading import CONSTANT, dims_of, spreads
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    Batch,
    Host,
    Input,
    Sequence,
    Tensor,
    Value,
    Variable,
    needed,
    tensors_in,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

DATA = "data"  # the op of an Input that is no placeholder

STATISTICS = (EffectKind.BATCH_NORM, EffectKind.BATCH_NORM_SCOPE, EffectKind.BATCH_STATISTICS)  # effects

# By which arguments data enters an operation of the graph.
FIRST = ("0", "value", "x", "input", "inputs", "tensor", "features", "input_tensor")
PAIR = ("0", "1", "a", "b", "x", "y", "labels", "logits", "targets", "predictions")
SECOND = ("1", "ids")


@cache
def data_arguments(name: str) -> tuple[str, ...]:
    """The arguments of an operation by which data enters the graph, by their positions and names."""
    if has(name, Trait.DATA_FIRST):
        return FIRST
    if has(name, Trait.DATA_PAIR):
        return PAIR
    return SECOND if has(name, Trait.DATA_SECOND) else ()


def data_axis(value: Value) -> int | None:
    """The axis of the examples of an array or a list: the first, of a single row the second; None without any."""
    if isinstance(value, Host) and not value.roots and value.call != "run":
        shape = shape_of(value)
        if not shape or shape[0] != 1:
            return 0 if shape else None
        return 1 if len(shape) == 2 and shape[1] != 1 else None
    if isinstance(value, Sequence) and value.elements and not any(tensors_in(value)):
        shape = shape_of(value)
        return 0 if shape and shape[0] != 1 else None
    return None


def enter(
    walk: Walk,
    value: Value,
    key: Key,
    meets: Value | None = None,
    columns: bool = False,
    summed: int | None = None,
) -> Value:
    """A value as it goes into an operation of the graph: data that the towers share is an input there."""
    if meets is not None and isinstance(value, (Host, Sequence, Tensor)):
        walk.facts.beside.append(GraphOperand(key, value, meets, summed=summed))
    if data_axis(value) is None:
        return value
    walk.facts.data.append(GraphOperand(key, value, meets, columns and len(shape_of(value) or ()) == 2, summed))
    axis = walk.facts.data_axes.get(key)
    return value if axis is None else _cut(walk, value, axis)


def _cut(walk: Walk, value: Value, axis: int) -> Tensor:
    """Data as a tensor of one shard: an input, or a row by row result of inputs if the expression stands right here."""
    bound = any(a.value is value and (a.write or a.place.kind != "item") for a in walk.facts.accesses)
    sources = rows_from(value) if isinstance(value, Host) and not bound else []
    arrays = [v for v in sources if shape_of(v) != ()]
    if arrays and all(data_axis(v) is not None and _lengths(v, axis) == _lengths(value, axis) for v in arrays):
        parts = [_cut(walk, v, axis) if v in arrays else v for v in sources]
        walk.facts.by_row.update(_nodes(value))
        return Tensor(Batch("example", axis), parts, _open(value, axis), CONSTANT)
    if value.uid not in walk.facts.cut:
        made = _input(value, axis)
        made.site, made.time, made.label = value.site, value.time, value.label
        made.node = getattr(value, "node", None)
        walk.facts.cut[value.uid] = made
        walk.facts.inputs.append(made)
    return walk.facts.cut[value.uid]


def _lengths(value: Value, axis: int) -> tuple[int, int | None] | None:
    """The axis of the examples of an array, and its length."""
    shape = shape_of(value)
    return None if shape is None or axis >= len(shape) else (axis, shape[axis])


def _nodes(value: Value) -> set[ast.AST]:
    """The expressions that compute an array: its own, and the method that is called."""
    hosts = [v for v in (value, *value.inputs[:1]) if isinstance(v, Host)]
    return {host.node for host in hosts if host.node is not None}


def _input(value: Value, axis: int) -> Input:
    made = Input(DATA, _open(value, axis), None, "")
    made.shard(axis)
    return made


def _open(value: Value, axis: int) -> Shape:
    """A shape in which the number of examples is open."""
    shape = shape_of(value)
    return None if shape is None else tuple(None if i == axis else length for i, length in enumerate(shape))


def data_constant(walk: Walk, value: Value | None, node: ast.Call) -> Tensor | None:
    """The result of `tf.constant` or `tf.cast` on data that is cut; None for any other value.

    If a statement binds the result to a name, the tensor is cut, as it is built only once; otherwise the data is.
    """
    if value is None or data_axis(value) is None:
        return None
    key = (node, "value")
    walk.facts.data.append(GraphOperand(key, value))
    axis = walk.facts.data_axes.get(key)
    if axis is None:
        return None
    stmt = walk.site.stmt if walk.site is not None else None
    if isinstance(stmt, ast.Assign) and node in (stmt.value, *getattr(stmt.value, "elts", ())):
        return _input(value, axis)
    cut = _cut(walk, value, axis)
    return Tensor(cut.batch, (cut,), cut.lengths, CONSTANT)


def used_by_python(walk: Walk, values: Iterable[Value], node: ast.AST) -> None:
    """Notes that Python code reads data; among the statements of the model it would see a shard."""
    if walk.facts.data_axes:
        for value in values:
            if isinstance(value, (Host, Sequence)):
                walk.effect(EffectKind.READ_BY_PYTHON, "", value, node)


def data_entries(facts: Facts) -> dict[Key, int]:
    """The operations by which the examples of the training steps enter the graph without a placeholder, and their axes.

    If no input with a batch axis leads to a loss, the data behind the loss are the examples. If one does, data that
    meets its examples and has a row for each of them is cut with it; other data stays whole.
    """
    losses = [step.loss for step in facts.train_steps]
    if not losses or not facts.data:
        return {}
    behind = _behind(losses)
    alone = all(loss.batch.kind == "free" for loss in losses)
    columns = {e.value.uid for e in facts.data if e.columns}
    return {
        e.key: 1 if e.value.uid in columns else data_axis(e.value) or 0
        for e in facts.data
        if e.value.uid in behind and (alone or any(_has_rows_of(e.value, met) for met in _met(facts, e)))
    }


def summed_axis(data_is_left: bool, other_is_transposed: bool) -> int:
    """The axis of the other matrix that a product sums over, counted from the end: its rows for data on the left."""
    return -2 if data_is_left != other_is_transposed else -1


def _keeps_examples_apart(entry: GraphOperand) -> bool:
    """True if a product of matrices leaves each example of the other operand its own row or column.

    Then the data is a matrix that all examples are multiplied with, and its length says nothing about theirs.
    """
    meets = entry.meets
    if entry.summed is None or not isinstance(meets, Tensor) or meets.rank is None or meets.batch.kind != "example":
        return False
    axis = meets.batch.axis - meets.rank
    return axis in (-1, -2) and axis != entry.summed


def _met(facts: Facts, entry: GraphOperand) -> list[GraphOperand]:
    """The data, or constants made of it, as the operations take it that have another operand."""
    if entry.meets is not None:
        return [entry]
    return [e for e in facts.beside if isinstance(e.value, Tensor) and e.value.node is entry.key[0]]


def _has_rows_of(value: Value, met: GraphOperand) -> bool:
    """True if data must be as long as the batch that it is combined with: TensorFlow accepts no other length but 1."""
    shape, meets = shape_of(value), met.meets
    if not isinstance(meets, Tensor) or meets.batch.kind != "example" or meets.batch.packed or shape is None:
        return False
    if _keeps_examples_apart(met):
        return False
    axis = meets.batch.axis
    return meets.rank == len(shape) and (shape[axis] or 0) > 1 and data_axis(value) == axis


def _behind(losses: Iterable[Tensor]) -> dict[int, Value]:
    """All values that losses are computed from, except the initial values of variables."""
    found: dict[int, Value] = {}
    todo: list[Value] = list(losses)
    while todo:
        value = todo.pop()
        if value.uid not in found:
            found[value.uid] = value
            if not isinstance(value, (Variable, Input)):
                todo += [*value.inputs, *value.parts()]
    return found


def why_uncut(facts: Facts, data: Mapping[Key, int]) -> str:
    """Why the data in the graph cannot be cut, "" if it can: the losses are means or sums over the examples.

    facts: of a walk in which `data` was read as inputs.
    """
    rows = [(shape_of(e.value) or ())[data[e.key]] for e in facts.data if e.key in data]
    lengths = sorted({length for length in rows if length is not None})
    if len(lengths) > 1:
        return f"they have {' and '.join(map(str, lengths))} rows"
    if any(effect.kind in STATISTICS for effect in facts.effects):
        return "a layer normalises with statistics of all rows"
    for value in _behind(step.loss for step in facts.train_steps).values():
        if isinstance(value, Tensor) and not isinstance(value, (Variable, Input)) and (why := _why_not(value)):
            return why
    free = any(step.loss.batch.kind == "free" for step in facts.train_steps)
    return "they do not go into the loss of each of the training steps" if free else ""


def _why_not(tensor: Tensor) -> str:
    """Why a tensor behind a loss would have another value for the shards of the data."""
    batch = tensor.batch
    unknown = next((v for v in tensor.inputs if isinstance(v, Host) and shape_of(v) is None), None)
    if unknown is not None:
        return f"{unknown.label or unknown.call or 'a value'} goes into the loss, too, and may be a batch"
    if batch.kind == "opaque" or (batch.kind == "reduced" and batch.how == "other"):
        return batch.reason or "a number is computed from all rows that is neither a mean nor a sum"
    behind = [v.batch for v in tensor.inputs if isinstance(v, Tensor)]
    if any(b.kind == "example" and b.axis for b in behind) and not has(tensor.op, Trait.ANY_AXIS):
        return f"there is an example in each column, and what {tensor.op} makes of columns is not known"
    return ""


def operands_beside(facts: Facts, losses: Iterable[Tensor]) -> Iterator[GraphOperand]:
    """Operands other than inputs that meet the examples behind losses, and may have a row for each example."""
    behind = _behind(losses)
    for entry in facts.beside:
        value, meets = entry.value, entry.meets
        if not isinstance(meets, Tensor) or meets.batch.kind != "example" or meets.uid not in behind:
            continue
        if _keeps_examples_apart(entry):
            continue
        if isinstance(value, Tensor):
            made = value.batch.kind == "free" and not any(isinstance(v, Variable) for v in needed([value]).values())
            dims = dims_of(value, value) if made and value.op == CONSTANT else ()
        else:
            dims = () if getattr(value, "roots", None) or any(tensors_in(value)) else shape_of(value)
        if not spreads(dims, meets):
            yield entry
