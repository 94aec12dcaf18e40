"""Reinforcement learning: the data of a step come from what the model did before."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words
from rules.checks.batches.size_not_found import GOES_ON

WORDS = {
    PlanFault.ACTING: Words(
        "TMG311",
        "this training step is fed with the results of the model's own actions" + GOES_ON,
        "collect from several environments at once to give every GPU as much to do",
    ),
    PlanFault.ACTING_SCALED: Words(
        "TMG311",
        "this training step is fed with the results of the model's own actions: it takes N times as many examples as "
        "before for each action",
        "collect from several environments at once to give every GPU as much to do",
    ),
}
