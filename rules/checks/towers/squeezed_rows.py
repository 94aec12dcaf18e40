"""A tower that has one example squeezes the batch axis away, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.arrays.rows import rows_of
from converter.analysis.arrays.shapes import shape_of
from converter.analysis.values import Input, Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.region.inputs import batch_inputs
from converter.planner.wording import finding

PAIR = 2  # rows of which a squeeze keeps the axis; the number of towers where the visible GPUs tell it


CODES = ("TMG385", "TMG261")


@check(Placed)
def squeezed_rows(case: Placed) -> Iterator[Diagnostic]:
    """Squeezes in the towers that name no axis, of tensors with any number of rows."""
    if all(fixed_size(value) is not None for value in batch_inputs(case.steps)):
        return
    gpus = case.options.num_gpus or PAIR
    for tensor in case.facts.tensors:
        call = tensor.node
        if tensor.op != "squeeze" or not isinstance(call, ast.Call) or tensor.batch.kind != "example":
            continue
        named = len(call.args) > 1 or any(k.arg in (None, "axis", "squeeze_dims") for k in call.keywords)
        inside = any(region.in_tower(tensor.site) for region in case.regions)
        if not inside or named:
            continue
        few = _rows_of_steps(case, tensor)
        if few is not None and few < PAIR * gpus:
            yield finding(case.facts, call, "TMG261 fed_few", few=few, gpus=gpus)
        elif _is_for_one_example(case, tensor):
            yield finding(case.facts, call, "TMG261 for_one_example")
        else:
            yield finding(case.facts, call, "TMG385")


def _rows_of_steps(case: Placed, squeezed: Tensor) -> int | None:
    """How many rows the towers share in a step where the script shows it, None where it does not."""
    trained = {step.result.uid for step in case.steps}
    counts: list[int] = []
    for run in case.facts.runs if case.options.batch == "total" else ():
        for key, value in run.feeds if run.computes(trained) else ():
            if isinstance(key, Input) and key in squeezed.roots:
                shape, axis = shape_of(value), key.batch.axis
                counted = None if axis else rows_of(case.facts, value, run.site)
                rows = shape[axis] if shape and axis < len(shape) else getattr(counted, "value", None)
                counts += [rows] if isinstance(rows, int) else []
    return min(counts, default=None)


def _is_for_one_example(case: Placed, squeezed: Tensor) -> bool:
    """Whether a squeeze changes nothing in a step, and a run without a step fetches what it gives."""
    whole = squeezed.inputs[0] if squeezed.inputs else None
    if not isinstance(whole, Tensor) or whole.dims is None or whole.batch.kind != "example":
        return False
    others = [dim for axis, dim in enumerate(whole.dims) if axis != whole.batch.axis]
    if not others or any(dim in (None, 1) for dim in others):
        return False
    trained = {step.result.uid for step in case.steps}
    return any(squeezed in run.fetches and not run.computes(trained) for run in case.facts.runs)
