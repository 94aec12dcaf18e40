"""The number of rows that an input's shape fixes."""

from __future__ import annotations

from converter.analysis.values import Input, Number, Sequence


def fixed_size(value: Input) -> Number | None:
    """The number of rows that an input's shape asks for; None where it takes any."""
    entries = value.shape.elements if isinstance(value.shape, Sequence) else [value.shape]  # `shape=batch_size`
    rows = entries[value.batch.axis] if len(entries) > value.batch.axis else None
    return rows if isinstance(rows, Number) and rows.value != -1 else None
