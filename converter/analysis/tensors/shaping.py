"""Shapes: their entries as numbers, the batch size among them, and the batch axis after a reshape."""

from __future__ import annotations

from math import prod
from typing import TypeGuard

from converter.analysis.arrays.shapes import shape_of
from converter.analysis.facts import Facts
from converter.analysis.reasons import Why
from converter.analysis.tensors.algebra import Dims
from converter.analysis.tensors.size_names import named_batch
from converter.analysis.values import (
    FED,
    Batch,
    Count,
    Host,
    Number,
    Sequence,
    ShapeOf,
    Tensor,
    Value,
    needed,
    opaque,
    other,
)


def dimension(shape: ShapeOf, key: Value) -> Value:
    """`tf.shape(x)[i]` and `x.get_shape()[i]`."""
    tensor = shape.tensor
    index = getattr(key, "value", None)
    if not isinstance(index, int):
        return Host((shape, key))
    if index < 0 and tensor.rank is not None:
        index += tensor.rank
    if tensor.batch.kind == "example" and index == tensor.batch.axis:
        return Count(tensor, (shape,)) if not tensor.batch.packed else Host((shape,))
    value = tensor.dims[index] if tensor.dims is not None and 0 <= index < len(tensor.dims) else None
    size = Number(value, inputs=(shape,))
    size.roots = frozenset()  # that of each example: no number of them goes into it
    return size


def shape_entries(value: Value | None) -> list[Value] | None:
    """The entries of a shape argument, None where it is not known."""
    if isinstance(value, Sequence) and not value.many:
        return value.elements
    if isinstance(value, ShapeOf):
        rank = value.tensor.rank
        if rank is None:
            return [dimension(value, Number(0))] if value.tensor.batch.axis == 0 else None
        return [dimension(value, Number(i)) for i in range(rank)]
    if isinstance(value, (Number, Count)) or (isinstance(value, Host) and shape_of(value) == ()):
        return [value]
    if isinstance(value, Tensor) and value.op == "stack":
        inner = [v for v in value.inputs if isinstance(v, Sequence)]
        return inner[0].elements if inner else None
    return None


def first_entries(value: Value | None) -> list[Value]:
    """The entries that a shape of unknown length begins with: those of the list in `[None] + list(space.shape)`."""
    if isinstance(value, Host) and value.call == "add":
        left, right = value.inputs
        known = shape_entries(left)
        if known is None:
            return first_entries(left)
        return known or first_entries(right)
    if isinstance(value, Host) and value.call in ("list", "tuple", "builtins.list", "builtins.tuple") and value.inputs:
        return first_entries(value.inputs[0])
    if isinstance(value, Sequence) and len(value.elements) > 1:  # [None, *space.shape]
        return value.elements[:1]
    return []


def dims_of(entries: list[Value] | None) -> Dims:
    """A static shape from the entries of a shape argument; None for unknown dimensions."""
    if entries is None:
        return None
    return tuple(
        int(v) if isinstance(v := getattr(e, "value", None), (int, float)) and v >= 0 else None for e in entries
    )


def element_count(tensor: Tensor) -> int | None:
    """Elements of one example, where known."""
    if tensor.dims is None or tensor.batch.packed:
        return None
    rest = [d for i, d in enumerate(tensor.dims) if i != tensor.batch.axis]
    return prod(d for d in rest if d is not None) if None not in rest else None


def reshape(facts: Facts, tensor: Tensor, shape: Value | None) -> Tensor:
    """tf.reshape: follows the batch axis where it stays in front."""
    entries = shape_entries(shape)
    inputs = (tensor,) if shape is None else (tensor, shape)
    dims = dims_of(entries)
    if tensor.batch.kind != "example":
        return Tensor(tensor.batch, inputs, dims, "reshape")
    if entries is None:
        return Tensor(opaque(Why.UNWRITTEN_SHAPE), inputs, None, "reshape")
    if not entries:
        return Tensor(other(Why.TO_SCALAR), inputs, (), "reshape")
    if tensor.batch.axis != 0:
        return _reshape_behind(tensor, entries, inputs, dims)
    first = entries[0]
    if isinstance(first, Count) or stands_for_batch(facts, first):
        rest = (None, *dims[1:]) if dims else None
        times = (
            first.scaled if isinstance(first, Count) else len(first.origins) > 1 if isinstance(first, Number) else False
        )
        if tensor.batch.packed == "minor" and times:
            return Tensor(_of_whole_batches(tensor, entries, dims), inputs, rest, "reshape")
        if tensor.batch.outer is not None:
            return Tensor(opaque(Why.JOINED), inputs, dims, "reshape")
        return Tensor(Batch("example", 0, "major" if times else ""), inputs, rest, "reshape")
    if isinstance(first, Host) and not first.roots and any(getattr(e, "value", None) == -1 for e in entries[1:]):
        return Tensor(opaque(Why.UNSIZED), inputs, dims, "reshape")
    if isinstance(first, Number) and first.value == -1 or isinstance(first, (Host, Tensor)):
        packed = tensor.batch.packed
        if _joins_examples(tensor, dims) or _joins_rows(tensor, entries):
            return Tensor(opaque(Why.JOINED), inputs, dims, "reshape")
        if _cuts_examples(tensor, dims):
            return Tensor(opaque(Why.CUT_OR_JOINED), inputs, dims, "reshape")
        rest = (None, *dims[1:]) if dims else None
        if packed == "minor":
            return Tensor(_of_whole_batches(tensor, entries, dims), inputs, rest, "reshape")
        packed = "" if _same_rows(tensor, dims) else "major"
        return Tensor(Batch("example", 0, packed), inputs, rest, "reshape")
    if isinstance(first, Number) and first.value == 1 and len(entries) == 1:
        return Tensor(opaque(Why.TO_ONE_ELEMENT), inputs, dims, "reshape")
    return Tensor(opaque(Why.BATCH_NOT_IN_FRONT), inputs, dims, "reshape")


def _of_whole_batches(tensor: Tensor, entries: list[Value], dims: Dims) -> Batch:
    """The batch of [-1, …] where whole batches lie behind each other: each stays in its place, as one alone would."""
    batch = tensor.batch
    one = Tensor(Batch("example", 0, batch.within), tensor.inputs, tensor.dims, tensor.op)
    if batch.outer is None or _joins_examples(one, dims) or _joins_rows(one, entries) or _cuts_examples(one, dims):
        return Batch("example", 0, "minor")
    return Batch("example", 0, "minor", batch.outer, "" if _same_rows(one, dims) else "major")


def stands_for_batch(facts: Facts, entry: Value) -> bool:
    """A number in front of a shape that a placeholder's batch axis has too, or that is named as one."""
    if not isinstance(entry, Number) or not _follows_batch(facts, entry):
        return False
    facts.counted.append(entry)
    return True


def is_fraction(facts: Facts, entry: Value) -> bool:
    """A part of the batch size, such as `batch_size // 2` or `tf.shape(x)[0] // 2`, that is not itself called one."""
    if isinstance(entry, Count):
        return entry.scaled
    if not isinstance(entry, Number) or not _follows_batch(facts, entry):
        return False
    behind = [v for v in needed([entry]).values() if isinstance(v, Number)]
    whole = [v.value for v in behind if not v.inputs and v.value is not None and v.linear & entry.linear]
    smaller = any(v.op == "divide" for v in behind)
    if whole and entry.value is not None:
        smaller = entry.value < min(whole)
    called = (a.place.key for a in facts.accesses if a.write and a.value is entry)
    return smaller and not any(named_batch((str(key),)) for key in called)


def _follows_batch(facts: Facts, entry: Number) -> bool:
    """Whether a number is a multiple of a batch size, by a placeholder's shape or by its name."""
    if len(entry.linear) == 0:
        return False
    if any(o.key[0] == FED for o in entry.linear):
        return True
    known = facts.keys_of_sizes() if facts.inputs else ()
    return any(o.key in known or named_batch(facts.origin_names.get(o.key, ())) for o in entry.linear)


def batch_entry(facts: Facts, entries: list[Value] | None) -> int | None:
    """The position of the batch size in a shape, None where it is not there."""
    for place, entry in enumerate(entries or ()):
        if isinstance(entry, Count) or stands_for_batch(facts, entry):
            return place
    return None


def _cuts_examples(tensor: Tensor, dims: Dims) -> bool:
    """Whether the rows of [-1, …] do not lie within one example each."""
    count = element_count(tensor)
    if count is None or dims is None or None in dims[1:] or 0 in dims[1:]:
        return False
    return count % prod(d for d in dims[1:] if d is not None) != 0


def _joins_examples(tensor: Tensor, dims: Dims) -> bool:
    """Whether each row of [-1, …] holds several of the rows there were, of one for each example."""
    count = element_count(tensor)
    if not count or dims is None or None in dims[1:]:
        return False
    row = prod(d for d in dims[1:] if d is not None)
    return row > count and row % count == 0


def _joins_rows(tensor: Tensor, entries: list[Value]) -> bool:
    """Whether [-1, 3, size] joins three rows of a layer that has `size` units, whatever number that is."""
    *middle, size = entries[1:] or [entries[0]]
    lengths = [e.value for e in middle if isinstance(e, Number)]
    several = len(lengths) == len(middle) > 0 and None not in lengths and prod(n for n in lengths if n) > 1
    if not several or tensor.batch.packed or not _is_unknown(size):
        return False
    layer: Tensor | None = tensor
    while layer is not None and not (units := [v for v in layer.inputs if _is_unknown(v)]):
        before = [v for v in layer.inputs if isinstance(v, Tensor) and v.roots]
        layer = before[0] if len(before) == 1 and before[0].rank == tensor.rank == 2 else None
    return layer is not None and any(n.linear == size.linear for n in units if _is_plain(n)) and _is_plain(size)


def _is_unknown(value: Value) -> TypeGuard[Number]:
    return isinstance(value, Number) and value.value is None and not value.chosen and len(value.linear) == 1


def _is_plain(number: Number) -> bool:
    """Whether a number is not computed from others."""
    return not any(isinstance(v, Number) for v in number.inputs)


def _same_rows(tensor: Tensor, dims: Dims) -> bool:
    """Whether [-1, …] has as many rows as there are examples."""
    count = element_count(tensor)
    if dims is None:
        return False
    rest = dims[1:]
    if count is not None and None not in rest:
        return prod(d for d in rest if d is not None) == count
    if count is None and tensor.rank is None and not tensor.batch.packed:
        return len(rest) > 1  # an unknown tensor brought to [-1, height, width, …]
    return False


def _reshape_behind(tensor: Tensor, entries: list[Value], inputs: tuple[Value, ...], dims: Dims) -> Tensor:
    if len(entries) == 2 and getattr(entries[0], "value", None) == -1 or len(entries) == 1:
        outer = tensor.dims[0] if tensor.dims and tensor.batch.axis == 1 else None
        return Tensor(Batch("example", 0, "minor", outer), inputs, (None, *dims[1:]) if dims else None, "reshape")
    return Tensor(opaque(Why.RESHAPED_BEHIND), inputs, dims, "reshape")
