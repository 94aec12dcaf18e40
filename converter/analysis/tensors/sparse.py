"""Sparse batches: which tensors are sparse, and whether their rows are known to be the examples."""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Tensor

ELEMENT = "sparse element"  # the op of a feature of any length, and of what holds the batches of such
BATCHES = "sparse.get_next"
PART = "tower shard"  # the op of a tower's part of a tensor, which is sparse if that is
PATHS = "sparse paths"  # the op of what a CTC decoder gives


def is_sparse(tensor: object) -> bool:
    """Whether a tensor is a sparse placeholder, feature or decoder's path, or one with other values or types of it."""
    return _source(tensor) is not None


def sparse_input(tensor: object) -> Input | None:
    """The sparse placeholder that a tensor is, or has other values or types of; None for others."""
    source = _source(tensor)
    return source if isinstance(source, Input) and has(source.op, Trait.SPARSE_PLACEHOLDER) else None


def _source(tensor: object) -> Tensor | None:
    """The placeholder, feature or path behind changes of values, types and rows; None for a dense tensor."""
    while isinstance(tensor, Tensor):
        if tensor.op in (ELEMENT, BATCHES, PATHS) or has(tensor.op, Trait.SPARSE_PLACEHOLDER):
            return tensor
        if tensor.op != PART and not has(tensor.op, Trait.KEEPS_SPARSE):
            return None
        tensor = next((i for i in tensor.inputs if isinstance(i, Tensor)), None)
    return None


def taken_as_sparse(value: object) -> None:
    """Marks an iterator's output as sparse because an operation takes it as a sparse tensor."""
    if isinstance(value, Input) and has(value.op, Trait.NEXT_BATCH):
        value.op = BATCHES


def has_rows(value: Input, tensors: Iterable[Tensor]) -> bool:
    """True if the rows of a sparse placeholder are the examples, by its shape or by the operation that takes it."""
    if value.batch.axis != 0:
        return False
    return bool(value.dims) or any(has(t.op, Trait.TAKES_SPARSE_ROWS) and _takes(t, value) for t in tensors)


def _takes(tensor: Tensor, value: Input) -> bool:
    taken = [i for i in tensor.inputs if is_sparse(i)]
    while taken:
        one = taken.pop()
        if one is value:
            return True
        taken += [i for i in one.inputs if is_sparse(i)]
    return False
