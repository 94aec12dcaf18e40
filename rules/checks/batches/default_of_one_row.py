"""An input gets a default value with a single row."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG243",)


@check(Placed)
def left_to_its_default(case: Placed) -> Iterator[Diagnostic]:
    """Runs that leave an input to a default that has one row for all examples."""
    facts = case.facts
    inputs = {i.uid for region in case.regions for i in region.inputs}
    single = {e.value.uid for e in facts.effects_of(EffectKind.DEFAULT_OF_ONE_ROW) if e.value is not None} & inputs
    for run in facts.runs if single else ():
        keys = {key.uid for key, _ in run.feeds}
        if keys & inputs and single - keys:
            yield finding(facts, run.call, "TMG243")
