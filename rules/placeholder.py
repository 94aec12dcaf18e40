"""Placeholders: the batch that is fed is cut into shards, one for each tower."""

from __future__ import annotations

from converter.analysis import batch
from converter.analysis.signature import Call, Handler
from converter.analysis.values import Constant, Input, Number, Sequence, Symbol, Value


def _placeholder(call: Call) -> Value:
    shape = call.get(1, "shape")
    if isinstance(shape, Constant) and shape.value is None:
        shape = None
    return _input(call, shape, _dtype(call.get(0, "dtype")))


def _with_default(call: Call) -> Value:
    shape = call.get(1, "shape")
    default = call.tensor(0, "input")
    made = _input(call, shape, "float")
    if default.dims == ():
        made.ambiguous, made.dims = False, ()
        made.batch, made.roots = type(made.batch)(), frozenset()
    made.inputs = tuple(call.values())
    return made


def _input(call: Call, shape: Value | None, dtype: str) -> Input:
    walk = call.walk
    entries = batch.shape_entries(shape)
    made = Input(call.name, batch.dims_of(entries), shape, dtype)
    where = (call.node.lineno, call.node.col_offset)
    if where in walk.decisions:
        axis = walk.decisions[where]
        if axis is not None:
            made.shard(axis)
        return made
    axis = batch_axis(call, entries)
    if axis is not None:
        made.shard(axis)
        entry = (entries or [])[axis]
        if isinstance(entry, Number) and entry.linear:
            walk.facts.batch_sizes.append((entry, "the batch axis of a placeholder", call.node))
    elif entries is None and dtype != "bool":
        made.ambiguous = True  # a scalar or a batch: what is fed to it decides
    elif entries:
        made.ambiguous = True
    return made


def batch_axis(call: Call, entries: list[Value] | None) -> int | None:
    """Where a placeholder's batch is: at the batch size if it is written there, else at an unknown first dimension."""
    if not entries:
        return None
    named = batch.batch_entry(call.walk, entries)
    if named is not None:
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
    call.walk.effect("sparse placeholder", call.name, made, call.node)
    return made


def _iterator_next(call: Call) -> Value:
    """The batches of a tf.data pipeline."""
    receiver = call.receiver
    structure = receiver.state.get("structure") if receiver is not None and hasattr(receiver, "state") else None
    count = len(structure.elements) if isinstance(structure, Sequence) else 1
    parts = []
    for _ in range(count):
        made = Input("Iterator.get_next", None, None, "")
        made.shard(0)
        made.inputs = tuple(call.values())
        parts.append(made)
    return Sequence(parts) if count > 1 else parts[0]


CALLS: dict[str, Handler] = {
    "placeholder": _placeholder,
    "placeholder_with_default": _with_default,
    "sparse_placeholder": _sparse_placeholder,
    "Iterator.get_next": _iterator_next,
}
