"""What operations do to the batch axis: the algebra behind `Batch`.

Each function takes stand-ins and gives the stand-in of the result. Where the effect on the batch
is not known the result is opaque and says why; nothing is guessed here.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as SequenceType
from dataclasses import replace

from converter.analysis.arrays.shapes import shape_of
from converter.analysis.facts import Facts
from converter.analysis.reasons import Why
from converter.analysis.tensors.factors import equal, is_unnamed
from converter.analysis.tensors.masking import is_ratio, is_tiny, masked_mean, same_count
from converter.analysis.tensors.spreading import meets_variables, misfit
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    BATCH,
    FED,
    FREE,
    ROWS,
    Batch,
    Bound,
    Constant,
    Count,
    Factor,
    Host,
    Lengths,
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


def is_batched(value: Value) -> bool:
    """Whether a value is a tensor in which the batch is found in any form."""
    return isinstance(value, Tensor) and value.batch.kind != "free"


def join_batches(one: Batch, two: Batch) -> Batch:
    """The batch of a tensor that is one of two, depending on a branch."""
    if one == two or two.kind == "free":
        return one
    if one.kind == "free":
        return two
    if one.kind == two.kind == "reduced" and one.how == two.how == "mean" and one.over != two.over:
        over = same_count(one.over, two.over)
        if over is None:
            return opaque(Why.MASK_IN_BRANCH)
        one, two = replace(one, over=over), replace(two, over=over)
    if one.kind == two.kind == "reduced" and (one.how, one.per) == (two.how, two.per) and one.how != "other":
        return replace(one, affine=one.affine or two.affine)
    if one.kind == "example" and replace(one, rows=two.rows) == two and "minor" not in (one.packed, two.packed):
        return replace(one, rows=(BATCH, None))  # one row for each example, or several
    if any(each.kind == "reduced" and each.how == "sum" for each in (one, two)):
        return opaque(Why.SUM_IN_BRANCH)
    unknown = next((b for b in (one, two) if b.kind == "opaque"), None)
    return unknown or opaque(Why.DIFFERS_IN_BRANCHES)


def combine(tensors: SequenceType[Value], op: str = "", by_rows: bool = True) -> Batch:
    """The batch of an element by element result, with broadcasting; by_rows: their rows meet one by one."""
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
    unsure = any(t.rank is None for t in examples) and len({t.batch.axis for t in examples}) > 1
    if len(axes) > 1 or unsure or (axes == {1} and any(t.rank is None and _is_layer(t.op) for t in examples)):
        return other(Why.BROADCAST)
    axis = first.batch.axis if first.rank is None or rank is None else rank - (first.rank - first.batch.axis)
    rows = equal([t.batch.rows for t in examples]) if by_rows else ROWS
    if rows is None:
        return opaque(Why.CONFLICT)
    over = next((t.batch.over for t in examples if t.batch.over), None)
    return Batch("example", axis, rows, over=over)


def _is_layer(op: str) -> bool:
    """Whether an operation multiplies rows with weights of its own: what it gives has two axes at least."""
    return has(op, Trait.LAYER) and has(op, Trait.DENSE_GRADIENT)


def not_linear(batch: Batch) -> Batch:
    """The batch behind a function that treats each row by itself: of a mean or a sum it makes neither of them."""
    return other(Why.NOT_LINEAR) if batch.kind == "reduced" and batch.how != "other" else batch


def by_rows(batch: Batch, name: str, axis: int = 0) -> Batch:
    """The batch behind a function that takes the entries along one axis, and these alone, for rows of their own."""
    return opaque(Why.ALONG_BATCH, name) if batch.kind == "example" and batch.axis != axis else not_linear(batch)


def along_last(tensor: Tensor, name: str) -> Batch:
    """The batch behind a function that runs along the last axis."""
    return opaque(Why.ALONG_BATCH, name) if has_examples_last(tensor) else not_linear(tensor.batch)


def has_examples_last(tensor: Tensor) -> bool:
    """Whether the last axis is known to be that of the examples."""
    return tensor.batch.kind == "example" and tensor.rank is not None and tensor.batch.axis == tensor.rank - 1


def _combine_reduced(tensors: SequenceType[Value], batched: list[Tensor], op: str) -> Batch:
    first = batched[0].batch
    if has(op, Trait.LINEAR):
        return first
    if has(op, Trait.ADDS):
        return _sum_of(tensors, batched)
    if op == "maximum" and len(batched) == 1 and first.how == "sum" and any(is_tiny(t) for t in tensors):
        return replace(first, affine=True)  # a guard against a division by zero
    if has(op, Trait.SCALES) and len(batched) == 1 and first.how != "other":
        factor = tensors[1] if tensors[0] is batched[0] else tensors[0]
        if op == "divide" and batched[0] is not tensors[0]:
            return other(Why.OVER_REDUCTION)
        return _scaled(first, factor, op)
    if first.how == "other":
        return first
    return other(Why.NOT_LINEAR)


def _sum_of(tensors: SequenceType[Value], batched: list[Tensor]) -> Batch:
    kinds = {(t.batch.how, t.batch.per) for t in batched}
    if len({t.batch.over for t in batched}) > 1:
        return next((t.batch for t in batched if t.batch.how == "other"), None) or other(Why.PARTS_ADDED)
    affine = any(not is_batched(t) for t in tensors) or any(t.batch.affine for t in batched)
    if len(kinds) > 1:
        return next((t.batch for t in batched if t.batch.how == "other"), None) or Batch(
            "reduced", how="other", why=Why.SUM_AND_MEAN
        )
    how, per = next(iter(kinds))
    return replace(batched[0].batch, axis=0, rows=ROWS, how=how, per=per, affine=affine)


def _scaled(batch: Batch, factor: Value, op: str) -> Batch:
    divisor = uncast(factor)
    counts = _counts_examples(divisor)
    if batch.how == "mean":
        if not counts:
            return batch
        whole = op == "multiply" and batch.over is None
        return Batch("reduced", how="sum", affine=batch.affine) if whole else other(Why.NEITHER)
    if op == "multiply":
        inverse = factor.origins - factor.linear if isinstance(factor, Number) else frozenset()
        return replace(batch, per=batch.per | inverse)
    if counts:
        return Batch("reduced", how="mean", affine=batch.affine)
    numbers = [divisor] if isinstance(divisor, Number) else [v for v in divisor.inputs if isinstance(v, Number)]
    origins: frozenset[Origin] = frozenset().union(*(n.factors() for n in numbers))
    return replace(batch, axis=0, rows=ROWS, per=batch.per | origins, over=None)


def _counts_examples(factor: Value) -> bool:
    """Whether a factor is the number of examples, also one that is fed, or a tensor that is made of it."""
    made_of = factor.inputs if isinstance(factor, Tensor) else (factor,)
    return any(isinstance(value, Count) or _is_fed_count(value) for value in made_of)


def _is_fed_count(value: Value) -> bool:
    """Whether a value is a batch size that is fed: each tower counts its own rows in its place."""
    return isinstance(value, Number) and bool(value.linear) and all(o.key[0] == FED for o in value.linear)


def is_shared_out(tensor: Value) -> bool:
    """True if each row was divided by the number of examples: the sum of the rows is their mean."""
    if not isinstance(tensor, Tensor) or tensor.batch.kind != "example":
        return False
    inner = [v for v in tensor.inputs if isinstance(v, Tensor)]
    if tensor.op == "divide" and len(tensor.inputs) == 2 and _counts_examples(uncast(tensor.inputs[1])):
        return not is_shared_out(tensor.inputs[0])
    if has(tensor.op, Trait.SCALES):
        divided = sum(is_shared_out(one) or _is_inverse_of_count(one) for one in inner)
        return divided == 1 and (tensor.op != "divide" or is_shared_out(tensor.inputs[0]))
    if has(tensor.op, Trait.LINEAR) or has(tensor.op, Trait.ADDS):
        return bool(inner) and all(map(is_shared_out, inner))
    return False


def _is_inverse_of_count(value: Tensor) -> bool:
    """True for `1 / tf.cast(tf.shape(x)[0], tf.float32)`."""
    is_quotient = value.batch.kind == "free" and value.op == "divide" and len(value.inputs) == 2
    return is_quotient and _counts_examples(uncast(value.inputs[1]))


def uncast(number: Value) -> Value:
    """A number of the graph before the last of several casts: `tf.constant(n)` of `tf.to_float(tf.constant(n))`."""
    while isinstance(number, Tensor) and number.batch.kind == "free" and has(number.op, Trait.CASTS):
        inner = number.inputs[0] if number.inputs else None
        if not isinstance(inner, Tensor):
            break
        number = inner
    return number


def is_of_pairs(tensor: Tensor) -> bool:
    """Whether a product has an entry for each two examples of a batch, or of two."""
    given = [v for v in tensor.inputs[:2] if isinstance(v, Tensor)]
    if not has(tensor.op, Trait.PRODUCT) or len(given) < 2:
        return False
    return all(v.batch.kind == "example" and not v.batch.axis for v in given) and any(v.rank == 2 for v in given)


def elementwise(facts: Facts, op: str, values: SequenceType[Value]) -> Tensor:
    """An element by element operation with broadcasting; operands may be numbers or lists of tensors."""
    operands = [as_tensor(v) for v in values]
    if op == "divide" and len(operands) == 2 and is_ratio(operands):
        return Tensor(masked_mean(*operands), values, (), op)
    batch = combine([v if isinstance(v, (Number, Count)) else t for v, t in zip(values, operands, strict=True)], op)
    if facts.data_axes and batch.kind == "example" and (why := misfit(operands, values)):
        batch = opaque(why)
    elif batch.kind == "example" and meets_variables(facts, operands, values):
        batch = other(Why.MEETS_VARIABLES)
    if not facts.data_axes and (named := facts.named_sizes(batch.per)):
        facts.divided.extend(named)
        batch = replace(batch, how="mean", per=frozenset())
    return Tensor(batch, values, broadcast(operands), op)


def as_tensor(value: Value) -> Tensor:
    """A value as an operation of the graph takes it: as a tensor."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (Number, Constant, Count)):
        return Tensor(_batch_of_length(value), (value,), ())
    inner = [t for t in tensors_in(value) if t.batch.kind != "free"]
    if not inner and isinstance(value, Host) and value.call != "run" and may_be_of_batch(value):
        return Tensor(opaque(Why.HOST_CODE, value.call or "code"), (value,))
    if not inner and isinstance(value, Bound) and value.roots:
        return Tensor(opaque(Why.ATTRIBUTE, value.name), (value,))
    if not inner:
        return Tensor(FREE, (value,), shape_of(value))
    if isinstance(value, Sequence):
        return stack(value, 0)
    return Tensor(opaque(Why.HOST_OBJECT), (value,))


def may_be_of_batch(value: Host) -> bool:
    """Whether code that is not followed was given a batch, be it one that only the batch size makes."""
    return bool(value.roots) or any(t.batch.kind != "free" for v in value.inputs for t in tensors_in(v))


def _batch_of_length(value: Value) -> Batch:
    """What a number has of the batch: the length of what is not followed is another one for each batch."""
    if not isinstance(value, Number) or value.value is not None or not value.roots:
        return FREE
    measured = (v.tensor if isinstance(v, ShapeOf) else v for v in value.inputs)
    parts = [v.batch if isinstance(v, Tensor) else _batch_of_length(v) for v in measured]
    return next((batch for batch in parts if batch.kind == "opaque"), FREE)


def broadcast(tensors: Iterable[Tensor]) -> Lengths:
    """The lengths of an element by element result; None where the number of axes is not known."""
    lengths = [t.lengths for t in sorted(tensors, key=is_batched)]
    if not lengths or any(known is None for known in lengths):
        return None
    known = [each for each in lengths if each is not None]
    rank = max(map(len, known))
    return tuple(_wide([each[at] for each in known if -at <= len(each)]) for at in range(-rank, 0))


def _wide(lengths: SequenceType[Factor]) -> Factor:
    """The length of an axis to which axes of these lengths are brought: the script's name for it, if there is one."""
    longer = [length for length in lengths if length != 1]
    numbers = [length for length in longer if isinstance(length, int)]
    if len(set(numbers)) > 1:
        return None
    return numbers[0] if numbers else min(longer, key=lambda length: (is_unnamed(length), str(length)), default=1)


def stack(values: Value, axis: int) -> Tensor:
    """`tf.stack`: a new axis at a position; a list of tensors is converted the same way."""
    elements = values.elements if isinstance(values, Sequence) else [values]
    parts = [v if isinstance(v, Tensor) else Tensor(FREE, (v,), ()) for v in elements]
    combined = combine(parts, "stack")
    first = next((p.lengths for p in parts if p.lengths is not None), None)
    many = isinstance(values, Sequence) and values.unmeasured
    lengths = None if first is None or axis < 0 else (*first[:axis], None if many else len(parts), *first[axis:])
    if combined.kind == "example":
        rank = len(first) if first is not None else None
        at = axis if axis >= 0 else (rank + 1 + axis if rank is not None else 99)
        combined = Batch("example", combined.axis + (at <= combined.axis), combined.rows)
    return Tensor(combined, (values, *parts), lengths, "stack")


def matmul(left: Value, right: Value, transpose_left: bool = False, transpose_right: bool = False) -> Tensor:
    """`tf.matmul`: the examples stay apart unless the batch axis is the one that is summed over."""
    one, two = as_tensor(left), as_tensor(right)
    inputs = (left, right)
    columns = two.lengths[-2 if transpose_right else -1] if two.lengths and len(two.lengths) > 1 else None
    lengths = None if one.lengths is None else (*one.lengths[:-1], columns)
    kinds = {one.batch.kind, two.batch.kind}
    if "opaque" in kinds or kinds == {"free"}:
        return Tensor(combine([one, two]), inputs, lengths, "matmul")
    if "reduced" in kinds:
        linear = kinds == {"free", "reduced"}
        batch = combine([one, two], "identity") if linear else other(Why.PRODUCT)
        return Tensor(batch, inputs, lengths, "matmul")
    rank = one.rank or two.rank or 2
    if rank > 2 and min(one.batch.axis if is_batched(one) else 0, two.batch.axis if is_batched(two) else 0) < rank - 2:
        return Tensor(combine([one, two]), inputs, lengths, "matmul")
    sums_one = is_batched(one) and (one.batch.axis == rank - 1) != transpose_left
    sums_two = is_batched(two) and (two.batch.axis == 0) != transpose_right
    if sums_one != sums_two:  # a sum over the batch, with a weight for each example that stands in a matrix
        unknown = one.rank is None and two.rank is None
        return Tensor(
            opaque(Why.UNKNOWN_RANK_MULTIPLIED) if unknown else other(Why.WHOLE_GRAPH), inputs, lengths, "matmul"
        )
    if two.batch.kind == "free":
        axis = one.batch.axis if not transpose_left else 1 - one.batch.axis
        return Tensor(replace(one.batch, axis=axis), inputs, lengths, "matmul")
    if one.batch.kind == "free":
        axis = two.batch.axis if not transpose_right else 1 - two.batch.axis
        return Tensor(replace(two.batch, axis=axis), inputs, lengths, "matmul")
    return Tensor(other(Why.MULTIPLIED) if sums_one else opaque(Why.MULTIPLIED), inputs, lengths, "matmul")
