"""Operations that set a variable to what a batch gives: the moving statistics that a model keeps by itself."""

from __future__ import annotations

from converter.analysis.values import Input, Tensor, Value, Variable, needed, tensors_in

ASSIGNED = "assign"  # the op of a tensor that stands for a change to a variable


def is_update(value: Value) -> bool:
    """True if running this value changes a variable by the batch, or waits for an operation that does.

    A tensor of the batch that waits for an update is not one: its value counts, and is merged.
    """
    if not isinstance(value, Tensor) or isinstance(value, (Input, Variable)) or value.batch.kind != "free":
        return False
    return any(isinstance(v, Tensor) and v.op == ASSIGNED and _takes_batch(v) for v in needed([value]).values())


def _takes_batch(assigned: Tensor) -> bool:
    return any(t.batch.kind != "free" for v in assigned.inputs for t in tensors_in(v))
