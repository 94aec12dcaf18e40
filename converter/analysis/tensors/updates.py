"""Operations that set a variable to what a batch gives: the moving statistics that a model keeps by itself."""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.values import Input, Tensor, Value, Variable, needed, tensors_in

ASSIGNED = "assign"  # the op of a tensor that stands for a change to a variable


def is_update(value: Value) -> bool:
    """True if running this value changes a variable by the batch, or waits for an operation that does.

    A tensor of the batch that waits for an update is not one: its value counts, and is merged.
    """
    return _may_update(value) and _wait_for_update([value])


def updates_among(values: Iterable[Value]) -> list[Value]:
    """Those of some values that are updates; what is behind all of them is looked through once where none is."""
    chosen = [value for value in values if _may_update(value)]
    return list(filter(is_update, chosen)) if _wait_for_update(chosen) else []


def _may_update(value: Value) -> bool:
    return isinstance(value, Tensor) and not isinstance(value, (Input, Variable)) and value.batch.kind == "free"


def _wait_for_update(values: Iterable[Value]) -> bool:
    behind = needed(values).values()
    return any(isinstance(v, Tensor) and v.op == ASSIGNED and _takes_batch(v) for v in behind)


def _takes_batch(assigned: Tensor) -> bool:
    return any(t.batch.kind != "free" for v in assigned.inputs for t in tensors_in(v))
