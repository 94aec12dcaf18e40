"""--eval-batch asks for evaluations with the script's batch size, and some share theirs with training."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn

CODES = ("TMG363",)
HINT = "hand the batch size to what both call, or read a batch size for the evaluation alone"


@check(Placed)
def evaluation_with_training(case: Placed) -> Iterator[Diagnostic]:
    """Warn of evaluations that --eval-batch cannot leave unchanged, or that there are none."""
    if case.options.eval_batch == "grow" or not case.steps:
        return
    found = case.evaluated
    for one in found.together:
        elsewhere = case.facts.path_of(one.call) != case.facts.path_of(one.node)
        place = f" of {case.facts.shown(one.call)}" if elsewhere else ""
        message = one.why.value.format(where=f"line {one.call.lineno}{place}")
        yield warn(case.facts, one.node, "TMG363", message, HINT)
    if not found.calls and not found.together and "eval_batch" not in case.options.configured:
        yield warn(
            case.facts,
            case.steps[0].call,
            "TMG363",
            "--eval-batch changes nothing: no evaluation was found that takes batches of this size apart from training"
            if case.options.batch == "per-gpu"
            else "--eval-batch changes nothing: with --batch total all batches have the script's size",
            "leave --eval-batch out",
        )
