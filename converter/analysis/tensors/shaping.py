"""Shapes: their entries as numbers, the batch size among them, and the batch axis after a reshape."""

from __future__ import annotations

from math import prod

from converter.analysis.arrays.shapes import shape_of
from converter.analysis.counts.size_names import named_batch
from converter.analysis.facts import Facts
from converter.analysis.reasons import Why
from converter.analysis.tensors.factors import Failed, Placed, product, regrouped
from converter.analysis.tensors.lengths import how_many, of_number
from converter.analysis.values import (
    BATCH,
    FED,
    FREE,
    ROWS,
    SCALES,
    Axis,
    Batch,
    Count,
    Factor,
    Host,
    Length,
    Lengths,
    Number,
    Sequence,
    Shape,
    ShapeOf,
    Tensor,
    Value,
    needed,
    opaque,
    other,
    told_by,
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
        return Count(tensor, (shape,)) if not tensor.batch.packed else Host((shape, key))
    length = tensor.lengths[index] if tensor.lengths is not None and 0 <= index < len(tensor.lengths) else None
    return Length(length if isinstance(length, int) else None, shape, length)


def times_as_many(left: Value, right: Value) -> Length | None:
    """`tf.shape(x)[0] // tf.shape(y)[0]`, if x has several rows for each row of y: how many; None for anything else."""
    dividend, divisor = rows_of(left), rows_of(right)
    if dividend is None or divisor is None or dividend[1] == ROWS:
        return None
    shape, left_over = dividend[0], list(dividend[1])
    for factor in divisor[1]:
        if factor not in left_over:
            return None
        left_over.remove(factor)
    more = product(left_over)
    if len(more) != 1 or more[0] is None:
        return None
    return Length(more[0] if isinstance(more[0], int) else None, shape, more[0])


def rows_of(value: Value) -> tuple[ShapeOf, Axis] | None:
    """The shape from which a number of rows is read, and the factors of these rows."""
    shape = value.inputs[0] if isinstance(value, (Count, Host)) and value.inputs else None
    if not isinstance(shape, ShapeOf) or shape.tensor.batch.kind != "example" or getattr(value, "scaled", False):
        return None
    batch, rank = shape.tensor.batch, shape.tensor.rank
    if isinstance(value, Host):
        key = getattr(value.inputs[1], "value", None) if len(value.inputs) == 2 and not value.call else None
        if not isinstance(key, int) or key not in (batch.axis, batch.axis - (rank or 0)):
            return None
    return shape, batch.rows


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
    if not isinstance(value, Tensor):
        return None
    inner = next((v for v in value.inputs if isinstance(v, Sequence)), None)
    if value.op == "stack" and inner is not None:
        return inner.elements
    if value.op == "concat" and inner is not None and not inner.unmeasured:
        parts = [shape_entries(part) for part in inner.elements]  # along the only axis
        return None if None in parts else [entry for part in parts for entry in part or ()]
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


def lengths_of(entries: list[Value] | None) -> Lengths:
    """The lengths of axes from the entries of a shape argument."""
    return None if entries is None else tuple(_length(entry) for entry in entries)


def _length(entry: Value) -> Factor:
    """What an entry of a shape says of the length of its axis; None for -1, and where nothing is known."""
    value = getattr(entry, "value", None)
    if isinstance(value, (int, float)):
        return told_by(int(value), entry) if value >= 0 else None
    if isinstance(entry, Host) and entry.call == "int":
        return how_many(entry)
    return of_number(entry) if isinstance(entry, Number) else None


def element_count(tensor: Tensor) -> int | None:
    """Elements of one example, where known."""
    if tensor.dims is None or tensor.batch.packed:
        return None
    rest = [d for i, d in enumerate(tensor.dims) if i != tensor.batch.axis]
    return prod(d for d in rest if d is not None) if None not in rest else None


def reshape(facts: Facts, tensor: Tensor, shape: Value | None) -> Tensor:
    """tf.reshape: the factors of all axes, in their order, as the new axes group them."""
    entries = shape_entries(shape)
    inputs = (tensor,) if shape is None else (tensor, shape)
    lengths = lengths_of(entries)
    if tensor.batch.kind != "example":
        return Tensor(tensor.batch, inputs, lengths, "reshape")
    if entries is None:
        return Tensor(opaque(Why.UNWRITTEN_SHAPE), inputs, None, "reshape")
    if not entries or lengths is None:
        return Tensor(other(Why.TO_SCALAR), inputs, (), "reshape")
    placed = _placed(facts, tensor, entries)
    if isinstance(placed, Why):
        return Tensor(opaque(placed), inputs, lengths, "reshape")
    axis, rows = placed
    return Tensor(Batch("example", axis, rows), inputs, (*lengths[:axis], None, *lengths[axis + 1 :]), "reshape")


def _placed(facts: Facts, tensor: Tensor, entries: list[Value]) -> Placed | Why:
    """Where the batch is after a reshape, or why that is not known."""
    wanted = [_wanted(facts, entry) for entry in entries]
    placed = regrouped(_axes(tensor), wanted)
    if isinstance(placed, str) and ROWS in wanted[1:]:  # a width that is as large as the batch
        pairs = zip(wanted, entries, strict=True)
        widths = [(_length(entry),) if isinstance(entry, Number) and asked else asked for asked, entry in pairs]
        wanted = [wanted[0], *widths[1:]]
        placed = regrouped(_axes(tensor), wanted)
    rest = _with_rest(tensor, wanted) if placed == "unknown" else wanted
    if rest != wanted:
        placed = regrouped(_axes(tensor), rest)
    if placed == "unknown":
        return _supposed(facts, tensor, entries)
    return _reason(tensor, entries, placed) if isinstance(placed, str) else placed


def _with_rest(tensor: Tensor, wanted: list[Axis | None]) -> list[Axis | None]:
    """The same with None for the one length that the tensor does not have: it follows from the others, as -1 does."""
    known = {factor for axis in _axes(tensor) for factor in axis}
    found = [
        None if axis and any(not isinstance(factor, int) and factor not in known for factor in axis) else axis
        for axis in wanted
    ]
    return found if found.count(None) == 1 else wanted


def _axes(tensor: Tensor) -> Shape:
    """The axes of a tensor as products of factors; of one of an unknown rank those that are known."""
    if tensor.axes is not None:
        return tensor.axes
    return (*([(None,)] if tensor.batch.axis else []), tensor.batch.rows, (None,))


def _wanted(facts: Facts, entry: Value) -> Axis | None:
    """The length that an entry of a shape asks for, None for one that follows from the others."""
    if isinstance(entry, Count):
        return None if entry.scaled else ROWS
    if isinstance(entry, Host) and len(entry.inputs) == 2 and isinstance(shape := entry.inputs[0], ShapeOf):
        batch, index = shape.tensor.batch, getattr(entry.inputs[1], "value", None)
        known = batch.kind == "example" and index == batch.axis and None not in batch.rows
        return batch.rows if known else None
    if stands_for_batch(facts, entry):
        multiple = isinstance(entry, Number) and len(entry.origins) > 1
        return None if multiple or is_fraction(facts, entry) else ROWS
    length = _length(entry)
    return None if length is None else (length,)


def is_one_batch(facts: Facts, size: Value) -> bool:
    """Whether a number is that of the examples, no multiple of it and no fraction."""
    return _wanted(facts, size) == ROWS


def _reason(tensor: Tensor, entries: list[Value], failed: Failed) -> Why:
    """Why a reshape is not followed."""
    if tensor.batch.axis:
        return Why.RESHAPED_BEHIND
    if failed == "front" and len(entries) == 1 and getattr(entries[0], "value", None) == 1:
        return Why.TO_ONE_ELEMENT
    return {"joined": Why.JOINED, "cut": Why.CUT_OR_JOINED}.get(failed, Why.BATCH_NOT_IN_FRONT)


def _supposed(facts: Facts, tensor: Tensor, entries: list[Value]) -> Placed | Why:
    """Where the batch is taken to be where lengths are not known.

    It is where the shape says its size, or in front, each example with rows of its own.
    """
    first, rows = entries[0], tensor.batch.rows
    batches = [place for place, entry in enumerate(entries) if _wanted(facts, entry) == ROWS]
    if rows[0] != BATCH and len(batches) == 1 and batches[0]:
        return batches[0], ROWS  # steps of batches: `[steps, batch, width]`
    if tensor.batch.axis:
        in_front = len(entries) == 1 or (len(entries) == 2 and getattr(first, "value", None) == -1)
        return (0, (None, BATCH, None)) if in_front else Why.RESHAPED_BEHIND
    told = isinstance(first, Count) or stands_for_batch(facts, first)
    if (why := _unclear(facts, entries, told)) is not None:
        return why
    alone = told and _wanted(facts, first) == ROWS
    if rows[0] != BATCH:
        return Why.JOINED if alone else (0, product((*rows[: rows.index(BATCH)], BATCH, None)))
    images = not told and tensor.rank is None and rows == ROWS and len(entries) > 2
    return 0, ROWS if alone or images else (BATCH, None)  # an unknown tensor brought to [-1, height, width, …]


def _unclear(facts: Facts, entries: list[Value], told: bool) -> Why | None:
    """Why rows in front are not taken for those of the examples; told: they are as many as a number of these says."""
    first, *others = entries
    if told:
        return Why.JOINED if isinstance(first, Number) and is_fraction(facts, first) else None
    if isinstance(first, Host) and not first.roots and any(getattr(entry, "value", None) == -1 for entry in others):
        return Why.UNSIZED
    follows = isinstance(first, (Host, Tensor)) or getattr(first, "value", None) == -1
    return None if follows else Why.BATCH_NOT_IN_FRONT


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
    if not entry.linear and entry.op in SCALES:  # of a number that a branch chooses
        given = entry.inputs[: 2 if entry.op == "multiply" else 1]
        return any(isinstance(one, Number) and _follows_batch(facts, one) for one in given)
    known = facts.keys_of_sizes() if facts.inputs else ()
    options = [*entry.options()]
    for one in options:
        origins = one.linear if isinstance(one, Number) else frozenset()
        if len(options) > 1 and getattr(one, "value", None) == 1:  # that of a single example, in one branch
            return False
        if not any(o.key[0] == FED or o.key in known for o in origins) and not facts.named_sizes(origins):
            return False
    return True


def batch_entry(facts: Facts, entries: list[Value] | None) -> int | None:
    """The position of the batch size in a shape, None where it is not there."""
    for place, entry in enumerate(entries or ()):
        if isinstance(entry, Count) or stands_for_batch(facts, entry):
            return place
    return None


def batch_of_shape(facts: Facts, entries: list[Value] | None) -> Batch:
    """The batch of what is made in a shape: of `2 * tf.shape(x)[0]` rows each example has several.

    All of them are made in one way, so that they may be taken to stand example after example. As many rows as a tensor
    with several rows for each example has are these.
    """
    axis = batch_entry(facts, entries)
    if axis is None or entries is None:
        read = ((place, rows_of(entry)) for place, entry in enumerate(entries or ()))
        return next((Batch("example", place, found[1]) for place, found in read if found is not None), FREE)
    entry = entries[axis]
    several = isinstance(entry, Count) and entry.scaled
    return Batch("example", axis, (BATCH, None) if several else ROWS)
