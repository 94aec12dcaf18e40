"""--scale-steps asks for fewer steps, and the script's numbers of steps are not all seen."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.step_numbers import step_numbers
from converter.planner.writing.findings import warn

CODES = ("TMG362",)


@check(Placed)
def step_numbers_left(case: Placed) -> Iterator[Diagnostic]:
    """Numbers that --scale-steps would have to divide if they count steps, or that there are none."""
    if case.options.scale_steps == "keep":
        return
    found = step_numbers(case.facts, case.options, case.regions, case.steps, case.size.scaled)
    for node in found.left:
        yield warn(
            case.facts,
            node,
            "TMG362",
            "cannot tell whether this number counts training steps, so --scale-steps leaves it as it is",
            "divide it by the number of GPUs yourself if it does",
        )
    if not found.counts and not found.left and case.steps:
        yield warn(
            case.facts,
            case.steps[0].call,
            "TMG362",
            "--scale-steps changes nothing: no fixed number of training steps was found"
            if case.options.batch == "per-gpu"
            else "--scale-steps changes nothing: with --batch total a step trains on as many examples as before",
            "leave --scale-steps out",
        )
