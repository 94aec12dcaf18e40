"""--scale-steps asks for fewer steps, and the script's numbers of steps are not all seen."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.step_numbers import step_numbers
from converter.planner.wording import finding

CODES = ("TMG362",)


@check(Placed)
def step_numbers_left(case: Placed) -> Iterator[Diagnostic]:
    """Numbers that --scale-steps would have to divide if they count steps, or that there are none."""
    if case.options.scale_steps == "keep":
        return
    found = step_numbers(case.facts, case.options, case.regions, case.steps, case.size.scaled)
    for node in found.left:
        yield finding(case.facts, node, "TMG362 unsure")
    if not found.counts and not found.left and case.steps:
        key = "TMG362 none" if case.options.batch == "per-gpu" else "TMG362 total"
        yield finding(case.facts, case.steps[0].call, key)
