"""Broadcasting against examples: whether an operand is the same for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from converter.analysis.arrays.shapes import Shape, shape_of
from converter.analysis.reasons import Why
from converter.analysis.values import Tensor, Value, Variable

CONSTANT = "constant"  # the op of a tensor of nothing but data


def misfit(operands: Sequence[Tensor], values: Sequence[Value]) -> Why | None:
    """Why data cannot be cut where it is set against something else; None if it can.

    A graph that was built for all examples is built for a shard: what meets the shard must not have an axis as
    long as the data, as it would be left whole, and spread over a shard of one row.
    """
    examples = [t for t in operands if t.batch.kind == "example"]
    if any(t.batch.kind == "reduced" for t in operands):
        return Why.MEETS_REDUCTION
    if len({t.roots for t in examples}) > 1 and any(t.rank is None for t in examples):
        return Why.DATA_RANKS
    for tensor, value in zip(operands, values, strict=True):
        if tensor.batch.kind == "free" and not all(spreads(dims_of(tensor, value), e) for e in examples):
            return Why.MEETS_ROWS
    return None


def dims_of(tensor: Tensor, value: Value) -> Shape:
    """The static shape of a tensor that is made of a value; None where it is not known."""
    if tensor.dims is not None:
        return tensor.dims
    if tensor.inputs and (tensor.op == CONSTANT or (isinstance(tensor, Variable) and tensor.raw)):
        return shape_of(tensor.inputs[0])
    return shape_of(value)


def spreads(dims: Shape, example: Tensor) -> bool:
    """Whether something is the same for all examples that it is set against."""
    if dims is None:
        return False
    if all(length == 1 for length in dims):
        return True
    if example.rank is None:
        return False
    place = example.rank - example.batch.axis
    return len(dims) < place or dims[-place] == 1
