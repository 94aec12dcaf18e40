"""Masked means: means over a part of the batch."""

from __future__ import annotations

from collections.abc import Sequence

from converter.analysis.reasons import Why
from converter.analysis.traits import Trait, has
from converter.analysis.values import Batch, Constant, Count, Counted, Input, Number, Tensor, Value, closure, other

TINY = 1e-3


def is_tiny(value: Value) -> bool:
    """A number that stands beside a denominator to avoid a division by zero."""
    return isinstance(value, Number) and value.value is not None and abs(value.value) <= TINY


def is_ratio(operands: Sequence[Tensor]) -> bool:
    """Whether two reductions are divided by each other: a ratio of sums or of means over the examples."""
    kinds = {(t.batch.kind, t.batch.how) for t in operands}
    return kinds in ({("reduced", "sum")}, {("reduced", "mean")})


def masked_mean(part: Tensor, whole: Tensor) -> Batch:
    """The batch of a ratio of sums: a masked mean if its denominator is a count."""
    one, two = part.batch, whole.batch
    plain = not one.affine and one.per == two.per and one.over is None and two.over is None
    if not plain or (two.affine and not _is_guarded(whole)) or not is_count(whole):
        return other(Why.RATIO)
    return Batch("reduced", how="mean", over=Counted(whole, "value" if two.how == "sum" else "mean"))


def same_count(one: Counted | None, two: Counted | None) -> Counted | None:
    """The denominator of both of two masked means, each of which may sum the same mask anew; None if they differ."""
    found, other_one = _summed(one), _summed(two)
    return found if found == other_one else None


def _summed(over: Counted | None) -> Counted | None:
    """A denominator as the sum of its mask where it is nothing but that: `tf.reduce_sum(mask)`."""
    whole = over.tensor if over is not None and over.how == "value" else None
    if whole is None or whole.rank != 0 or not has(whole.op, Trait.SUMS):
        return over
    summed = [*{v.uid: v for v in whole.inputs if isinstance(v, Tensor)}.values()]
    rows = len(summed) == 1 and summed[0].batch.kind == "example"
    return Counted(summed[0], "sum") if rows else over


def _is_guarded(whole: Tensor) -> bool:
    """Whether the only term beside a sum is there to avoid a division by zero."""
    if not has(whole.op, Trait.GUARDS):
        return False
    terms = [v for v in whole.inputs if isinstance(v, Number)]
    inner = [v for v in whole.inputs if isinstance(v, Tensor)]
    return all(map(is_tiny, terms)) and all(not t.batch.affine or _is_guarded(t) for t in inner)


def moved_from(lengths: Value) -> Value:
    """The tensor of which lengths were made by casts and added numbers: `n` of `n + 1`, with the end of a sentence."""
    while isinstance(lengths, Tensor) and lengths.inputs:
        moved = has(lengths.op, Trait.ADDS) and all(map(_is_written, lengths.inputs[1:]))
        if not (moved or has(lengths.op, Trait.CASTS)) or not isinstance(lengths.inputs[0], Tensor):
            break
        lengths = lengths.inputs[0]
    return lengths


def _is_written(value: Value) -> bool:
    return isinstance(value, Constant) or (isinstance(value, Number) and value.value is not None)


def is_count(counted: Value) -> bool:
    """True if a denominator, or a number for each example, depends on inputs only, and on no variable."""
    given = (Number, Count, Input)
    behind = closure([counted], lambda value: () if isinstance(value, given) else (*value.inputs, *value.parts()))
    computed = (value for value in behind if isinstance(value, Tensor) and not isinstance(value, given))
    return all(has(value.op, Trait.COUNTS) or (not value.op and value.batch.kind == "free") for value in computed)
