"""A value that the model computes is fed."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.tensors.nests import may_hold
from converter.analysis.values import Input, Variable
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.plan_faults import PlanFault
from converter.planner.towers.border.fed_results import is_fed_by_towers
from converter.planner.wording import Words
from converter.planner.writing.findings import error

CODES = ("TMG223",)


BEFORE = "make a placeholder before the model, let the model read that, and feed it"
AGAIN = "build what follows it once more on a placeholder, with reuse=True, and feed that"

WORDS = {
    PlanFault.FED_PART_OF_RESULTS: Words(
        "TMG223",
        "this run feeds a value of the model that towers do not compute by itself, row by row",
        AGAIN,
    ),
}


@check(Placed)
def fed_in_its_stead(case: Placed) -> Iterator[Diagnostic]:
    """Runs that feed a value which the towers compute."""
    trained = {step.result.uid for step in case.facts.train_steps}
    trains = any(run.computes(trained) for run in case.facts.runs)
    elsewhere = "convert the script that runs the training step: this one only builds it"
    for run in case.facts.runs:
        for key in (*(key for key, _ in run.feeds), *run.unseen):
            made = [t for t in may_hold(key) if not isinstance(t, (Input, Variable))]
            if any(is_fed_by_towers(case.facts, region, run, key) for region in case.regions):
                continue
            if any(region.in_tower(t.site) for region in case.regions for t in made):
                yield error(
                    case.facts,
                    run.call,
                    "TMG223",
                    f"{key.label or 'a value'} is computed by the model, and this run feeds a value in its place",
                    (BEFORE if run.computes(trained) else AGAIN) if trains else elsewhere,
                )
