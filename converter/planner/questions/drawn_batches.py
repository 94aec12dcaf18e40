"""Which tensors are batches that are drawn in the graph, and the numbers of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from converter.analysis.facts import TrainStep, behind_losses
from converter.analysis.tensors.shaping import shape_entries
from converter.analysis.traits import Trait, has
from converter.analysis.values import Number, Tensor, Value


def drawn_in(values: Mapping[int, Value]) -> list[Tensor]:
    """The batches among some values that are drawn by random operations, one row for each example."""
    drawn = (v for v in values.values() if isinstance(v, Tensor) and has(v.op, Trait.DRAWS_ROWS))
    return sorted((v for v in drawn if v.batch.kind == "example" and not v.roots), key=lambda v: v.uid)


def drawn_sizes(steps: Iterable[TrainStep]) -> list[Number]:
    """The numbers of rows in the shapes of the random tensors that these steps draw."""
    return rows_of_drawn(behind_losses(steps))


def rows_of_drawn(values: Mapping[int, Value]) -> list[Number]:
    """The numbers of rows in the shapes of the random tensors among some values."""
    found = []
    for tensor in drawn_in(values):
        shapes = [entries for v in tensor.inputs if (entries := shape_entries(v)) and len(entries) == tensor.rank]
        rows = shapes[0][tensor.batch.axis] if shapes else None
        found += [rows] if isinstance(rows, Number) else []
    return found
