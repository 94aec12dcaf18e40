"""Placeholders: the batch that is fed is cut into shards, one for each tower."""

from __future__ import annotations

from dataclasses import replace

from converter.analysis.call import Call, Handler
from converter.analysis.counts.size_names import named_batch_size
from converter.analysis.effects import EffectKind
from converter.analysis.python.containers import entry_of
from converter.analysis.reasons import Why
from converter.analysis.rows import table
from converter.analysis.tensors import shaping
from converter.analysis.tensors.algebra import is_batched
from converter.analysis.tensors.sparse import BATCHES, is_sparse
from converter.analysis.traits import Argument, Trait, has
from converter.analysis.values import (
    FREE,
    Constant,
    Host,
    Input,
    Mapping,
    Number,
    Sequence,
    ShapeOf,
    Symbol,
    Tensor,
    Typed,
    Value,
    needed,
    opaque,
)


def _placeholder(call: Call) -> Value:
    shape = call.get(1, "shape")
    if isinstance(shape, Constant) and shape.value is None:
        shape = None
    return _input(call, shape, _dtype(call.get(0, "dtype")))


def _with_default(call: Call) -> Value:
    shape = call.get(1, "shape")
    default = call.tensor(0, "input")
    whole = isinstance(given := call.get(0, "input"), Number) and isinstance(given.value, int)
    made = _input(call, shape, "int32" if whole else "float")
    if default.dims == ():
        made.ambiguous, made.lengths = False, ()
        made.batch, made.roots = type(made.batch)(), frozenset()
    elif default.dims is not None and default.dims[:1] == (1,) and made.batch.kind == "example":
        call.walk.effect(EffectKind.DEFAULT_OF_ONE_ROW, call.name, made, call.node)
    made.inputs = tuple(call.values())
    return made


def _input(call: Call, shape: Value | None, dtype: str) -> Input:
    walk = call.walk
    if isinstance(shape, ShapeOf):
        shape = _shape_of_batch(call, shape)
    entries = shaping.shape_entries(shape)
    made = Input(call.name, shaping.lengths_of(entries), shape, dtype)
    if entries is not None:
        made.leave_open(entries)
    first = shaping.first_entries(shape) if entries is None else entries
    axis = batch_axis(call, first)
    if axis is not None:
        made.shard(axis)
        entry = first[axis]
        if isinstance(entry, Number) and entry.factors():
            walk.facts.batch_sizes.append((entry, "the batch axis of a placeholder", call.node))
    elif entries is None and dtype != "bool":
        made.ambiguous = True  # a scalar or a batch: what is fed to it decides
    elif entries:
        made.ambiguous = True
    return made


def _shape_of_batch(call: Call, shape: ShapeOf) -> Value:
    """The shape of a batch as it would be written: `[batch_size, 8]` for `cell.zero_state(batch_size, dtype).shape`.

    Any other tensor's shape stays what it is.
    """
    tensor = shape.tensor
    if isinstance(tensor, Input) and isinstance(tensor.shape, Sequence):
        return tensor.shape
    if tensor.batch.kind != "example" or tensor.rank is None or tensor.roots:
        return shape
    made_with = (v for v in needed([tensor]).values() if isinstance(v, Number))
    sizes = {v.factors(): v for v in made_with if shaping.stands_for_batch(call.walk.facts, v)}
    if len(sizes) != 1:
        return shape
    (size,), rows = sizes.values(), tensor.batch.axis
    return Sequence([size if at == rows else shaping.dimension(shape, Number(at)) for at in range(tensor.rank)])


def batch_axis(call: Call, entries: list[Value] | None) -> int | None:
    """Where a placeholder's batch is: at the batch size if it is written there, else at an unknown first dimension.

    An attribute of an object that is not seen counts as the batch size by its name: `[hps.batch_size, None]`.
    """
    if not entries:
        return None
    named = shaping.batch_entry(call.walk.facts, entries)
    called = (at for at, entry in enumerate(entries) if isinstance(entry, Host) and named_batch_size([entry.call]))
    if named is not None or (named := next(called, None)) is not None:
        return named
    first = entries[0]
    unknown = isinstance(first, Constant) and first.value is None or getattr(first, "value", 0) == -1
    return 0 if unknown else None


def _dtype(value: Value | None) -> str:
    if isinstance(value, Symbol):
        return value.name
    return str(getattr(value, "value", "")) if value is not None else ""


def _sparse_placeholder(call: Call) -> Value:
    made = _input(call, call.get(1, "shape"), _dtype(call.get(0, "dtype")))
    call.walk.effect(EffectKind.SPARSE_PLACEHOLDER, call.name, made, call.node)
    return made


def _sparse(call: Call) -> Value:
    """A sparse tensor: one made of placeholders is a sparse placeholder itself, another is neither cut nor merged."""
    parts = [
        part for part in (call.get(0, "indices"), call.get(1, "values"), call.get(2, "dense_shape", "shape")) if part
    ]
    if len(parts) == len(list(filter(_is_fed, parts))) == 3:
        return _fed_in_parts(call, [part for part in parts if isinstance(part, Input)])
    batched = any(is_batched(v) for v in call.values())
    return Tensor(opaque(Why.SPARSE) if batched else FREE, parts if len(parts) == 3 else call.values(), None, call.name)


def _is_fed(part: Value) -> bool:
    return isinstance(part, Input) and has(part.op, Trait.PLACEHOLDER) and not has(part.op, Trait.HAS_DEFAULT)


def _fed_in_parts(call: Call, parts: list[Input]) -> Value:
    """The sparse placeholder that three placeholders make: itself is cut, none of them is."""
    made = _input(replace(call, name=SPARSE), None, parts[1].dtype)
    made.inputs = tuple(parts)
    for part in parts:
        part.batch, part.roots, part.ambiguous = FREE, frozenset(), False
    call.walk.effect(EffectKind.SPARSE_PLACEHOLDER, call.name, made, call.node)
    return made


def _iterator_next(call: Call) -> Value:
    """The batches of a tf.data pipeline."""
    receiver = call.receiver
    state = receiver.state if isinstance(receiver, Typed) else {}
    structure, shapes = state.get("structure"), state.get("shapes")
    made = _batches(call, structure, shapes, not isinstance(receiver, Typed) or "batched" in state)
    alone = isinstance(made, Sequence) and len(made.elements) == 1
    return made.elements[0] if alone and isinstance(made, Sequence) else made


def _batches(call: Call, structure: Value | None, shapes: Value | None, batched: bool) -> Value:
    """An input for each component of an iterator's output."""
    if isinstance(structure, Mapping):
        return Mapping([(key, _batches(call, part, None, batched)) for key, part in structure.pairs])
    if isinstance(structure, Sequence):
        parts, known = structure.elements, shapes.elements if isinstance(shapes, Sequence) else []
        each: list[Value | None] = [*known] if len(known) == len(parts) else [None] * len(parts)
        return Sequence([_batches(call, part, shape, batched) for part, shape in zip(parts, each, strict=True)])
    op = BATCHES if structure is not None and is_sparse(structure) else "Iterator.get_next"
    made = Input(op, shaping.lengths_of(shaping.shape_entries(shapes)), shapes, "")
    if batched and (axis := _axis_of_rows(structure)) is not None:
        made.shard(axis)
    made.ambiguous = not batched and isinstance(call.receiver, Typed) and "yields" in call.receiver.state
    made.inputs = tuple(call.values())
    return made


def _axis_of_rows(component: Value | None) -> int | None:
    """The axis of the examples in a component of batches: the first, unless the function of a `map` tells another.

    None for one that has no row for each example: a number that the function makes, or a mean of the batch.
    """
    if not isinstance(component, Tensor):
        return 0
    batch = component.batch
    alike = batch.kind == "reduced" or (batch.kind == "free" and component.rank == 0)
    return None if alike else batch.axis


def _entry(call: Call) -> Value:
    """`batch.get('x')`, `batch.pop('x')`: a component of a batch that came in as a dict."""
    key, batch = call.constant(0, ""), call.receiver
    if not isinstance(batch, Input) or not batch.op.endswith("get_next") or not isinstance(key, str):
        return call.gives(opaque(Why.UNKNOWN_CALL, call.name))
    if call.name.endswith("pop"):
        call.walk.effect(EffectKind.MUTATION, call.name, batch, call.node)
    return entry_of(call.walk, batch, key, call.node)


SPARSE = "sparse_placeholder"
POSITIONS: dict[Argument, dict[str, int]] = {Argument.NAME: {"placeholder": 2, "sparse_placeholder": 2}}

TRAITS: dict[Trait, str] = {
    Trait.PLACEHOLDER: "placeholder*",
    Trait.SPARSE_PLACEHOLDER: "sparse_placeholder sparse.placeholder",
    Trait.HAS_DEFAULT: "placeholder_with_default",
    Trait.NEXT_BATCH: "*get_next",
    Trait.ONLY_IN_V1: "placeholder Session InteractiveSession ConfigProto get_variable variable_scope layers contrib "
    "app flags global_variables_initializer trainable_variables get_default_graph",
    Trait.V1_MODULE: "compat.v1",
}

CALLS: dict[str, Handler] = table(
    ("Input.get Input.pop", _entry),
    ("placeholder", _placeholder),
    ("placeholder_with_default", _with_default),
    ("sparse_placeholder sparse.placeholder", _sparse_placeholder),
    ("SparseTensor SparseTensorValue", _sparse),
    ("Iterator.get_next data.Iterator.get_next", _iterator_next),
)
