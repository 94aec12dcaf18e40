"""--eval-batch asks for evaluations with the script's batch size, and some share theirs with training."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG363",)


@check(Placed)
def evaluation_with_training(case: Placed) -> Iterator[Diagnostic]:
    """Warn of evaluations that --eval-batch cannot leave unchanged, or that there are none."""
    if case.options.eval_batch == "grow" or not case.steps:
        return
    found = case.evaluated
    for one in found.together:
        elsewhere = case.facts.path_of(one.call) != case.facts.path_of(one.node)
        place = f" of {case.facts.shown(one.call)}" if elsewhere else ""
        reason = one.why.value.format(where=f"line {one.call.lineno}{place}")
        yield finding(case.facts, one.node, "TMG363 together", reason=reason)
    if not found.calls and not found.together and "eval_batch" not in case.options.configured:
        key = "TMG363 none" if case.options.batch == "per-gpu" else "TMG363 total"
        yield finding(case.facts, case.steps[0].call, key)
