"""What operations do to the batch axis: the algebra behind `Batch`.

Each function takes stand-ins and gives the stand-in of the result. Where the effect on the batch
is not known the result is opaque and says why; nothing is guessed here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from collections.abc import Sequence as SequenceType
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from converter.analysis.values import (
    CONFLICT,
    FREE,
    Batch,
    Constant,
    Count,
    Host,
    How,
    Number,
    Origin,
    Sequence,
    ShapeOf,
    Tensor,
    Value,
    opaque,
    other,
    tensors_in,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

Dims = tuple[int | None, ...] | None

LINEAR = frozenset(
    ("identity", "cast", "negative", "to_float", "to_double", "check_numerics", "verify_tensor_all_finite")
)


def is_batched(value: Value) -> bool:
    """Whether a value is a tensor in which the batch is found in any form."""
    return isinstance(value, Tensor) and value.batch.kind != "free"


def join_batches(one: Batch, two: Batch) -> Batch:
    """The batch of a tensor that is one thing or the other."""
    if one == two or two.kind == "free":
        return one
    if one.kind == "free":
        return two
    return opaque("it differs between the branches of a condition")


def combine(tensors: SequenceType[Value], op: str = "") -> Batch:
    """The batch of an element by element result, with broadcasting."""
    batched = [t for t in tensors if isinstance(t, Tensor) and t.batch.kind != "free"]
    if not batched:
        return FREE
    for tensor in batched:
        if tensor.batch.kind == "opaque":
            return tensor.batch
    examples = [t for t in batched if t.batch.kind == "example"]
    if not examples:
        return _combine_reduced(tensors, batched, op)
    first = max(examples, key=lambda t: t.rank if t.rank is not None else -1)
    rank = max((t.rank for t in tensors if isinstance(t, Tensor) and t.rank is not None), default=None)
    axes = {t.rank - t.batch.axis for t in examples if t.rank is not None}
    if len(axes) > 1:
        return other("examples of the batch are set against each other (broadcasting)")
    axis = first.batch.axis if first.rank is None or rank is None else rank - (first.rank - first.batch.axis)
    packed = max((t.batch.packed for t in examples), key=("", "major", "minor").index)
    if {t.batch.packed for t in examples} >= {"", "minor"}:
        return opaque(CONFLICT)
    return Batch("example", axis, packed, next((t.batch.outer for t in examples if t.batch.packed == packed), None))


def unpacked(tensor: Tensor, parts: int) -> Batch | None:
    """The batch of each of `parts` equal pieces along the batch axis, where these are whole batches."""
    batch = tensor.batch
    if batch.kind == "example" and batch.packed == "minor" and batch.outer == parts:
        return Batch("example", batch.axis)
    return None


def _combine_reduced(tensors: SequenceType[Value], batched: list[Tensor], op: str) -> Batch:
    first = batched[0].batch
    if op in LINEAR:
        return first
    if op in ("add", "subtract", "add_n"):
        return _sum_of(tensors, batched)
    if op in ("multiply", "divide") and len(batched) == 1 and first.how != "other":
        factor = tensors[1] if tensors[0] is batched[0] else tensors[0]
        if op == "divide" and batched[0] is not tensors[0]:
            return other("a number is divided by a reduction of the batch")
        return _scaled(first, factor, op)
    if first.how == "other":
        return first
    return other("a reduction of the batch goes through a function that is not linear")


def _sum_of(tensors: SequenceType[Value], batched: list[Tensor]) -> Batch:
    kinds = {(t.batch.how, t.batch.per) for t in batched}
    affine = any(not is_batched(t) for t in tensors) or any(t.batch.affine for t in batched)
    if len(kinds) > 1:
        return next((t.batch for t in batched if t.batch.how == "other"), None) or Batch(
            "reduced", how="other", why="a sum and a mean over the examples are added"
        )
    how, per = next(iter(kinds))
    return Batch("reduced", how=how, per=per, affine=affine, why=batched[0].batch.why)


def _scaled(batch: Batch, factor: Value, op: str) -> Batch:
    if batch.how == "mean":
        return batch
    if op == "multiply":
        inverse = factor.origins - factor.linear if isinstance(factor, Number) else frozenset()
        return replace(batch, per=batch.per | inverse)
    if isinstance(factor, Count) or (isinstance(factor, Tensor) and any(isinstance(v, Count) for v in factor.inputs)):
        return Batch("reduced", how="mean", affine=batch.affine)
    numbers = [factor] if isinstance(factor, Number) else [v for v in factor.inputs if isinstance(v, Number)]
    origins: frozenset[Origin] = frozenset().union(*(n.linear for n in numbers))
    return Batch("reduced", how=batch.how, per=batch.per | origins, affine=batch.affine, why=batch.why)


def elementwise(walk: Walk, op: str, values: SequenceType[Value], node: ast.AST | None = None) -> Tensor:
    """An element by element operation with broadcasting; operands may be numbers or lists of tensors."""
    operands = [as_tensor(v) for v in values]
    if op == "divide" and len(operands) == 2 and _is_masked_mean(operands):
        return Tensor(other("a ratio of two sums over the examples"), values, (), op)
    batch = combine([v if isinstance(v, (Number, Count)) else t for v, t in zip(values, operands, strict=True)], op)
    if batch.per and any(named_batch(walk.facts.origin_names.get(o.key, ())) for o in batch.per):
        batch = replace(batch, how="mean", per=frozenset())
    return Tensor(batch, values, broadcast_dims(operands), op)


def _is_masked_mean(operands: list[Tensor]) -> bool:
    return all(t.batch.kind == "reduced" and t.batch.how == "sum" for t in operands)


def as_tensor(value: Value) -> Tensor:
    """What TensorFlow makes of a value that is handed to an operation."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (Number, Constant, Count)):
        return Tensor(FREE, (value,), ())
    inner = [t for t in tensors_in(value) if t.batch.kind != "free"]
    if not inner and isinstance(value, Host) and value.roots and value.call != "run":
        return Tensor(opaque(f"it comes out of {value.call or 'code'}, which is not followed"), (value,))
    if not inner:
        return Tensor(FREE, (value,))
    if isinstance(value, Sequence):
        return stack(value, 0)
    return Tensor(opaque("it is made of a Python object that is not followed"), (value,))


def broadcast_dims(tensors: Iterable[Tensor]) -> Dims:
    """The static shape of an element by element result; None where a shape is not known."""
    dims = [t.dims for t in tensors]
    if not dims or any(d is None for d in dims):
        return None
    known = [d for d in dims if d is not None]
    rank = max(len(d) for d in known)
    result: list[int | None] = []
    for place in range(rank):
        column = [d[place - rank + len(d)] for d in known if place - rank + len(d) >= 0]
        wide = [c for c in column if c != 1]
        result.append(1 if not wide else wide[0] if len(set(wide)) == 1 else None)
    return tuple(result)


# -- reductions -----------------------------------------------------------------------------------


def axis_numbers(value: Value | None) -> tuple[int, ...] | None | str:
    """The axes named by an argument: a tuple, None for all of them, "?" where they are not known."""
    if value is None or (isinstance(value, Constant) and value.value is None):
        return None
    if isinstance(value, Number):
        return (value.value,) if isinstance(value.value, int) else "?"
    if isinstance(value, Sequence) and not value.many:
        axes = [e.value for e in value.elements if isinstance(e, Number) and isinstance(e.value, int)]
        return tuple(axes) if len(axes) == len(value.elements) else "?"
    return "?"


def positive(axis: int, rank: int | None, batch_axis: int) -> int | None:
    """An axis counted from the front; None if it is not known and cannot be the batch axis."""
    if axis >= 0:
        return axis
    if rank is not None:
        return axis + rank
    return None if axis > -2 or batch_axis == 0 else axis


def reduce(tensor: Tensor, axis: Value | None, how: How, keep: bool, why: str = "") -> Tensor:
    """reduce_mean, reduce_sum and their like; `how` is "other" for those that are neither."""
    axes = axis_numbers(axis)
    batch = tensor.batch
    inputs = (tensor,) if axis is None else (tensor, axis)
    if batch.kind in ("free", "opaque"):
        return Tensor(batch, inputs, _reduced_dims(tensor.dims, axes, keep), "reduce")
    if batch.kind == "reduced":
        kept = batch if how in ("mean", "sum") or tensor.dims == () else _not_linear(batch)
        return Tensor(kept, inputs, _reduced_dims(tensor.dims, axes, keep), "reduce")
    if isinstance(axes, str):
        return Tensor(opaque("the axis of a reduction is not a constant"), inputs, None, "reduce")
    front = None if axes is None else [positive(a, tensor.rank, batch.axis) for a in axes]
    dims = _reduced_dims(tensor.dims, axes, keep)
    if front is None or batch.axis in front:
        result = Batch("reduced", how=how, why=why or "a reduction over the batch that is neither a mean nor a sum")
        if batch.packed == "minor" and front is not None and len(front) == 1 and how != "mean":
            result = Batch("reduced", how=how, why=why)
        return Tensor(result, inputs, dims, "reduce")
    shift = 0 if keep else sum(1 for a in front if a is not None and 0 <= a < batch.axis)
    return Tensor(replace(batch, axis=batch.axis - shift), inputs, dims, "reduce")


def _not_linear(batch: Batch) -> Batch:
    return (
        batch if batch.how == "other" else other("a reduction of the batch goes through a function that is not linear")
    )


def _reduced_dims(dims: Dims, axes: tuple[int, ...] | None | str, keep: bool) -> Dims:
    if isinstance(axes, str):
        return None
    if axes is None:
        return () if not keep else None if dims is None else (1,) * len(dims)
    if dims is None:
        return None
    gone = {a % len(dims) for a in axes if -len(dims) <= a < len(dims)}
    return tuple(1 if i in gone else d for i, d in enumerate(dims) if keep or i not in gone)


# -- shapes ---------------------------------------------------------------------------------------


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
    return Number(value, inputs=(shape,))


def shape_entries(value: Value | None) -> list[Value] | None:
    """The entries of a shape argument, None where it is not known."""
    if isinstance(value, Sequence) and not value.many:
        return value.elements
    if isinstance(value, ShapeOf):
        rank = value.tensor.rank
        if rank is None:
            return [dimension(value, Number(0))] if value.tensor.batch.axis == 0 else None
        return [dimension(value, Number(i)) for i in range(rank)]
    if isinstance(value, (Number, Count)):
        return [value]
    if isinstance(value, Tensor) and value.op in ("stack", "concat"):
        inner = [v for v in value.inputs if isinstance(v, Sequence)]
        return inner[0].elements if inner and value.op == "stack" else None
    return None


def dims_of(entries: list[Value] | None) -> Dims:
    """A static shape from the entries of a shape argument; None in place of what is not known."""
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


def reshape(walk: Walk, tensor: Tensor, shape: Value | None) -> Tensor:
    """tf.reshape: follows the batch axis where it stays in front."""
    entries = shape_entries(shape)
    inputs = (tensor,) if shape is None else (tensor, shape)
    dims = dims_of(entries)
    if tensor.batch.kind != "example":
        return Tensor(tensor.batch, inputs, dims, "reshape")
    if entries is None:
        return Tensor(opaque("it is reshaped to a shape that is not written out"), inputs, None, "reshape")
    if not entries:
        return Tensor(other("the batch is reshaped to a scalar"), inputs, (), "reshape")
    if tensor.batch.axis != 0:
        return _reshape_behind(tensor, entries, inputs, dims)
    first = entries[0]
    if isinstance(first, Count) or stands_for_batch(walk, first):
        rest = (None, *dims[1:]) if dims else None
        times = (
            first.scaled if isinstance(first, Count) else len(first.origins) > 1 if isinstance(first, Number) else False
        )
        return Tensor(Batch("example", 0, "major" if times else ""), inputs, rest, "reshape")
    if isinstance(first, Number) and first.value == -1 or isinstance(first, (Host, Tensor)):
        packed = tensor.batch.packed
        if _cuts_examples(tensor, dims):
            return Tensor(opaque("it is reshaped so that examples are cut apart or joined"), inputs, dims, "reshape")
        if not (packed == "minor" or _same_rows(tensor, dims)):
            packed = "major"
        elif packed == "major" and _same_rows(tensor, dims):
            packed = ""
        return Tensor(Batch("example", 0, packed), inputs, (None, *dims[1:]) if dims else None, "reshape")
    if isinstance(first, Number) and first.value == 1 and len(entries) == 1:
        return Tensor(opaque("the batch is reshaped to one element"), inputs, dims, "reshape")
    return Tensor(opaque("it is reshaped so that the batch is no longer in front"), inputs, dims, "reshape")


def stands_for_batch(walk: Walk, entry: Value) -> bool:
    """A number in front of a shape that a placeholder's batch axis has too, or that is named as one."""
    if not isinstance(entry, Number) or len(entry.linear) == 0:
        return False
    known = {
        o.key
        for i in walk.facts.inputs
        for n in walk.facts.batch_sizes
        if isinstance(n[0], Number)
        for o in n[0].linear
    }
    return any(o.key in known or named_batch(walk.facts.origin_names.get(o.key, ())) for o in entry.linear)


def batch_entry(walk: Walk, entries: list[Value] | None) -> int | None:
    """The position of the batch size in a shape, None where it is not there."""
    for place, entry in enumerate(entries or ()):
        if isinstance(entry, Count) or stands_for_batch(walk, entry):
            return place
    return None


def named_batch(names: Iterable[str]) -> bool:
    """Names that people give to a batch size."""
    return any(
        "batch" in n.lower()
        and "num_batch" not in n.lower()
        and "n_batch" not in n.lower()
        and "batches" not in n.lower()
        or n.lower() in ("bs", "mb_size", "mbsize", "bsz", "bsize", "minibatch", "n_b", "mb")
        for n in names
    )


def _cuts_examples(tensor: Tensor, dims: Dims) -> bool:
    """Whether the rows of [-1, …] do not lie within one example each."""
    count = element_count(tensor)
    if count is None or dims is None or None in dims[1:] or 0 in dims[1:]:
        return False
    return count % prod(d for d in dims[1:] if d is not None) != 0


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
    return Tensor(opaque("a tensor whose batch axis is not the first is reshaped"), inputs, dims, "reshape")


def moved(tensor: Tensor, axis: int, dims: Dims, op: str, inputs: Iterable[Value] = ()) -> Tensor:
    """The same examples with their axis elsewhere."""
    batch = replace(tensor.batch, axis=axis) if tensor.batch.kind == "example" else tensor.batch
    return Tensor(batch, (tensor, *inputs), dims, op)


def transpose(tensor: Tensor, perm: Value | None) -> Tensor:
    """`tf.transpose`: the batch axis goes where the permutation takes it."""
    axes = axis_numbers(perm)
    inputs = () if perm is None else (perm,)
    if tensor.batch.kind != "example":
        return Tensor(tensor.batch, (tensor, *inputs), None, "transpose")
    if axes is None:
        if tensor.rank is None:
            return Tensor(opaque("a tensor of unknown rank is transposed"), (tensor,), None, "transpose")
        axes = tuple(reversed(range(tensor.rank)))
    if isinstance(axes, str) or tensor.batch.axis not in axes:
        return Tensor(opaque("the permutation of a transpose is not a constant"), (tensor, *inputs), None, "transpose")
    dims = (
        tuple(tensor.dims[a] for a in axes)
        if tensor.dims is not None and len(axes) == tensor.rank
        else (None,) * len(axes)
    )
    return moved(tensor, axes.index(tensor.batch.axis), dims, "transpose", inputs)


def expand_dims(tensor: Tensor, axis: Value | None) -> Tensor:
    """`tf.expand_dims`: the batch axis moves back by one where the new one comes before it."""
    axes = axis_numbers(axis)
    at = axes[0] if isinstance(axes, tuple) and axes else None
    if at is None:
        return Tensor(opaque("the axis of expand_dims is not a constant"), (tensor,), None, "expand_dims")
    rank = tensor.rank
    if at < 0:
        at = at + rank + 1 if rank is not None else 99
    dims = None if tensor.dims is None else (*tensor.dims[:at], 1, *tensor.dims[at:])
    return moved(tensor, tensor.batch.axis + (at <= tensor.batch.axis), dims, "expand_dims")


def squeeze(tensor: Tensor, axis: Value | None) -> Tensor:
    """`tf.squeeze`: opaque where the batch axis itself is named."""
    axes = axis_numbers(axis)
    if isinstance(axes, str):
        return Tensor(opaque("the axis of squeeze is not a constant"), (tensor,), None, "squeeze")
    if axes is None:
        if tensor.dims is None:
            return moved(tensor, tensor.batch.axis, None, "squeeze")
        gone = {i for i, d in enumerate(tensor.dims) if d == 1 and i != tensor.batch.axis}
    else:
        gone = {a + tensor.rank if a < 0 and tensor.rank is not None else a for a in axes}
    dims = None if tensor.dims is None else tuple(d for i, d in enumerate(tensor.dims) if i not in gone)
    shift = sum(1 for a in gone if 0 <= a < tensor.batch.axis)
    if tensor.batch.kind == "example" and tensor.batch.axis in gone:
        return Tensor(opaque("the batch axis is squeezed away"), (tensor,), dims, "squeeze")
    return moved(tensor, tensor.batch.axis - shift, dims, "squeeze")


def concat(values: Value, axis: Value | None) -> Tensor:
    """`tf.concat`: along the batch axis the result is packed, one part behind the other."""
    parts = [as_tensor(v) for v in values.elements] if isinstance(values, Sequence) else [as_tensor(values)]
    axes = axis_numbers(axis)
    at = axes[0] if isinstance(axes, tuple) and axes else None
    inputs = [*parts, values, *([axis] if axis is not None else [])]
    combined = combine(parts)
    if combined.kind != "example":
        return Tensor(combined, inputs, None, "concat")
    rank = next((p.rank for p in parts if p.rank is not None), None)
    if at is None:
        return Tensor(opaque("the axis of a concat is not a constant"), inputs, None, "concat")
    at = at + rank if at < 0 and rank is not None else at
    if at == combined.axis:
        return Tensor(Batch("example", combined.axis, "minor", len(parts)), inputs, _concat_dims(parts, at), "concat")
    return Tensor(combined, inputs, _concat_dims(parts, at), "concat")


def _concat_dims(parts: list[Tensor], at: int) -> Dims:
    dims = [p.dims for p in parts]
    if any(d is None for d in dims) or not dims:
        return None
    first = dims[0]
    assert first is not None
    if at < 0 or at >= len(first):
        return (None,) * len(first)
    total: int | None = 0
    for d in dims:
        if d is None or len(d) != len(first) or d[at] is None or total is None:
            total = None
        else:
            total += d[at] or 0
    return (*first[:at], total, *first[at + 1 :])


def stack(values: Value, axis: int) -> Tensor:
    """`tf.stack`: a new axis at a position; also what TensorFlow makes of a list of tensors."""
    elements = values.elements if isinstance(values, Sequence) else [values]
    parts = [v if isinstance(v, Tensor) else Tensor(FREE, (v,), ()) for v in elements]
    combined = combine(parts)
    first = next((p.dims for p in parts if p.dims is not None), None)
    many = isinstance(values, Sequence) and values.many
    dims = None if first is None or axis < 0 else (*first[:axis], None if many else len(parts), *first[axis:])
    if combined.kind == "example":
        rank = len(first) if first is not None else None
        at = axis if axis >= 0 else (rank + 1 + axis if rank is not None else 99)
        combined = Batch("example", combined.axis + (at <= combined.axis), combined.packed)
    return Tensor(combined, (values, *parts), dims, "stack")


def unstacked(tensor: Tensor, axis: int = 0) -> Tensor:
    """One of the parts that unstack, or iteration, gives."""
    dims = (
        None
        if tensor.dims is None or not -len(tensor.dims) <= axis < len(tensor.dims)
        else tuple(d for i, d in enumerate(tensor.dims) if i != axis % len(tensor.dims))
    )
    if tensor.batch.kind != "example":
        return Tensor(tensor.batch, (tensor,), dims, "unstack")
    if axis < 0:
        axis = axis + tensor.rank if tensor.rank is not None else 99
    if axis == tensor.batch.axis:
        return Tensor(opaque("the batch is taken apart example by example"), (tensor,), dims, "unstack")
    return moved(tensor, tensor.batch.axis - (axis < tensor.batch.axis), dims, "unstack")


def matmul(left: Value, right: Value, transpose_left: bool = False, transpose_right: bool = False) -> Tensor:
    """`tf.matmul`: the examples stay apart unless the batch axis is the one that is summed over."""
    one, two = as_tensor(left), as_tensor(right)
    inputs = (left, right)
    dims = (
        None
        if one.dims is None
        else (*one.dims[:-1], two.dims[-1 if not transpose_right else -2] if two.dims and len(two.dims) > 1 else None)
    )
    kinds = {one.batch.kind, two.batch.kind}
    if "opaque" in kinds or kinds == {"free"}:
        return Tensor(combine([one, two]), inputs, dims, "matmul")
    if "reduced" in kinds:
        linear = kinds == {"free", "reduced"}
        batch = combine([one, two], "identity") if linear else other("a product with a reduction of the batch")
        return Tensor(batch, inputs, dims, "matmul")
    rank = one.rank or two.rank or 2
    if rank > 2 and min(one.batch.axis if is_batched(one) else 0, two.batch.axis if is_batched(two) else 0) < rank - 2:
        return Tensor(combine([one, two]), inputs, dims, "matmul")
    coupled = other("examples of the batch are multiplied with each other")
    if two.batch.kind == "free":
        contracted = (one.batch.axis == rank - 1) != transpose_left
        axis = one.batch.axis if not transpose_left else 1 - one.batch.axis
        return Tensor(coupled if contracted else replace(one.batch, axis=axis), inputs, dims, "matmul")
    if one.batch.kind == "free":
        contracted = (two.batch.axis == 0) != transpose_right
        axis = two.batch.axis if not transpose_right else 1 - two.batch.axis
        return Tensor(coupled if contracted else replace(two.batch, axis=axis), inputs, dims, "matmul")
    return Tensor(coupled, inputs, dims, "matmul")


def subscript(walk: Walk, tensor: Tensor, node: ast.expr) -> Tensor:
    """`x[:, -1]`, `x[0]`, `x[..., None]`: follows the batch axis through basic indexing."""
    parts = list(node.elts) if isinstance(node, ast.Tuple) else [node]
    inputs: list[Value] = [tensor]
    position, axis, dims = 0, 0, []
    batch = tensor.batch
    new_axis: int | None = None
    for part in parts:
        if isinstance(part, ast.Constant) and part.value is Ellipsis:
            rest = len([p for p in parts if not _is_new(p)]) - 1
            skip = (tensor.rank or 0) - rest
            if tensor.rank is None:
                break
            if position <= batch.axis < position + skip:
                new_axis = axis + batch.axis - position
            dims += list((tensor.dims or ())[position : position + skip])
            position, axis = position + skip, axis + skip
            continue
        if _is_new(part):
            axis, dims = axis + 1, [*dims, 1]
            continue
        inputs.append(walk.evaluate(part))
        whole = isinstance(part, ast.Slice)
        if position == batch.axis and batch.kind == "example":
            if not whole or part.lower or part.upper or part.step:  # type: ignore[attr-defined]
                return _part_of_batch(tensor, inputs, whole)
            new_axis = axis
        if whole:
            full = not (part.lower or part.upper or part.step)  # type: ignore[attr-defined]
            dims.append(tensor.dims[position] if full and tensor.dims and position < len(tensor.dims) else None)
            axis += 1
        position += 1
    rest_dims = None if tensor.dims is None else (*dims, *tensor.dims[position:])
    if batch.kind != "example":
        return Tensor(batch, inputs, rest_dims, "subscript")
    if new_axis is None:
        new_axis = axis + batch.axis - position
    return Tensor(replace(batch, axis=new_axis), inputs, rest_dims, "subscript")


def _is_new(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and node.value is None) or (
        isinstance(node, ast.Attribute) and node.attr == "newaxis"
    )


def _part_of_batch(tensor: Tensor, inputs: list[Value], whole: bool) -> Tensor:
    why = "a part of the batch is taken" if whole else "one example of the batch is picked"
    return Tensor(opaque(why), inputs, None, "subscript")
