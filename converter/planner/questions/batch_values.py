"""How a value depends on the batch."""

from __future__ import annotations

import ast

from converter.analysis.values import (
    ARRAY,
    Count,
    Function,
    Host,
    Input,
    Instance,
    Partial,
    Tensor,
    Typed,
    Value,
    Variable,
    closure,
    tensors_in,
)

TOLD = {"str", "repr", "isinstance", "callable", "hasattr", "compare", "format", "type", "id", "hash"}  # hold none


def depends_on_batch(value: Value) -> bool:
    """Whether a value is computed from a batch; the input that brings the batch in does not count."""
    if isinstance(value, Input):
        return False
    batch = getattr(value, "batch", None)
    return bool(value.roots) or (batch is not None and batch.kind != "free")


def is_made_of_shard(value: Value) -> bool:
    """Whether an object (a distribution, a tensor array) holds a shard: no merging gives the whole batch's."""
    if isinstance(value, Tensor) and value.op == ARRAY:
        return depends_on_batch(value)
    return isinstance(value, Typed) and value.kind in ("Distribution", "Triangle") and bool(value.roots)


def carries_batch(value: Value) -> bool:
    """Whether a value is a batch, is computed from one, or holds tensors that are."""
    if isinstance(value, Input):
        return value.is_batch
    if isinstance(value, Instance):
        return False  # its attributes are places of their own
    return depends_on_batch(value) or any(t.batch.kind != "free" for t in tensors_in(value))


def keeps_batch(value: Value) -> bool:
    """Whether a function has a default argument, or a `partial` an argument, that is a batch or computed from one."""
    if isinstance(value, Function):
        return any(map(carries_batch, value.defaults.values()))
    return isinstance(value, Partial) and any(map(carries_batch, (*value.args, *value.kwargs.values())))


def may_hold_tensors(value: Value) -> bool:
    """True if the result of an unfollowed call may hold tensors of the batch: `deque(tensors)`, `max(a, b)`."""
    if not isinstance(value, Host) or not isinstance(value.node, ast.Call) or value.call in TOLD:
        return False
    given = [tensor for v in value.inputs for tensor in tensors_in(v)]
    return any(t.batch.kind != "free" and not isinstance(t, Input) for t in given)


def counts_examples(value: Value) -> bool:
    """Whether a value is a number of examples, or computed from one and from nothing else of the batch."""
    return any(isinstance(one, Count) for one in closure([value], lambda one: () if _is_own(one) else one.inputs))


def _is_own(value: Value) -> bool:
    """Whether a value holds something of the batch, or stands for itself."""
    return isinstance(value, (Input, Variable)) or (isinstance(value, Tensor) and value.batch.kind != "free")
