"""An input grows with the number of GPUs, but the array that is fed to it does not."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Planned
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG252",)


@check(Planned)
def rows_that_stay(case: Planned) -> Iterator[Diagnostic]:
    """Runs that feed fewer rows than the inputs and the model have, except where there is one tower."""
    for run, name in case.evaluations.fixed(case.one_tower):
        yield finding(case.facts, run.call, "TMG252", name=name)
