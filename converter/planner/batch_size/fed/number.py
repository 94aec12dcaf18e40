"""Batch sizes that are fed."""

from __future__ import annotations

from converter.analysis.values import FED, Number, Value


def is_fed_number(value: Value) -> bool:
    """Whether a number is made of one that is fed."""
    return isinstance(value, Number) and any(o.key[0] == FED for o in value.origins)
