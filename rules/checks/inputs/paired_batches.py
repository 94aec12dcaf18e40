"""A model compares examples of two batches that one source gives one after the other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from converter.analysis.arrays.shapes import SHAPED
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.values import Tensor, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.inputs import batch_inputs
from converter.planner.wording import finding

CODES = ("TMG340",)


@check(Placed, batch="per-gpu")
def paired_batches(case: Placed) -> Iterator[Diagnostic]:
    """Runs of training steps whose inputs meet in the model and are drawn by the same call, written twice."""
    cut = set(batch_inputs(case.steps))
    for run in case.facts.runs if case.size.scaled else ():
        meeting = [step for step in case.steps if run.computes({step.result.uid})]
        drawn = [(key, call) for key, fed in run.feeds if key in cut and (call := _drawn(case.facts, run, fed))]
        for (one, first), (two, second) in combinations(drawn, 2):
            again = first is not second and ast.dump(first) == ast.dump(second)
            if again and any(_meet(step, one, two) for step in meeting):
                yield finding(case.facts, second, "TMG340")


def _drawn(facts: Facts, run: RunCall, fed: Value) -> ast.Call | None:
    """The call of a method, beside the run, that gives what is fed; None for random numbers and for new arrays."""
    name = getattr(fed, "call", "")
    if "random" in name or name.removeprefix("numpy.") in SHAPED:
        return None
    chain = fed.site.chain() if fed.site is not None else ()
    made = next((s.stmt for s in chain if s.frame is run.site.frame and s.stmt is not run.site.stmt), None)
    call = made.value if isinstance(made, ast.Assign) else None
    return call if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def _meet(step: TrainStep, one: Value, two: Value) -> bool:
    """Whether rows of two inputs are computed with each other for a loss."""
    rows = (v for v in needed([step.loss]).values() if isinstance(v, Tensor) and v.batch.kind == "example")
    return any(one in value.roots and two in value.roots for value in rows)
