"""Rows that are added up, or told apart, by numbers: segments and partitions.

Source: tensorflow/python/ops/math_ops.py and data_flow_ops.py of TensorFlow 1.15.
"""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.reasons import Why
from converter.analysis.rows import table
from converter.analysis.tensors import algebra, shaping
from converter.analysis.traits import Trait
from converter.analysis.values import BATCH, FREE, Batch, Counted, Number, Sequence, Tensor, Value, opaque, tensors_in


def _rows_apart(call: Call, *places: tuple[int, str]) -> bool:
    """Whether arguments have one row for each example each, with nothing else along that axis."""
    tensors = [call.tensor(at, name) for at, name in places]
    return all(t.batch.kind == "example" and not t.batch.axis and t.batch.packed != "minor" for t in tensors)


def _segments(call: Call) -> Value:
    """`segment_sum`: as many rows as the largest number in the batch says, so that those of shards do not fit."""
    batched = any(algebra.is_batched(t) for v in call.values() for t in tensors_in(v))
    return call.gives(opaque(Why.SEGMENTS, call.name) if batched else FREE)


def _unsorted_sum(call: Call) -> Value:
    """`unsorted_segment_sum`: a given number of rows; those of the shards add up to those of the batch."""
    count = call.get(2, "num_segments")
    fixed = isinstance(count, Number) and shaping.batch_entry(call.walk.facts, [count]) is None
    data = call.tensor(0, "data")
    if not fixed or not _rows_apart(call, (0, "data"), (1, "segment_ids")):
        return _segments(call)
    value = count.value if isinstance(count, Number) and isinstance(count.value, int) else None
    dims = (value, *data.lengths[1:]) if data.lengths else None
    return call.gives(Batch("reduced", how="sum"), dims)


def _partition(call: Call) -> Value:
    """`dynamic_partition`: for each number the rows that have it, in their order, as a mask leaves them."""
    data, count = call.tensor(0, "data"), call.constant(2, "num_partitions")
    if not isinstance(count, int):
        return _segments(call)
    dims = (None, *data.lengths[1:]) if data.lengths else None
    made = call.parts(count, lambda: call.gives(FREE, dims))
    if any(algebra.is_batched(v) for v in call.values()):
        apart = _rows_apart(call, (0, "data"), (1, "partitions"))
        for part in map(algebra.as_tensor, made.elements):
            over = Counted(part, "rows")
            part.batch = Batch("example", 0, (BATCH, None), over=over) if apart else opaque(Why.SEGMENTS, call.name)
            part.lengths = (None, *data.lengths[1:]) if data.lengths else None
    return made


def _each(call: Call) -> Value:
    """`identity_n`: the tensors of a list as they are."""
    given = call.get(0, "input")
    if not isinstance(given, Sequence):
        return Tensor(inputs=call.values())
    tensors = [algebra.as_tensor(v) for v in given.elements]
    made = [Tensor(t.batch, (t,), t.lengths, call.name) for t in tensors]
    return Sequence(made, mutable=True, many=given.many).like(given)


SORTED = [f"segment_{kind}" for kind in ("sum", "mean", "max", "min", "prod")]
UNSORTED = [f"unsorted_segment_{kind}" for kind in ("mean", "max", "min", "prod", "sqrt_n")]

TRAITS: dict[Trait, str] = {
    Trait.BESIDE_ROWS: "segment_* unsorted_segment_* dynamic_partition",
}

CALLS: dict[str, Handler] = table(
    ([*SORTED, *UNSORTED, "dynamic_stitch", "unique", "unique_with_counts"], _segments),
    ("unsorted_segment_sum", _unsorted_sum),
    ("dynamic_partition", _partition),
    ("identity_n", _each),
)
