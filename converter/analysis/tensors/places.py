"""Numbers of rows: whether places in a batch are the rows' own numbers, or numbers that are fed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from converter.analysis.reasons import Why
from converter.analysis.tensors.factors import alike
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    BATCH,
    EXAMPLE,
    FREE,
    ROWS,
    Axis,
    Batch,
    Counted,
    Input,
    Number,
    Sequence,
    Tensor,
    Value,
    needed,
    opaque,
)

if TYPE_CHECKING:
    from converter.analysis.facts import Facts

RANGE = "range"  # the operation that numbers rows: from 0, one by one
OTHER_RANGE = "range of other numbers"
RANGES = (RANGE, OTHER_RANGE)


def own_row_first(places: Tensor, rows: Axis = ROWS) -> bool:
    """Whether each row of indices begins with the number of its own row: `stack([range(batch), …], 1)`.

    Rows of pixels too, one example behind the other: `transpose(reshape(stack([numbers, …]), [4, pixels]))`.
    rows: those that are numbered, such as the words of all examples.
    """
    columns = _columns(places)
    first = columns.elements[0] if columns is not None and columns.elements and not columns.unmeasured else None
    in_front = places.batch.kind == "example" and places.batch.axis == 0 and places.batch.packed != "minor"
    return isinstance(first, Tensor) and holds_its_row(first, rows) and in_front


def _columns(places: Tensor) -> Sequence | None:
    """What stands beside each other in the rows of indices; None where that is not seen."""
    source = next((v for v in places.inputs if isinstance(v, Tensor)), None)
    if places.op == "concat" or places.op == "stack":
        columns = next((v for v in places.inputs if isinstance(v, Sequence)), None)
        first = columns.elements[0] if columns is not None and columns.elements else None
        if places.op == "concat":
            beside = isinstance(first, Tensor) and _axis_of(places) in (1, -1) and first.rank == 2
        else:
            beside = isinstance(first, Tensor) and is_last(places, first)
        return columns if beside else None
    if source is not None and places.op == "reshape":
        columns = _columns(source)
        return columns if columns is not None and _is_many(places, -1, columns) else None
    turned = places.op == "transpose" and places.rank == 2 and places.batch.axis == 0
    return _lines(source) if turned and source is not None else None


def _lines(turned: Tensor) -> Sequence | None:
    """What stands below each other in indices that are transposed later."""
    source = next((v for v in turned.inputs if isinstance(v, Tensor)), None)
    if turned.op == "stack" and _axis_of(turned) in (0, None):
        return next((v for v in turned.inputs if isinstance(v, Sequence)), None)
    lines = _lines(source) if turned.op == "reshape" and source is not None else None
    return lines if lines is not None and turned.rank == 2 and _is_many(turned, 0, lines) else None


def _is_many(tensor: Tensor, axis: int, columns: Sequence) -> bool:
    """Whether an axis is as long as there are columns."""
    return tensor.lengths is not None and tensor.lengths[axis] == len(columns.elements)


def holds_its_row(tensor: Tensor, rows: Axis = ROWS) -> bool:
    """Whether each row holds only its own index in the batch, as `tf.range(batch_size)` and tiled copies do."""
    own = tensor.batch.rows
    same = own == rows or (ROWS not in (own, rows) and alike(own, rows))
    return same and tensor.batch.kind == "example" and tensor.batch.axis == 0 and count_rows(tensor)


def count_rows(tensor: Tensor) -> bool:
    """Whether a tensor is `tf.range` over the batch, in another shape or repeated for each row."""
    if tensor.op == RANGE:
        return tensor.batch.kind == "example"
    if tensor.op == "multiply":  # `numbers * tf.ones_like(x)`: the same number for each entry of a row
        return _count_beside(tensor, Trait.ONES)
    if tensor.op == "add":
        return _count_beside(tensor, Trait.ZEROS)
    first = tensor.inputs[0] if tensor.inputs else None
    return has(tensor.op, Trait.KEEPS_ROW_NUMBERS) and isinstance(first, Tensor) and count_rows(first)


def _count_beside(tensor: Tensor, filled: Trait) -> bool:
    """Whether one operand numbers the rows, and the other, of ones or zeros, only gives its shape."""
    numbers = [t for t in tensor.inputs if not _is_filled(t, filled)]
    return len(numbers) == 1 < len(tensor.inputs) and isinstance(numbers[0], Tensor) and count_rows(numbers[0])


def _is_filled(operand: Value, filled: Trait) -> bool:
    while isinstance(operand, Tensor) and has(operand.op, Trait.KEEPS_ROW_NUMBERS) and operand.inputs:
        operand = operand.inputs[0]
    return isinstance(operand, Tensor) and has(operand.op, filled)


def is_last(stacked: Tensor, part: Tensor) -> bool:
    """Whether tensors are stacked along a new last axis."""
    axis = _axis_of(stacked)
    return axis == -1 or (axis or 0) == (1 if part.op == RANGE else part.rank)


def _number_several_rows(facts: Facts, places: Tensor) -> bool:
    """Whether places follow from `tf.range(2 * n)`, n examples: which example's rows these are is not seen."""
    return bool(facts.several_rows) and not facts.several_rows.isdisjoint(needed([places]))


def _axis_of(joined: Tensor) -> int | float | None:
    return next((v.value for v in joined.inputs if isinstance(v, Number)), None)


def are_fed(places: Tensor) -> bool:
    """Whether numbers of rows come from an input as they are: they count the rows of all that is fed."""
    return any(value.batch.kind == "example" for value in _fed_numbers(places))


def count_fed_rows(bound: Value | None) -> bool:
    """Whether the end of a slice is a number that is fed: `x[:n]`, `x[ends[0]:ends[1]]`."""
    while isinstance(bound, Tensor) and bound.op == "subscript" and bound.inputs:
        bound = bound.inputs[0]
    return isinstance(bound, Tensor) and bool(_fed_numbers(bound))


def _fed_numbers(numbers: Tensor) -> list[Input]:
    """The inputs that numbers are taken from as they are; none where something else is computed on the way."""
    todo: list[Value] = [numbers]
    fed: list[Input] = []
    while todo:
        value = todo.pop()
        if isinstance(value, Input):
            fed.append(value)
        elif isinstance(value, Tensor) and (value.op in RANGES or not has(value.op, Trait.PASSES_ROW_NUMBERS)):
            return []
        elif isinstance(value, (Tensor, Sequence)):
            todo += [v for v in (*value.inputs, *value.parts()) if isinstance(v, (Tensor, Sequence))]
    return fed


def mask_of(places: Tensor) -> Tensor | None:
    """The mask of which some places are those of its true entries: `tf.where(mask)`; None for any other places."""
    while has(places.op, Trait.CASTS) and places.inputs and isinstance(places.inputs[0], Tensor):
        places = places.inputs[0]
    condition = places.inputs[0] if has(places.op, Trait.CHOOSES) and len(places.operands) == 1 else None
    return condition if isinstance(condition, Tensor) and condition.batch.kind == "example" else None


def _mask_of_numbers(numbers: Tensor) -> Tensor | None:
    """The mask of which some numbers are those of its true rows: `tf.squeeze(tf.where(mask), 1)`."""
    places = numbers
    while has(places.op, Trait.SAME_NUMBERS) and places.inputs and isinstance(places.inputs[0], Tensor):
        places = places.inputs[0]
    mask = mask_of(places) if places is not numbers else None
    return mask if mask is not None and mask.rank == 1 else None


def left_by(mask: Tensor | None, tensor: Tensor, inputs: tuple[Value, ...], name: str) -> Tensor | None:
    """The rows of a batch where a mask of the same rows is true; None where its rows are others."""
    if mask is None or tensor.batch.kind != "example" or tensor.batch.axis or mask.batch.axis:
        return None
    if not alike(tensor.batch.rows, mask.batch.rows):
        return None
    lengths = None if tensor.lengths is None or mask.rank is None else (None, *tensor.lengths[mask.rank :])
    left = Tensor(tensor.batch, inputs, lengths, name)
    left.batch = Batch("example", 0, (BATCH, None), over=Counted(left, "rows"))
    return left


def gathered(facts: Facts, params: Tensor, indices: Tensor, axis: int, inputs: tuple[Value, ...], name: str) -> Tensor:
    """Entries of a tensor along an axis, by their numbers: of a table, or of the batch itself."""
    if params.batch.kind == "free":
        rest = None if indices.lengths is None or params.lengths is None else (*indices.lengths, *params.lengths[1:])
        return Tensor(indices.batch, inputs, rest, name)
    if params.batch == Batch("example", axis) and indices.op == EXAMPLE:  # the one example that a loop takes
        return Tensor(FREE, inputs, None if params.lengths is None else params.lengths[1:], name)
    if params.batch.kind == "example" and params.batch.axis != axis and indices.batch.kind == "free":
        shift = 1 if indices.rank == 0 and params.batch.axis > axis else 0
        known = params.lengths if indices.rank == 0 else None
        dims = None if known is None else tuple(d for i, d in enumerate(known) if i != axis)
        return Tensor(Batch("example", params.batch.axis - shift, params.batch.rows), inputs, dims, name)
    if params.batch == Batch("example", axis) == Batch("example", 0) and holds_its_row(indices) and indices.rank == 1:
        return Tensor(params.batch, inputs, params.lengths, name)
    if axis == 0 and (left := left_by(_mask_of_numbers(indices), params, inputs, name)) is not None:
        return left
    if params.batch.kind == indices.batch.kind == "example" and are_fed(indices):
        return Tensor(opaque(Why.PLACES_FED, name), inputs, None, name)
    if params.batch.kind == "example" and params.batch.packed == "" and indices.batch.kind == "example":
        return Tensor(opaque(Why.CONFLICT), inputs, None, name)  # indexes into the whole batch
    of_rows = params.batch.kind == "example" == indices.batch.kind and params.batch.axis == 0
    if of_rows and not _number_several_rows(facts, indices):
        dims = None if params.lengths is None else (None, *params.lengths[1:])
        return Tensor(Batch("example", indices.batch.axis, indices.batch.rows), inputs, dims, name)
    picked = None if indices.lengths is None or params.lengths is None else (*indices.lengths, *params.lengths[1:])
    return Tensor(opaque(Why.PICKED_BY_INDEX), inputs, picked if not axis else None, name)
