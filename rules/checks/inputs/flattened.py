"""Labels that are fed as one long row, although the towers cut sequences."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.arrays.shapes import arguments_of
from converter.analysis.facts import TrainStep
from converter.analysis.values import Host, Input, Number, Sequence, Tensor, Value
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

FLATTENS = ("flatten", "ravel", "numpy.ravel")
RESHAPES = {"reshape": 0, "numpy.reshape": 1}

CODES = ("TMG257",)


@check(Placed)
def flattened_inputs(case: Placed) -> Iterator[Diagnostic]:
    """Inputs that are fed flattened, and in the model meet several rows for each example."""
    met = {key.uid: step for step in case.steps for key in _beside_packed(step)}
    for run in case.facts.runs:
        for key, fed in run.feeds:
            if key.uid in met and run.computes({met[key.uid].result.uid}) and _is_flattened(fed):
                yield finding(case.facts, run.feed_node or run.call, "TMG257")
                return


def _beside_packed(step: TrainStep) -> Iterator[Input]:
    """Inputs that are computed with a tensor of several rows for each example, and themselves have one axis."""
    for tensor in step.behind.values():
        parts = [v for v in tensor.inputs if isinstance(v, Tensor)] if isinstance(tensor, Tensor) else []
        if any(part.batch.kind == "example" and part.batch.packed for part in parts):
            plain = [part for part in parts if part.batch.kind == "example" and not part.batch.packed]
            yield from (root for part in plain for root in part.roots if isinstance(root, Input))


def _is_flattened(fed: Value) -> bool:
    """Whether a fed array is `rows.flatten()`, or the like."""
    if not isinstance(fed, Host) or not isinstance(fed.node, ast.Call):
        return False
    if fed.call not in RESHAPES:
        return fed.call in FLATTENS
    given = arguments_of(fed, fed.node)
    if given is None or len(given.positions) > RESHAPES[fed.call] + 1:
        return False
    shape = given.get(RESHAPES[fed.call], "newshape", "shape")
    return isinstance(shape, Number) or (isinstance(shape, Sequence) and len(shape.elements) == 1 and not shape.many)
