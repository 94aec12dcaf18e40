"""A value that the model computes is fed."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.tensors.nests import may_hold
from converter.analysis.values import Input, Variable
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.fed_results import is_fed_by_towers
from converter.planner.wording import finding

CODES = ("TMG223",)


@check(Placed)
def fed_in_its_stead(case: Placed) -> Iterator[Diagnostic]:
    """Runs that feed a value which the towers compute."""
    trained = {step.result.uid for step in case.facts.train_steps}
    trains = any(run.computes(trained) for run in case.facts.runs)
    for run in case.facts.runs:
        for fed in (*(key for key, _ in run.feeds), *run.unseen):
            made = [t for t in may_hold(fed) if not isinstance(t, (Input, Variable))]
            if any(is_fed_by_towers(case.facts, region, run, fed) for region in case.regions):
                continue
            if any(region.in_tower(t.site) for region in case.regions for t in made):
                key = "TMG223 in_training" if run.computes(trained) else "TMG223 behind_training"
                name = fed.label or "a value"
                yield finding(case.facts, run.call, key if trains else "TMG223 trained_elsewhere", name=name)
