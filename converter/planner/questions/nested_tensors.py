"""Lists, tuples and dicts of tensors that enter or leave the loop as a whole."""

from __future__ import annotations

from converter.analysis.tensors.updates import updates_among
from converter.analysis.values import (
    ARRAY,
    Batch,
    Constant,
    Input,
    Mapping,
    Sequence,
    Tensor,
    Value,
    tensors_in,
)

Nest = Sequence | Mapping


def elements_of(value: Nest) -> list[tuple[str, Value]]:
    """The elements with their keys, as written in the source."""
    if isinstance(value, Mapping):
        return [(repr(k.value), v) for k, v in value.pairs if isinstance(k, Constant)]
    return [(str(i), v) for i, v in enumerate(value.elements)]


def is_fixed(value: Nest) -> bool:
    """Whether elements cannot be put back one by one: in tuples, in lists of unknown length, in nested ones."""
    if isinstance(value, Sequence) and (value.unmeasured or not value.mutable):
        return True
    return any(isinstance(v, (Sequence, Mapping)) and any(tensors_in(v)) for _, v in elements_of(value))


def alike(value: Nest) -> Batch | None:
    """The batch of a nest whose tensors are merged in one way: as rows along one axis, means or sums; else None.

    The updates of variables are free of the batch: they are the first tower's.
    """
    if holds_updates(value):
        return Batch()
    found: Batch | None = None
    for tensor in leaves(value):
        if tensor is None or tensor.op == ARRAY:
            return None
        if tensor.batch.over is not None or not (_is_rows(tensor.batch) or _is_share(tensor.batch)):
            return None
        if found is not None and _way(found) != _way(tensor.batch):
            return None
        found = tensor.batch
    return found


def holds_updates(value: Nest) -> bool:
    """Whether a nest holds operations that set variables by the batch, and nothing that is merged."""
    tensors = list(tensors_in(value))
    return all(t.batch.kind == "free" for t in tensors) and bool(updates_among(tensors))


def _is_rows(batch: Batch) -> bool:
    return batch.kind == "example" and batch.packed != "minor"


def _is_share(batch: Batch) -> bool:
    return batch.kind == "reduced" and (batch.how == "mean" or (batch.how == "sum" and not batch.affine))


def _way(batch: Batch) -> tuple[str, int]:
    return (f"rows {batch.packed}", batch.axis) if batch.kind == "example" else (batch.how, 0)


def is_flat_list(value: Value) -> bool:
    """Whether it is a list that holds nothing but tensors."""
    return isinstance(value, Sequence) and value.mutable and all(isinstance(e, Tensor) for e in value.elements)


def leaves(value: Value) -> list[Tensor | None]:
    """The leaves of a nested structure: its tensors, and None for each other value."""
    if isinstance(value, Mapping):
        return [leaf for _, inner in value.pairs for leaf in leaves(inner)]
    if isinstance(value, Sequence):
        return [leaf for inner in value.elements for leaf in leaves(inner)]
    return [value if isinstance(value, Tensor) else None]


def inputs_in(value: Value) -> list[Input]:
    """The inputs in a nested structure that holds no other values of the batch; else none."""
    if not isinstance(value, (Sequence, Mapping)):
        return []
    batched = [t for t in tensors_in(value) if t.batch.kind != "free"]
    inputs = [t for t in batched if isinstance(t, Input)]
    return inputs if len(inputs) == len(batched) else []


def whole_inputs(value: Value) -> list[Input]:
    """The inputs of a nest that holds nothing but inputs cut along one axis; none for others."""
    ends = leaves(value) if isinstance(value, (Sequence, Mapping)) else []
    inputs = [t for t in ends if isinstance(t, Input) and t.is_batch]
    return inputs if len(inputs) == len(ends) and len({i.batch.axis for i in inputs}) == 1 else []


def path_to(value: Value, leaf: Value) -> str | None:
    """The subscripts that lead to a tensor of a nest, None where it is not in it."""
    if value is leaf:
        return ""
    for key, inner in elements_of(value) if isinstance(value, (Sequence, Mapping)) else ():
        rest = path_to(inner, leaf)
        if rest is not None:
            return f"[{key}]{rest}"
    return None
