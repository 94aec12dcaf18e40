"""Operations that move the batch axis, or take from it: transposes, concatenations, indexing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

from converter.analysis.reasons import Why
from converter.analysis.tensors.algebra import as_tensor, broadcast, combine
from converter.analysis.tensors.factors import first, others, product
from converter.analysis.tensors.lengths import how_many, total
from converter.analysis.tensors.places import RANGES, count_fed_rows
from converter.analysis.values import (
    BATCH,
    EXAMPLE,
    FREE,
    ROWS,
    Axis,
    Batch,
    Factor,
    Lengths,
    Number,
    Sequence,
    Tensor,
    Value,
    is_none,
    opaque,
)
from converter.dataclass import dataclass

AXES = 8  # as many as a shape has in practice; longer ranges number something else


def axis_numbers(value: Value | None) -> tuple[int, ...] | None | str:
    """The axes named by an argument: a tuple, None for all of them, "?" where they are not known."""
    if is_none(value):
        return None
    if isinstance(value, Number):
        return (value.value,) if isinstance(value.value, int) else "?"
    if isinstance(value, Sequence) and not value.many:
        axes = [e.value for e in value.elements if isinstance(e, Number) and isinstance(e.value, int)]
        return tuple(axes) if len(axes) == len(value.elements) else "?"
    if isinstance(value, Tensor) and value.op in RANGES:
        return _numbered(value)
    return "?"


def _numbered(value: Tensor) -> tuple[int, ...] | str:
    """The numbers of a range of the graph between bounds that are written out; "?" where they are not."""
    bounds = [bound.value for bound in value.inputs if isinstance(bound, Number) and isinstance(bound.value, int)]
    if not bounds or len(bounds) < len(value.inputs) or (len(bounds) > 2 and bounds[2] == 0):
        return "?"
    numbers = range(*bounds)
    return tuple(numbers) if len(numbers) <= AXES else "?"


def positive(axis: int, rank: int | None, batch_axis: int) -> int | None:
    """An axis counted from the front; None if it is not known and cannot be the batch axis."""
    if axis >= 0:
        return axis
    if rank is not None:
        return axis + rank
    return None if axis > -2 or batch_axis == 0 else axis


def moved(tensor: Tensor, axis: int, dims: Lengths, op: str, inputs: Iterable[Value] = ()) -> Tensor:
    """The same examples with their axis elsewhere."""
    batch = replace(tensor.batch, axis=axis) if tensor.batch.kind == "example" else tensor.batch
    return Tensor(batch, (tensor, *inputs), dims, op)


def transpose(tensor: Tensor, perm: Value | None) -> Tensor:
    """`tf.transpose`: the batch axis goes where the permutation takes it."""
    axes = axis_numbers(perm) if (head := _front_turned(tensor, perm)) is None else head
    inputs = () if perm is None else (perm,)
    if tensor.batch.kind != "example":
        return Tensor(tensor.batch, (tensor, *inputs), None, "transpose")
    if axes is None:
        if tensor.rank is None:
            return Tensor(opaque(Why.UNKNOWN_RANK_TRANSPOSED), (tensor,), None, "transpose")
        axes = tuple(reversed(range(tensor.rank)))
    if isinstance(axes, str) or tensor.batch.axis not in axes:
        return Tensor(opaque(Why.PERMUTATION), (tensor, *inputs), None, "transpose")
    dims: Lengths = None if head is not None else (None,) * len(axes)
    if tensor.lengths is not None and len(axes) == tensor.rank:
        dims = tuple(tensor.lengths[a] for a in axes)
    return moved(tensor, axes.index(tensor.batch.axis), dims, "transpose", inputs)


def _front_turned(tensor: Tensor, perm: Value | None) -> tuple[int, ...] | None:
    """The axes of `tf.concat([[1, 0], tf.range(2, tf.rank(x))], 0)`: those in front turned, the rest as they were.

    Of a tensor whose number of axes is not known, the last axes are left out. None for any other permutation.
    """
    joined = perm.inputs if isinstance(perm, Tensor) and perm.op == "concat" else ()
    parts = next((value.elements for value in joined if isinstance(value, Sequence)), [])
    if len(parts) != 2:
        return None
    head, rest = axis_numbers(parts[0]), parts[1]
    if not isinstance(head, tuple) or not isinstance(rest, Tensor) or rest.op not in RANGES or len(rest.inputs) != 2:
        return None
    begin, end = rest.inputs
    if isinstance(end, Number):
        whole = tensor.rank is not None and end.value == tensor.rank
    else:
        whole = isinstance(end, Tensor) and end.op == "rank" and tensor in end.inputs
    if not whole or sorted(head) != list(range(len(head))) or getattr(begin, "value", None) != len(head):
        return None
    return (*head, *range(len(head), max(tensor.rank or 0, tensor.batch.axis + 1)))


def expand_dims(tensor: Tensor, axis: Value | None) -> Tensor:
    """`tf.expand_dims`: the batch axis moves back by one where the new one comes before it."""
    axes = axis_numbers(axis)
    at = axes[0] if isinstance(axes, tuple) and axes else None
    if at is None:
        return Tensor(opaque(Why.AXIS, "expand_dims"), (tensor,), None, "expand_dims")
    rank = tensor.rank
    if at < 0:
        at = at + rank + 1 if rank is not None else 99
    dims = None if tensor.lengths is None else (*tensor.lengths[:at], 1, *tensor.lengths[at:])
    return moved(tensor, tensor.batch.axis + (at <= tensor.batch.axis), dims, "expand_dims")


def squeeze(tensor: Tensor, axis: Value | None) -> Tensor:
    """`tf.squeeze`: opaque where the batch axis itself is named."""
    axes = axis_numbers(axis)
    if isinstance(axes, str):
        return Tensor(opaque(Why.AXIS, "squeeze"), (tensor,), None, "squeeze")
    if axes is None:
        if tensor.lengths is None:
            return moved(tensor, tensor.batch.axis, None, "squeeze")
        gone = {i for i, d in enumerate(tensor.lengths) if d == 1 and i != tensor.batch.axis}
    else:
        gone = {a + tensor.rank if a < 0 and tensor.rank is not None else a for a in axes}
    dims = None if tensor.lengths is None else tuple(d for i, d in enumerate(tensor.lengths) if i not in gone)
    shift = sum(1 for a in gone if 0 <= a < tensor.batch.axis)
    named = () if axis is None else (axis,)
    if tensor.batch.kind == "example" and tensor.batch.axis in gone:
        return Tensor(opaque(Why.SQUEEZED), (tensor, *named), dims, "squeeze")
    return moved(tensor, tensor.batch.axis - shift, dims, "squeeze", named)


def concat(values: Value, axis: Value | None, count: Value | None = None) -> Tensor:
    """`tf.concat`: along the batch axis the result is packed, one part behind the other.

    count: how many values there are, where only the command line or a file tells that.
    """
    parts = [as_tensor(v) for v in values.elements] if isinstance(values, Sequence) else [as_tensor(values)]
    axes = axis_numbers(axis)
    at = axes[0] if isinstance(axes, tuple) and axes else None
    inputs = [*parts, values, *([axis] if axis is not None else [])]
    known = not (isinstance(values, Sequence) and values.unmeasured)
    if known and at is not None:
        parts = [p for p in parts if not _is_empty(p, at)] or parts
    combined = combine(parts, "concat", by_rows=False)
    if combined.kind not in ("example", "free"):
        return Tensor(combined, inputs, None, "concat")
    rank = next((p.rank for p in parts if p.rank is not None), None)
    if at is None:
        without = combined if combined.kind == "free" else opaque(Why.AXIS, "a concat")
        return Tensor(without, inputs, None, "concat")
    at = at + rank if at < 0 and rank is not None else at
    if combined.kind == "example" and at == combined.axis:
        combined = replace(combined, rows=_behind_each_other(parts, len(parts) if known else how_many(count)))
    elif combined.kind == "example":
        combined = combine(parts, "concat")
    return Tensor(combined, inputs, _concat_lengths(parts, at, known), "concat")


def _is_empty(part: Tensor, at: int) -> bool:
    """Whether a part has no rows along the axis of a concat, as `tf.zeros([0, 4])`: it adds nothing."""
    dims = part.dims
    return part.batch.kind == "free" and dims is not None and -len(dims) <= at < len(dims) and dims[at] == 0


def _behind_each_other(parts: list[Tensor], times: Factor) -> Axis:
    """The rows of several batches behind each other; times: how many parts there are, None where that is not known.

    Where not all of a part's rows are known, they are taken to be like the others'.
    """
    rows = {part.batch.rows if part.batch.kind == "example" else None for part in parts}
    told = rows - {(BATCH, None)} or rows
    one = next(iter(told))
    if len(told) == 1 and one is not None:
        return product((times, *one))
    copies = [_copies(part.batch.rows) for part in parts if part.batch.kind == "example"]
    number = sum(copy for copy in copies if copy is not None)
    measured = times == len(parts) == len(copies) and None not in copies
    return (number, BATCH) if measured else (None, BATCH, None)


def _copies(rows: Axis) -> int | None:
    """How many whole batches lie behind each other, as in what a loop has put together so far; None for other rows."""
    number = 1 if rows == ROWS else rows[0]
    return number if rows in (ROWS, (number, BATCH)) and isinstance(number, int) else None


def _concat_lengths(parts: list[Tensor], at: int, known: bool) -> Lengths:
    """The static shape of a concat; `known`: whether the parts are all that there are."""
    dims = [p.lengths for p in parts]
    one = broadcast(part for part in parts if part.lengths is not None)  # the parts have one rank
    if one is None:
        return None
    if at < 0 or at >= len(one):
        return (None,) * len(one)
    parts_known = [d[at] for d in dims if d is not None and len(d) == len(one)]
    whole = total(parts_known) if known and len(parts_known) == len(dims) else None
    return (*one[:at], whole, *one[at + 1 :])


def unstacked(tensor: Tensor, axis: int = 0) -> Tensor:
    """One of the parts that unstack, or iteration, gives."""
    dims = (
        None
        if tensor.lengths is None or not -len(tensor.lengths) <= axis < len(tensor.lengths)
        else tuple(d for i, d in enumerate(tensor.lengths) if i != axis % len(tensor.lengths))
    )
    if tensor.batch.kind != "example":
        return Tensor(tensor.batch, (tensor,), dims, "unstack")
    if axis < 0:
        axis = axis + tensor.rank if tensor.rank is not None else 99
    if axis == tensor.batch.axis:
        return Tensor(opaque(Why.APART), (tensor,), dims, "unstack")
    return moved(tensor, tensor.batch.axis - (axis < tensor.batch.axis), dims, "unstack")


@dataclass(frozen=True)
class Index:
    """One entry of an index.

    kind: "new" adds an axis, "one" takes an entry, "slice" takes several, "first" as many as there are examples, from
    the first on, "others" those behind these, "whole" all, "reversed" all from the last on, "rest" is `...`.
    value: what stands there. behind: for "rest", the entries of the index that take from an axis. pieces: a slice's
    bound is a fraction of the batch size.
    """

    kind: Literal["new", "one", "slice", "first", "others", "whole", "reversed", "rest"]
    value: Value | None = None
    behind: int = 0
    pieces: bool = False


def subscript(tensor: Tensor, index: Iterable[Index]) -> Tensor:
    """`x[:, -1]`, `x[0]`, `x[..., None]`: follows the batch axis through basic indexing."""
    inputs: list[Value] = [tensor]
    position, axis, dims = 0, 0, list[Factor]()
    batch = tensor.batch
    new_axis: int | None = None
    for entry in _written_out(tensor, index):
        if entry.kind == "new":
            axis, dims = axis + 1, [*dims, 1]
            continue
        inputs += [entry.value] if entry.value is not None else []
        if position == batch.axis and batch.kind == "example":
            batch = _taken(batch, entry)
            new_axis = axis
        if entry.kind != "one":
            full = entry.kind in ("whole", "reversed") and tensor.lengths is not None and position < len(tensor.lengths)
            dims.append(tensor.lengths[position] if full and tensor.lengths else None)
            axis += 1
        position += 1
    rest_dims = None if tensor.lengths is None else (*dims, *tensor.lengths[position:])
    if batch.kind != "example":
        return Tensor(batch, inputs, rest_dims, "subscript")
    if new_axis is None:
        new_axis = axis + batch.axis - position
    return Tensor(replace(batch, axis=new_axis), inputs, rest_dims, "subscript")


def _written_out(tensor: Tensor, index: Iterable[Index]) -> Iterator[Index]:
    """The entries of an index, with one for each axis that `...` stands for; up to it where their number is unknown."""
    for entry in index:
        if entry.kind != "rest":
            yield entry
        elif tensor.rank is None:
            return
        else:
            yield from [Index("whole")] * (tensor.rank - entry.behind)


def _taken(batch: Batch, entry: Index) -> Batch:
    """The batch of what an entry of an index takes from the axis of the examples."""
    if entry.kind == "whole":
        return batch
    if batch.rows == ROWS and isinstance(entry.value, Tensor) and entry.value.op == EXAMPLE:
        return FREE  # the one example that a turn of the loop takes, as the function of tf.map_fn gets it
    rows = first(batch.rows) if entry.kind == "first" else others(batch.rows) if entry.kind == "others" else None
    if rows is not None and batch.packed:
        return replace(batch, rows=rows)
    bounds = entry.value.inputs if entry.kind in ("slice", "reversed") and entry.value is not None else (entry.value,)
    if any(map(count_fed_rows, bounds)):
        return opaque(Why.PLACES_FED, "slice")
    return opaque(Why.PICKED if entry.kind == "one" else Why.PIECES if entry.pieces else Why.PART)
