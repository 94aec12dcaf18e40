"""Broadcasting against examples: whether an operand is the same for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from converter.analysis.arrays.shapes import Shape, shape_of
from converter.analysis.facts import Facts
from converter.analysis.reasons import Why
from converter.analysis.traits import Trait, has
from converter.analysis.values import Instance, Number, Origin, Tensor, Value, Variable, closure

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
    if tensor.inputs and (has(tensor.op, Trait.TAKES_ARRAY) or (isinstance(tensor, Variable) and tensor.raw)):
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


def meets_variables(facts: Facts, operands: Sequence[Tensor], values: Sequence[Value]) -> bool:
    """Whether examples are set against variables that are as long as the batch: a factorisation of all that is fed.

    A fed batch may have any length; a variable has one, so that no part of the batch fits it. A variable that is made
    with the batch size is another case, which TMG224 refuses.
    """
    examples = [t for t in operands if t.batch.kind == "example"]
    for tensor, value in zip(operands, values, strict=True):
        if tensor.batch.kind == "free" and is_of_variables(tensor) and not _has_batch_size(facts, tensor):
            product = _is_product(tensor)
            dims = dims_of(tensor, value) or ((None, None) if product else ())
            if any(is_as_long(dims, example, product) for example in examples):
                return True
    return False


def is_as_long(dims: Sequence[int | None], example: Tensor, rows: bool = False) -> bool:
    """Whether a shape has several entries along the examples' axis, or several rows where their rank is not known.

    A number that is not known counts as several: of rows that are set against those of a batch, the script computes
    the number as it computes that of the examples; a single one is written out. Where the examples' rank is not known,
    the rows may be set against another axis, unless they are `rows`, as those of a product are.
    """
    if example.rank is None:
        return len(dims) > 1 and (rows if dims[0] is None else dims[0] != 1)
    place = example.rank - example.batch.axis
    return len(dims) >= place and dims[-place] != 1


def is_of_variables(tensor: Tensor) -> bool:
    """Whether a tensor is a variable, or made of variables alone by operations that keep their rows."""
    if isinstance(tensor, Variable):
        return True
    tensors = [value for value in tensor.inputs if isinstance(value, Tensor)]
    sized = tensor.op == "matmul" and any(isinstance(value, Number) for value in tensor.inputs)
    known = has(tensor.op, Trait.LAYER) or (has(tensor.op, Trait.ANY_AXIS) and not has(tensor.op, Trait.SUMS))
    return known and bool(tensors) and not sized and all(map(is_of_variables, tensors))


def _has_batch_size(facts: Facts, tensor: Tensor) -> bool:
    """Whether a variable's shape or initial value is made of a number that is named like a batch size."""
    return isinstance(tensor, Variable) and bool(facts.named_sizes(_origins(tensor)))


def _origins(variable: Variable) -> set[Origin]:
    """Where the numbers enter the script that a variable's shape and initial value are made of."""
    ends = (Number, Instance)  # a number knows the origins of those that it was computed from
    behind = closure(variable.inputs, lambda value: () if isinstance(value, ends) else (*value.inputs, *value.parts()))
    return {origin for value in behind if isinstance(value, Number) for origin in value.origins}


def _is_product(tensor: Tensor) -> bool:
    """Whether a tensor of variables is a product of matrices, perhaps with something added to it."""
    return tensor.op == "matmul" or any(_is_product(value) for value in tensor.inputs if isinstance(value, Tensor))
