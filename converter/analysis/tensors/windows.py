"""Batches that are windows of a matrix: one row for each example, from a place that a queue counts on."""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.facts import Facts
from converter.analysis.tensors import shaping
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Number, Sequence, Tensor, Value, needed

WINDOW = "train.window"


def window(facts: Facts, matrix: Tensor, places: Iterable[Value], rank: int) -> Input | None:
    """The batch of a step: a slice of a matrix with the batch size for its rows; None where it is none."""
    entries = shaping.shape_entries(matrix.inputs[1]) if matrix.op == "reshape" and len(matrix.inputs) > 1 else None
    rows = entries[0] if entries and len(entries) == rank else None
    if not isinstance(rows, Number) or matrix.batch.kind != "free" or not shaping.stands_for_batch(facts, rows):
        return None
    if not any(isinstance(v, Tensor) and has(v.op, Trait.COUNTS_STEPS) for v in needed(places).values()):
        return None
    made = Input(WINDOW, (None,) * rank, None, "")
    made.shard(0)
    made.inputs = (matrix, *places)
    facts.batch_sizes.append((rows, WINDOW, matrix.node or facts.tree))
    return made


def sized(value: Input, shape: Value | None) -> None:
    """`x.set_shape([batch_size, …])`: the number of rows is known when the graph is built."""
    entries = shaping.shape_entries(shape)
    if value.op == WINDOW and entries:
        value.shape, value.lengths = Sequence(entries), (None, *(shaping.lengths_of(entries) or ())[1:])
