"""Operations that move axes: where the batch goes through reshape, transpose, concat and their like."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from converter.analysis.arrays.shapes import filled_shape, shape_of
from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.frames import Access
from converter.analysis.inputs.embedded_data import data_constant
from converter.analysis.python.containers import iterate
from converter.analysis.reasons import UNSEEN_CODE, Why
from converter.analysis.rows import keeps, rank_alone, table
from converter.analysis.tensors import algebra, factors, moving, shaping
from converter.analysis.tensors.lengths import how_many, of_number
from converter.analysis.tensors.lengths import part as part_of
from converter.analysis.tensors.places import OTHER_RANGE, RANGE, are_fed, gathered, left_by, mask_of, own_row_first
from converter.analysis.tensors.sparse import taken_as_sparse
from converter.analysis.tensors.windows import window
from converter.analysis.traits import Argument, Trait, has
from converter.analysis.values import (
    BATCH,
    FREE,
    Batch,
    Constant,
    Count,
    Counted,
    Factor,
    Host,
    Input,
    Lengths,
    Number,
    Sequence,
    ShapeOf,
    Tensor,
    Value,
    Variable,
    needed,
    opaque,
    other,
    tensors_in,
)
from rules.calls.operations.static_shape import take_rows


def _reshape(call: Call) -> Value:
    return shaping.reshape(call.walk.facts, call.tensor(0, "tensor"), call.get(1, "shape"))


def _moved(move: Callable[[Tensor, Value | None], Value], tensor: tuple[str, ...], *axes: str) -> Handler:
    """The call moves the axes of its first argument as its second argument says; their names."""
    return lambda call: move(call.tensor(0, *tensor), call.get(1, *axes))


def _expand_dims(call: Call) -> Value:
    """The axis of a single row, which a squeeze took away, is put back in front."""
    tensor, axis = call.tensor(0, "input"), call.get(1, "axis", "dim")
    squeezed = tensor.op == "squeeze" and len(tensor.inputs) == 1 and tensor.inputs[0] in call.walk.of_one_row
    if squeezed and moving.axis_numbers(axis) == (0,) and tensor.batch == Batch("example", 0):
        return Tensor(tensor.batch, call.values(), tensor.lengths, call.name)
    return moving.expand_dims(tensor, axis)


def _concat(call: Call) -> Value:
    values, axis = call.get(0, "values"), call.get(1, "axis", "concat_dim")
    if isinstance(values, Number):  # the order before TensorFlow 1.0
        values, axis = axis, values
    values = values if values is not None else Sequence([])
    parts = [v for v in values.elements if isinstance(v, Tensor)] if isinstance(values, Sequence) else []
    if any(part.batch == Batch("example", 0) for part in parts) and _is_behind_rows(axis, parts):
        for part in parts:
            take_rows(call, part)
    made, at = moving.concat(values, axis, _count(call.walk.facts, values)), moving.axis_numbers(axis)
    each = parts[0].lengths if parts else None
    if made.batch.kind == "free" and each and isinstance(at, tuple) and _is_one_for_each(call, values):
        place = at[0] % len(each)
        made.batch = Batch("example", place, factors.product((BATCH, each[place])))
    return made


def _count(facts: Facts, values: Value) -> Value | None:
    """How many pieces a split gives, or turns a comprehension takes, `[f(i) for i in range(n)]`; None for others."""
    if not isinstance(values, Sequence) or values.open or values.ends:
        return None
    if len(values.elements) == 1 and values.inputs and getattr(values.elements[0], "op", "") == "split":
        return values.inputs[0]
    over = facts.listed.get(values.uid)
    changed = any(effect.value is values for effect in facts.effects_of(EffectKind.MUTATION))
    bounds = facts.ranges.get(over.uid, []) if over is not None and not changed else []
    return bounds[0] if len(bounds) == 1 else None


def _is_behind_rows(axis: Value | None, parts: list[Tensor]) -> bool:
    """Whether parts are put beside each other row by row, along another axis than the first."""
    axes = moving.axis_numbers(axis)
    at = axes[0] if isinstance(axes, tuple) and axes else 0
    rank = next((part.rank for part in parts if part.rank is not None), 0)
    return at > 0 or at + rank > 0 > at


def _stack(call: Call) -> Value:
    axis, values = call.constant(1, "axis"), call.get(0, "values")
    if isinstance(values, Tensor) and axis in (None, 0):
        return values  # TensorFlow takes a tensor for a list that is stacked already (array_ops.py, 1.15)
    stacked = algebra.stack(values or Sequence([]), axis if isinstance(axis, int) else 0)
    stacked.inputs = (*stacked.inputs, *call.values())
    if stacked.batch.kind == "free" and stacked.rank is not None and _is_one_for_each(call, values):
        stacked.batch = Batch("example", (axis if isinstance(axis, int) else 0) % stacked.rank)
    return stacked


def _is_one_for_each(call: Call, values: Value | None) -> bool:
    """Whether a list holds the same for each example: `[x for _ in range(batch_size)]`."""
    facts = call.walk.facts
    over = facts.listed.get(values.uid) if values is not None else None
    if not isinstance(values, Sequence) or not isinstance(over, Sequence):
        return False
    turns, made = {turn.uid for turn in over.elements}, needed(values.elements).values()
    own = (v for v in made if v.uid in turns or (v.time > over.time and isinstance(v, (Variable, Input, Host))))
    count = _count(facts, values)
    return next(own, None) is None and count is not None and shaping.stands_for_batch(facts, count)


def _unstack(call: Call) -> Value:
    shape = call.get(0, "value")
    if isinstance(shape, ShapeOf) and shape.tensor.rank is not None:
        return Sequence(iterate(shape, None), mutable=True)
    axis = call.constant(2, "axis")
    tensor = call.tensor(0, "value")
    axis = axis if isinstance(axis, int) else 0
    count = call.constant(1, "num")
    if count is None and tensor.dims is not None and axis < len(tensor.dims):
        count = tensor.dims[axis]
    made = call.parts(count, lambda: moving.unstacked(tensor, axis))
    for part in made.elements:
        part.inputs = (*part.inputs, *call.values())
    return made


def _split(call: Call) -> Value:
    tensor, sizes = call.tensor(0, "value"), call.get(1, "num_or_size_splits")
    axis = call.constant(2, "axis", "split_dim")
    if isinstance(call.get(0), Number):  # the order before TensorFlow 1.0
        tensor, sizes, axis = call.tensor(2, "value"), call.get(1), call.constant(0)
    at = axis if isinstance(axis, int) else 0
    if at < 0:
        at = at + tensor.rank if tensor.rank is not None else 99
    kept = tensor.batch
    if kept.kind == "example" and kept.axis == at:
        kept = opaque(Why.PIECES if _is_fixed(call, sizes) else Why.SPLIT)
    count = len(sizes.elements) if isinstance(sizes, Sequence) else getattr(sizes, "value", None)
    pieces = count if isinstance(sizes, Sequence) else how_many(sizes)
    if tensor.batch.kind == "example" and tensor.batch.axis == at and pieces is not None:
        one = factors.without(tensor.batch.rows, pieces)
        kept = kept if one is None else Batch("example", at, one)
    dims = _split_lengths(tensor, at, sizes)
    made = call.parts(count, lambda: Tensor(kept, call.values(), dims, "split"))
    made.inputs = (sizes,) if made.many and sizes is not None else ()
    return made


def _split_lengths(tensor: Tensor, at: int, sizes: Value | None) -> Lengths:
    """The lengths of each piece of a split; of pieces of several sizes, None along the axis."""
    if tensor.lengths is None:
        return None
    count = of_number(sizes) if isinstance(sizes, Number) else None
    return tuple(part_of(length, count) if i == at else length for i, length in enumerate(tensor.lengths))


def _is_fixed(call: Call, sizes: Value | None) -> bool:
    """True if the number of pieces, or their sizes, are literals or known not to depend on the batch size."""
    if isinstance(sizes, Sequence):
        return not sizes.many and bool(sizes.elements)
    return isinstance(sizes, Number) and not shaping.stands_for_batch(call.walk.facts, sizes)


def _tile(call: Call) -> Value:
    tensor = call.tensor(0, "input")
    entries = shaping.shape_entries(call.get(1, "multiples"))
    axis = shaping.batch_entry(call.walk.facts, entries)
    dims = _repeated(tensor, entries)
    if tensor.batch.kind == "free" and entries and axis is not None:
        entry = entries[axis]
        if isinstance(entry, Count) and entry.scaled:  # identical rows, as many as there are examples
            return Tensor(FREE, call.values(), (None,) * len(entries), "tile")
        return Tensor(Batch("example", axis), call.values(), (None,) * len(entries), "tile")
    if tensor.batch.kind == "example" and entries is not None and len(entries) > tensor.batch.axis:
        entry = entries[tensor.batch.axis]
        if not (isinstance(entry, Number) and entry.value == 1):
            rows = factors.product((how_many(entry), *tensor.batch.rows))
            return Tensor(Batch("example", tensor.batch.axis, rows), call.values(), dims, "tile")
    elif tensor.batch.kind == "example":
        return Tensor(opaque(Why.MULTIPLES), call.values(), None, "tile")
    return Tensor(tensor.batch, call.values(), dims, "tile")


def _repeated(tensor: Tensor, entries: list[Value] | None) -> Lengths:
    """The lengths of a tensor that is repeated along its axes."""
    lengths = tensor.lengths
    if lengths is None or entries is None or len(entries) != len(lengths):
        return None if lengths is None else (None,) * len(lengths)
    return tuple(map(_times, lengths, shaping.lengths_of(entries) or ()))


def _times(length: Factor, number: Factor) -> Factor:
    both = length * number if isinstance(length, int) and isinstance(number, int) else None
    return number if length == 1 else length if number == 1 else both


def _size(call: Call) -> Value:
    """The number of entries: of a vector that of the examples, of any other tensor several for each."""
    tensor = call.tensor(0, "input")
    if tensor.batch.kind != "example":
        return Number(None, inputs=(tensor,))
    return Count(tensor, scaled=tensor.rank != 1 or bool(tensor.batch.packed))


def _broadcast_to(call: Call) -> Value:
    """A tensor repeated to a shape: its axes are the last ones of the result; in front of them is no batch."""
    tensor, shape = call.tensor(0, "input"), call.get(1, "shape")
    entries = shaping.shape_entries(shape)
    if isinstance(shape, ShapeOf):
        return algebra.elementwise(call.walk.facts, "add", [tensor, *shape.inputs])
    axis = shaping.batch_entry(call.walk.facts, entries)
    if tensor.batch.kind == "free":
        kept = Batch("example", axis) if axis is not None else FREE
        return call.gives(kept, shaping.lengths_of(entries))
    if tensor.batch.kind != "example" or entries is None or tensor.rank is None or axis is None:
        return call.gives(opaque(Why.UNKNOWN_CALL, f"tf.{call.name}"))
    if tensor.batch.axis + len(entries) - tensor.rank != axis:
        return call.gives(opaque(Why.UNKNOWN_CALL, f"tf.{call.name}"))
    return moving.moved(tensor, axis, shaping.lengths_of(entries), call.name, call.values())


def _pad(call: Call) -> Value:
    tensor, paddings = call.tensor(0, "tensor"), _written_out(call, call.get(1, "paddings"))
    rows = paddings.elements if isinstance(paddings, Sequence) else []
    kept, axis = tensor.batch, tensor.batch.axis
    if kept.kind == "example":
        row = _written_out(call, rows[axis]) if axis < len(rows) else None
        ends = [getattr(e, "value", None) for e in row.elements] if isinstance(row, Sequence) else [None]
        kept = kept if all(end == 0 for end in ends) else opaque(Why.PADDED)
    dims = None if tensor.dims is None else (None,) * len(tensor.dims)
    return call.gives(kept, dims)


def _written_out(call: Call, value: Value | None) -> Value | None:
    """The Python list behind a `tf.constant`, or behind an array that nothing changes; any other value unchanged."""
    if isinstance(value, Tensor) and value.inputs and (has(value.op, Trait.TAKES_ARRAY) or value.op == "stack"):
        made_of = _written_out(call, value.inputs[0])
    elif isinstance(value, Host) and value.call.rpartition(".")[2] in ("array", "asarray", "int32", "int64"):
        made_of = next((v for v in value.inputs if isinstance(v, Sequence) and not _may_change(call, value)), None)
    else:
        made_of = None
    return made_of if isinstance(made_of, Sequence) else value


def _may_change(call: Call, array: Host) -> bool:
    """True if an entry of the array was assigned, or the array was passed to code that is not followed."""
    facts = call.walk.facts
    if array.uid in facts.set_in or array.uid in facts.given_to_host:
        return True
    handed = (e.value for e in facts.effects_of(EffectKind.UNFOLLOWED) if isinstance(e.value, Host))
    return any(array in made.inputs for made in handed)


def _matrix_transpose(call: Call) -> Value:
    tensor = call.tensor(0, "a")
    if tensor.rank == 2:
        return moving.transpose(tensor, None)
    if tensor.rank is None and tensor.batch.kind == "example":
        return call.gives(opaque(Why.UNKNOWN_RANK_TRANSPOSED))
    return IN_PLACE(call)


def _reverse(call: Call) -> Value:
    tensor = call.tensor(0, "tensor", "input")
    axes = moving.axis_numbers(call.get(1, "axis", "dims"))
    turned = tensor.batch.kind == "example" and (not isinstance(axes, tuple) or tensor.batch.axis in axes)
    return call.gives(opaque(Why.REVERSED) if turned else tensor.batch, tensor.lengths)


def _slice(call: Call) -> Value:
    tensor = call.tensor(0, "input_")
    begin, size = shaping.shape_entries(call.get(1, "begin")), shaping.shape_entries(call.get(2, "size"))
    batch = tensor.batch if tensor.batch.kind != "example" else _cut(call, tensor, begin, size)
    return call.gives(batch, _sliced(tensor, begin, size))


def _sliced(tensor: Tensor, begin: list[Value] | None, size: list[Value] | None) -> Lengths:
    """The lengths of a slice: an axis that is taken from its begin to its end keeps its length."""
    told = shaping.lengths_of(size)
    if tensor.lengths is None or begin is None or size is None or not len(begin) == len(size) == len(tensor.lengths):
        return told
    bounds = [tuple(getattr(v, "value", None) for v in pair) for pair in zip(begin, size, strict=True)]
    whole = [pair == (0, -1) for pair in bounds]
    return tuple(own if kept else new for own, new, kept in zip(tensor.lengths, told or (), whole, strict=True))


def _strided_slice(call: Call) -> Value:
    tensor = call.tensor(0, "input_")
    begin, end = shaping.shape_entries(call.get(1, "begin")), shaping.shape_entries(call.get(2, "end"))
    if tensor.batch.kind != "example":
        found = window(call.walk.facts, tensor, call.values()[1:], len(begin or ()))
        whole = begin is not None and getattr(begin[0], "value", None) == 0
        return found if found and whole else call.gives(tensor.batch)
    lengths = None if tensor.rank is None else (None,) * tensor.rank
    return call.gives(_cut(call, tensor, begin, end), lengths)


def _cut(call: Call, tensor: Tensor, begin: list[Value] | None, bounds: list[Value] | None) -> Batch:
    """The batch of a slice that takes so many rows (`tf.slice`), or those up to a number (`tf.strided_slice`)."""
    axis, facts = tensor.batch.axis, call.walk.facts
    given = (*(begin or ())[axis : axis + 1], *(bounds or ())[axis : axis + 1])
    if len(given) < 2 or getattr(given[0], "value", None) != 0:
        return _part(call, given)
    if call.name == "slice" and getattr(given[1], "value", None) == -1:
        return tensor.batch
    if tensor.batch.packed and shaping.is_one_batch(facts, given[1]):
        rows = factors.first(tensor.batch.rows)
        return opaque(Why.PART) if rows is None else Batch("example", axis, rows)
    fraction = shaping.is_fraction(facts, given[1]) and not (tensor.batch.packed and isinstance(given[1], Count))
    counts = isinstance(given[1], Count) or shaping.stands_for_batch(facts, given[1])
    return tensor.batch if counts and not fraction else _part(call, given)


def _part(call: Call, bounds: Iterable[Value]) -> Batch:
    """A part of the batch; one of its halves, for which a shard's would be taken, if its bounds are fractions of it."""
    pieces = any(shaping.is_fraction(call.walk.facts, bound) for bound in bounds)
    return opaque(Why.PIECES if pieces else Why.PART)


def _gather(call: Call) -> Value:
    params, indices = call.tensor(0, "params"), call.tensor(1, "indices")
    axis = call.constant(4, "axis") or call.kwargs.get("axis")
    axis = axis if isinstance(axis, int) else 0
    return gathered(call.walk.facts, params, indices, axis, tuple(call.values()), call.name)


def _gather_nd(call: Call) -> Value:
    """One entry for each example: of a table, or where the numbers of the rows come first: `[range(batch), …]`."""
    params, indices = call.tensor(0, "params"), call.tensor(1, "indices")
    if params.batch.kind == indices.batch.kind == "free":
        return call.gives(FREE)
    if (left := left_by(mask_of(indices), params, tuple(call.values()), call.name)) is not None:
        return left
    rows, width = indices.dims if indices.dims and len(indices.dims) == 2 else (None, None)
    picked = None if params.lengths is None or width is None else (rows, *params.lengths[width:])
    each = indices.batch.kind == "example" and indices.batch.axis < (indices.rank or 0) - 1
    if params.batch.kind == "free" and each and not own_row_first(indices, indices.batch.rows):
        return call.gives(indices.batch, picked)
    in_front = params.batch.kind == "example" and params.batch.axis == 0
    if in_front and own_row_first(indices, params.batch.rows):
        return call.gives(indices.batch, picked)
    if params.batch.kind == "example" and are_fed(indices):
        return call.gives(opaque(Why.PLACES_FED, call.name))
    if params.batch == Batch("example", 0) and indices.batch.why in UNSEEN_CODE:
        return call.gives(indices.batch)
    return call.gives(opaque(Why.PICKED_BY_PLACE), picked)


def _to_dense(call: Call) -> Value:
    tensor = call.tensor(0, "sp_input")
    taken_as_sparse(tensor)
    return call.gives(tensor.batch, tensor.lengths)


def _one_hot(call: Call) -> Value:
    indices = call.tensor(0, "indices")
    depth = call.constant(1, "depth")
    dims = None if indices.lengths is None else (*indices.lengths, depth if isinstance(depth, int) else None)
    axis = call.constant(4, "axis")
    if isinstance(axis, int) and axis >= 0 and indices.batch.kind == "example":
        return moving.moved(indices, indices.batch.axis + (axis <= indices.batch.axis), None, call.name, call.values())
    return call.gives(indices.batch, dims)


def _matrix(value: Value) -> Value:
    tensor = algebra.as_tensor(value)
    return tensor if tensor.rank is not None else Tensor(tensor.batch, (tensor,), (None, None), tensor.op)


def _matmul(call: Call) -> Value:
    left, right = call.get(0, "a"), call.get(1, "b")
    if left is None or right is None:
        return Tensor(inputs=call.values())
    if call.name in SPARSE_PRODUCTS:  # of matrices, whatever is known of their shapes
        taken_as_sparse(left)
        turned = [call.flag(2, "adjoint_a"), call.flag(3, "adjoint_b")]
        if not any(turned) and _is_over_batch(left, right):
            return Tensor(other(Why.WHOLE_GRAPH), call.values(), (None, None), "matmul")
        left, right = (_matrix(v) for v in (left, right))
    turned = [call.flag(2, "transpose_a", "adjoint_a"), call.flag(3, "transpose_b", "adjoint_b")]
    result = algebra.matmul(left, right, *turned)
    result.inputs = tuple(call.values())
    return result


def _is_over_batch(left: Value, right: Value) -> bool:
    """Whether rows of a sparse input are multiplied with a matrix that is made, in whatever way, of another batch.

    So a graph's edges take what is computed of its nodes: each row of the product needs all of them.
    """
    edges = isinstance(left, Input) and left.batch.kind == "example"
    made = isinstance(right, Tensor) and right.batch.kind == "opaque" and bool(right.roots - {left})
    return edges and made


def _xw_plus_b(call: Call) -> Value:
    columns = (call.tensor(1, "weights").lengths or (None,))[-1]
    return call.gives(call.tensor(0, "x").batch, (None, columns))


def _tensordot(call: Call) -> Value:
    """The axes of the first tensor that are not summed over, and behind them those of the second one."""
    tensors = call.tensor(0, "a"), call.tensor(1, "b")
    summed = _summed_axes(call.get(2, "axes"), tensors[0].rank, tensors[1].rank)
    left = [_axes_left(tensor, axes) for tensor, axes in zip(tensors, summed, strict=True)]
    lengths = (*left[0], *left[1]) if left[0] is not None and left[1] is not None else None
    batched = [place for place, tensor in enumerate(tensors) if tensor.batch.kind != "free"]
    if not batched:
        return call.gives(FREE, lengths)
    batch, axes = tensors[batched[0]].batch, summed[batched[0]]
    in_front = () if batched[0] == 0 else left[0]
    if len(batched) > 1 or batch.kind != "example" or axes is None or batch.axis in axes or in_front is None:
        return call.gives(opaque(Why.TENSORDOT))
    before = len([axis for axis in axes if axis < batch.axis])
    return call.gives(replace(batch, axis=batch.axis - before + len(in_front)), lengths)


def _axes_left(tensor: Tensor, summed: tuple[int, ...] | None) -> Lengths:
    """The lengths of the axes of a tensor that are not summed over; None where they are not known."""
    if tensor.lengths is None or summed is None:
        return None
    return tuple(length for axis, length in enumerate(tensor.lengths) if axis not in summed)


def _summed_axes(axes: Value | None, one: int | None, two: int | None) -> list[tuple[int, ...] | None]:
    """The axes over which `tf.tensordot` sums, of tensors of two ranks; None for unknown ones.

    Of a tensor of unknown rank the last ones are not the first.
    """
    number = getattr(axes, "value", None)
    if isinstance(number, int):
        return [() if one is None else tuple(range(one - number, one)), tuple(range(number))]
    both = axes.elements if isinstance(axes, Sequence) and not axes.unmeasured else []
    return [_from_front(both[0], one), _from_front(both[1], two)] if len(both) == 2 else [None, None]


def _from_front(axes: Value, rank: int | None) -> tuple[int, ...] | None:
    """Axes counted from the front; None for unknown ones."""
    numbers = moving.axis_numbers(axes)
    known = tuple(a + rank if a < 0 and rank else a for a in numbers) if isinstance(numbers, tuple) else (-1,)
    return None if min(known, default=0) < 0 else known


def _einsum(call: Call) -> Value:
    equation = call.constant(0, "equation")
    operands = [algebra.as_tensor(v) for v in call.args[1:]]
    batched = [(i, t) for i, t in enumerate(operands) if t.batch.kind != "free"]
    unknown = next((t.batch for _, t in batched if t.batch.kind == "opaque"), None)
    if not batched or unknown is not None:
        return call.gives(unknown or FREE)
    if not isinstance(equation, str) or any(t.batch.kind != "example" for _, t in batched):
        return call.gives(opaque(Why.SUMMED_PRODUCT))
    terms, result = _einsum_terms(equation)
    places = {_einsum_letter(terms[i], t) if i < len(terms) else None for i, t in batched}
    place = places.pop() if len(places) == 1 else None
    if place is None:
        return call.gives(opaque(Why.SUMMED_PRODUCT))
    dims = None if "." in result else (None,) * len(result)
    mark = "..." if isinstance(place, int) else place
    if mark in result:
        axis = result.index(mark) + (place if isinstance(place, int) else 0)
        return call.gives(Batch("example", axis), dims)
    return call.gives(Batch("reduced", how="sum"), dims)


def _einsum_terms(equation: str) -> tuple[list[str], str]:
    """The operands' indices and the result's; without an arrow that has, in order, the letters that stand once."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    once = "".join(sorted(letter for letter in left if letter.isalpha() and left.count(letter) == 1))
    return left.split(","), result if arrow else ("..." if "..." in left else "") + once


def _einsum_letter(term: str, tensor: Tensor) -> str | int | None:
    """The letter of the batch axis; its number among the axes that `...` in front stands for; None if neither is known.

    TensorFlow takes `...` from 1.14 on (special_math_ops.py).
    """
    axis = tensor.batch.axis
    front, dots, back = term.partition("...")
    if axis < len(front):
        return front[axis]
    if not dots or tensor.rank is None:
        return None
    wide = tensor.rank - len(front) - len(back)
    inside = axis - len(front)
    return inside if inside < wide else back[inside - wide]


def _filled(call: Call) -> Value:
    """A tensor filled to a shape: a row for each example, or several, where the batch size is in the shape."""
    entries = shaping.shape_entries(call.get(0, "shape", "dims"))
    return call.gives(shaping.batch_of_shape(call.walk.facts, entries), shaping.lengths_of(entries))


def _range(call: Call) -> Value:
    """Numbers, of the rows of the batch where they end with it."""
    bounds = len(call.args) > 1 or bool(call.args and "limit" in call.kwargs)
    limit = call.args[1] if len(call.args) > 1 else call.get(-1 if bounds else 0, "limit")
    start = call.args[0] if bounds else call.kwargs.get("start")
    given = ((start, 0), (call.get(2, "delta"), 1))
    own = all(value is None or getattr(value, "value", None) == number for value, number in given)
    name = call.name if own else OTHER_RANGE
    rows = FREE if limit is None else shaping.batch_of_shape(call.walk.facts, [limit])
    if rows.kind == "example":
        made = Tensor(rows, call.values(), (None,), name)
        call.walk.facts.several_rows.update([made.uid] if rows.packed else [])
        return made
    count = shaping.lengths_of([limit]) if limit is not None and own else (None,)
    return Tensor(FREE, _bounds(start, limit, call.get(2, "delta")), count, name)


def _bounds(start: Value | None, limit: Value | None, delta: Value | None) -> list[Value]:
    """The bounds of a range in the order of its arguments: a single one is the limit (math_ops.range, 1.15)."""
    start, limit = (start, limit) if limit is not None else (None, start)
    start = Number(0) if start is None and delta is not None else start
    return [bound for bound in (start, limit, delta) if bound is not None]


def _eye(call: Call) -> Value:
    if shaping.batch_entry(call.walk.facts, call.args[:1]) == 0:
        return call.gives(opaque(Why.PAIRED), (None, None))
    return call.gives(FREE, None if call.get(2, "batch_shape") is not None else (None, None))


def _shuffled(call: Call) -> Value:
    """`random_shuffle`: another order along the first axis, the same for all that lies along others."""
    tensor = call.tensor(0, "value")
    along = tensor.batch.kind == "example" and tensor.batch.axis == 0
    kept = opaque(Why.UNKNOWN_CALL, f"tf.{call.name}") if along else tensor.batch
    return call.gives(kept, tensor.lengths)


def _boolean_mask(call: Call) -> Value:
    """The rows where the mask is true: any number of them for each example."""
    tensor = call.tensor(0, "tensor")
    result = call.gives(tensor.batch)
    if tensor.batch.kind == "example":
        apart = tensor.batch.axis or tensor.batch.packed == "minor"
        result.batch = Batch("example", 0, ((None,) if apart else ()) + (BATCH, None), over=Counted(result, "rows"))
    return result


def _has_rows_of_batch(facts: Facts, value: Value | None) -> bool:
    """Whether a list of numbers, or a constant made of it, has one for each example: `[steps] * batch_size`."""
    if isinstance(value, Sequence):
        return any(shaping.stands_for_batch(facts, part) for part in value.inputs if part not in value.elements)
    copied = isinstance(value, Tensor) and value.op in ("constant", "convert_to_tensor", "cast")
    copied = copied or isinstance(value, Host) and value.call in ("numpy.array", "numpy.asarray")
    return copied and value is not None and any(_has_rows_of_batch(facts, part) for part in value.inputs)


def _sequence_mask(call: Call) -> Value:
    lengths = call.tensor(0, "lengths")
    longest = call.get(1, "maxlen")
    if lengths.batch.kind == "free" and _has_rows_of_batch(call.walk.facts, call.get(0, "lengths")):
        lengths = Tensor(Batch("example", 0), (lengths,), (None,))
    if lengths.batch.kind == "example" and (longest is None or isinstance(longest, Constant) and longest.value is None):
        call.walk.effect(EffectKind.LONGEST, call.name, lengths, call.node)
    dims = None if lengths.lengths is None else (*lengths.lengths, None)
    return call.gives(lengths.batch, dims)


def _constant(call: Call) -> Value:
    value = call.get(0, "value")
    entries = shaping.shape_entries(call.get(2, "shape"))
    entries = _filled_rows(call, value) if entries is None else entries
    if entries is None and (data := data_constant(call.walk, value, call.node)) is not None:
        return data
    if entries is None and (numbers := _row_numbers(call, value)) is not None:
        return numbers
    dims = shaping.lengths_of(entries)
    if dims is None and value is not None:
        known = () if isinstance(value, Constant) else shape_of(value)
        dims = known if known is not None else algebra.as_tensor(value).lengths
    axis = shaping.batch_entry(call.walk.facts, entries)
    if entries is None and isinstance(value, Sequence):
        return call.gives(_of_one_row(call, value), dims)
    return call.gives(Batch("example", axis) if axis is not None else FREE, dims)


def _filled_rows(call: Call, value: Value | None) -> list[Value] | None:
    """The shape of an array of one number that has a row for each example; what is put into it is alike in all rows."""
    facts, entries = call.walk.facts, filled_shape(value)
    if value is None or shaping.batch_entry(facts, entries) != 0:
        return None
    put = (access for access in facts.accesses if access.write and access.place.owner == value.uid)
    return entries if all(_is_put_into_columns(access, len(entries or ())) for access in put) else None


def _is_put_into_columns(access: Access, rank: int) -> bool:
    """Whether a number, or an array of one number, is put into the same columns of all rows: `array[:, 3] = 1`."""
    index = access.node.slice if isinstance(access.node, ast.Subscript) else None
    indexes = index.elts if isinstance(index, ast.Tuple) and index.elts else [index]
    first = indexes[0]
    whole = isinstance(first, ast.Slice) and (first.lower, first.upper, first.step) == (None, None, None)
    whole |= isinstance(first, ast.Constant) and first.value is Ellipsis and len(indexes) <= rank
    return whole and (isinstance(access.value, Number) or filled_shape(access.value) is not None)


def _of_one_row(call: Call, rows: Sequence) -> Batch:
    """The batch of a list of one row for each example: `[start] * batch_size`."""
    times = [part for part in rows.inputs if part not in rows.elements]
    one = len({row.uid for row in rows.elements}) == len(times) == 1
    return shaping.batch_of_shape(call.walk.facts, times) if one else FREE


def _row_numbers(call: Call, value: Value | None) -> Tensor | None:
    """The numbers of the rows as `tf.range` gives them: of `list(range(batch_size))` and `np.arange(batch_size)`."""
    facts = call.walk.facts
    counted = facts.listed.get(value.uid, value) if value is not None else None
    ends = facts.ranges.get(counted.uid) if counted is not None else None
    if isinstance(counted, Host) and counted.call == "numpy.arange":
        ends = [v for v in counted.inputs if isinstance(v, (Number, Count))]
    begins = not ends or len(ends) == 1 or (len(ends) == 2 and getattr(ends[0], "value", None) == 0)
    rows = shaping.batch_of_shape(facts, ends[-1:]) if ends and begins else FREE
    return Tensor(rows, call.values(), (None,), RANGE) if rows.kind == "example" else None


def _linspace(call: Call) -> Value:
    entries = [count] if (count := call.get(2, "num")) is not None else None
    return Tensor(inputs=call.values(), lengths=shaping.lengths_of(entries), op=call.name)


def _convert(call: Call) -> Value:
    """A tensor is handed back as it is; anything else becomes one."""
    value = call.get(0, "value")
    batched = value is not None and (value.roots or any(t.batch.kind != "free" for t in tensors_in(value)))
    return algebra.as_tensor(value) if value is not None and batched else _constant(call)


# The first argument with its axes in place.
IN_PLACE = keeps("tensor", "input", "images", "image", "x", "input_", lengths=rank_alone)
SPARSE_PRODUCTS = ("sparse_tensor_dense_matmul", "sparse.sparse_dense_matmul", "sparse.matmul")
POSITIONS: dict[Argument, dict[str, int]] = {
    Argument.DTYPE: {"zeros": 1, "ones": 1, "random_normal": 3, "truncated_normal": 3, "random_uniform": 3},
}

TRAITS: dict[Trait, str] = {
    Trait.CUTS: "slice strided_slice subscript",
    Trait.COMPUTES_ONE: "squeeze transpose expand_dims reshape shape ones zeros",
    Trait.MASKS: "boolean_mask",
    Trait.DATA_SECOND: "nn.embedding_lookup",
    Trait.PRODUCT: "matmul",
    Trait.TRANSPOSES: "transpose",
    Trait.ANY_PRODUCT: " ".join(("matmul", "batch_matmul", "linalg.matmul", *SPARSE_PRODUCTS)),
    Trait.TAKES_LONGEST: "sequence_mask",
    Trait.FLOAT32_UNLESS_FILLED: "one_hot",
    Trait.DATA_PAIR: "matmul",
    Trait.DATA_FIRST: "reshape expand_dims one_hot",
    Trait.ADDS: "stack concat",
    Trait.CONCATENATES: "concat",
    Trait.COUNTS: (
        "sequence_mask reshape expand_dims squeeze one_hot stack range unstack transpose concat convert_to_tensor "
        "constant"
    ),
    Trait.ANY_AXIS: "matmul transpose constant",
    Trait.KEEPS_SPARSE: "sparse_reorder sparse.reorder sparse.retain sparse_retain sparse_fill_empty_rows",
    Trait.MAKES_SPARSE: "SparseTensor SparseTensorValue",
    Trait.TAKES_SPARSE_ROWS: "matmul",
    Trait.OWN_DTYPE: "constant convert_to_tensor one_hot shape size",
    Trait.KEEPS_ROW_NUMBERS: "expand_dims tile reshape cast to_int32 to_int64 identity",
    Trait.SAME_NUMBERS: "squeeze reshape",
    Trait.PASSES_ROW_NUMBERS: "expand_dims squeeze reshape tile stack concat transpose",
    Trait.LOOKS_UP: "gather",
    Trait.DENSE_GRADIENT: "matmul transpose reduce nn.xw_plus_b",
    Trait.DRAWS_ROWS: (
        "random_normal random_uniform truncated_normal random_truncated_normal random_gamma random_poisson"
    ),
    Trait.SHUFFLES_ROWS: "random_shuffle random.shuffle",
    Trait.TOLD_WIDTH: "one_hot sequence_mask contrib.layers.one_hot_encoding contrib.slim.one_hot_encoding",
    Trait.ROW_BY_ROW: "concat",
    Trait.TAKES_ARRAY: "constant convert_to_tensor",
    Trait.BESIDE_ROWS: "boolean_mask",
    Trait.TAKES_ROWS: "gather gather_nd",
}

CALLS: dict[str, Handler] = table(
    ("reshape", _reshape),
    ("random_shuffle", _shuffled),
    ("transpose", _moved(moving.transpose, ("a", "x"), "perm")),
    ("matrix_transpose", _matrix_transpose),
    ("pad", _pad),
    ("expand_dims", _expand_dims),
    ("linspace lin_space", _linspace),
    ("squeeze", _moved(moving.squeeze, ("input",), "axis", "squeeze_dims")),
    ("concat concat_v2", _concat),
    ("stack pack parallel_stack", _stack),
    ("unstack unpack", _unstack),
    ("split", _split),
    ("tile", _tile),
    ("shape", lambda call: ShapeOf(call.tensor(0, "input"))),
    ("size", _size),
    ("rank", lambda call: Number(call.tensor(0, "input").rank)),
    ("broadcast_to", _broadcast_to),
    ("reverse_sequence space_to_depth depth_to_space nn.space_to_depth nn.depth_to_space reverse_v2_", IN_PLACE),
    ("sparse_tensor_to_dense sparse.to_dense", _to_dense),
    ("reverse reverse_v2", _reverse),
    ("slice", _slice),
    ("strided_slice", _strided_slice),
    ("gather", _gather),
    ("gather_nd", _gather_nd),
    ("one_hot contrib.layers.one_hot_encoding contrib.slim.one_hot_encoding", _one_hot),
    (("matmul", "batch_matmul", "linalg.matmul", *SPARSE_PRODUCTS), _matmul),
    ("nn.xw_plus_b nn.relu_layer", _xw_plus_b),
    ("tensordot", _tensordot),
    ("einsum", _einsum),
    (
        "zeros ones fill random_normal random_uniform truncated_normal random_truncated_normal random_gamma "
        "random_poisson",
        _filled,
    ),
    ("range", _range),
    ("eye", _eye),
    ("boolean_mask", _boolean_mask),
    ("sequence_mask", _sequence_mask),
    ("constant", _constant),
    ("convert_to_tensor", _convert),
)
