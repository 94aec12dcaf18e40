"""Sparse batches: which tensors are sparse, and whether their rows are known to be the examples."""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.values import Input, Tensor

PLACEHOLDERS = ("sparse_placeholder", "sparse.placeholder")
ELEMENT = "sparse element"  # the op of a feature of any length, and of what holds the batches of such
BATCHES = "sparse.get_next"
KEEP = frozenset(("cast", "identity", "to_float", "to_double", "to_int32", "to_int64", "sparse_reorder",
                  "sparse.reorder", "sparse.retain",
                  "sparse_retain", "sparse_fill_empty_rows"))  # fmt: skip
# What takes a sparse tensor with one row for each example, and gives something dense.
BY_ROWS = frozenset(("nn.ctc_loss", "matmul", "nn.embedding_lookup_sparse"))


def is_sparse(tensor: object) -> bool:
    """Whether a tensor is a sparse placeholder or feature, or one with other values or types in its place."""
    while isinstance(tensor, Tensor):
        if tensor.op in (*PLACEHOLDERS, ELEMENT, BATCHES):
            return True
        if tensor.op not in KEEP:
            return False
        tensor = next((i for i in tensor.inputs if isinstance(i, Tensor)), None)
    return False


def taken_as_sparse(value: object) -> None:
    """Notes that an operation takes what an iterator gives for a sparse tensor, where nothing else says so."""
    if isinstance(value, Input) and value.op == "Iterator.get_next":
        value.op = BATCHES


def has_rows(value: Input, tensors: Iterable[Tensor]) -> bool:
    """Whether the rows of a sparse placeholder are the examples: its shape or what takes it says so."""
    if value.batch.axis != 0:
        return False
    return bool(value.dims) or any(t.op in BY_ROWS and _takes(t, value) for t in tensors)


def _takes(tensor: Tensor, value: Input) -> bool:
    taken = [i for i in tensor.inputs if is_sparse(i)]
    while taken:
        one = taken.pop()
        if one is value:
            return True
        taken += [i for i in one.inputs if is_sparse(i)]
    return False
