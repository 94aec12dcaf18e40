"""The model makes as many rows as an object says that the files do not show."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.arrays.shapes import ARITHMETIC
from converter.analysis.counts.size_names import named_batch_size
from converter.analysis.facts import behind_losses
from converter.analysis.flow.joined import choices
from converter.analysis.inputs.feeds import is_zero_state
from converter.analysis.traits import Trait, has
from converter.analysis.values import Constant, Host, Input, Sequence, Tensor, Value, Variable
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG274",)
MADE = (Trait.ZEROS, Trait.ONES, Trait.DRAWS_ROWS)


@check(Placed)
def rows_of_unseen_number(case: Placed) -> Iterator[Diagnostic]:
    """Tensors behind a loss whose rows are counted by a number that nothing shows."""
    for value in behind_losses(case.steps).values():
        if not isinstance(value, Tensor) or isinstance(value, (Input, Variable)):
            continue
        if any(map(_is_size, _row_counts_given(value))) or _is_state_of_unseen_size(value):
            yield finding(case.facts, value.node or case.steps[0].call, "TMG274 unseen")
        elif _is_counted_by_variable(value):
            yield finding(case.facts, value.node or case.steps[0].call, "TMG274 variable")


def _is_state_of_unseen_size(tensor: Tensor) -> bool:
    """Whether a recurrent net starts from a state of a number of rows that is not followed, whatever its name."""
    zero = tensor.node is not None and is_zero_state(tensor.node) and tensor.batch.kind == "free"
    return zero and any(isinstance(v, Host) and not v.roots for v in tensor.inputs)


def _is_counted_by_variable(tensor: Tensor) -> bool:
    """True for a new tensor of as many rows as a variable says: runs set it to those of a batch, of all towers."""
    if tensor.batch.kind != "free" or tensor.node is None:
        return False
    if is_zero_state(tensor.node):
        return any(isinstance(v, Variable) for state in choices(tensor) for v in state.inputs)
    shapes = (v.elements for v in tensor.inputs if isinstance(v, Sequence) and v.elements)
    return any(has(tensor.op, made) for made in MADE) and any(isinstance(shape[0], Variable) for shape in shapes)


def _row_counts_given(tensor: Tensor) -> Iterator[Value]:
    """What tells an operation how many rows to make: entries of shapes, and numbers that it does not compute with."""
    numeric = has(tensor.op, Trait.ADDS) or has(tensor.op, Trait.SCALES) or tensor.batch.kind == "reduced"
    for value in tensor.inputs:
        if isinstance(value, Sequence):
            yield from value.elements
        elif not numeric:
            yield value


def _is_size(value: Value) -> bool:
    """Whether a number that is not followed can be nothing but a batch size, by its name, or is computed of one."""
    if not isinstance(value, Host) or value.roots:
        return False
    if value.call in ARITHMETIC or value.call == "int":
        return any(map(_is_size, value.inputs))
    keys = [v.value for v in value.inputs if isinstance(v, Constant)] if value.call == "[]" else [value.call]
    return named_batch_size([key for key in keys if isinstance(key, str)])
