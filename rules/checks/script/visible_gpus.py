"""Scripts that select one visible GPU: towers need one each."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.GPUS_TOLD_WHEN_RUN: Words(
        "TMG330",
        "{what} is set here, and decides how many GPUs are visible",
        "leave this line out, or list as many GPUs there as there are towers; fewer end the script",
    ),
    PlanFault.FEWER_GPUS_NAMED: Words(
        "TMG332",
        "{what} named fewer GPUs ({named}) than there are towers: it names the first ones now",
        "if these are not free, name others here",
    ),
    PlanFault.UNKNOWN_GPUS: Words(
        "TMG264",
        "{what} names GPUs that are not known, and {towers} towers need {towers} of them",
        "list {towers} GPUs here, or leave it to the environment",
    ),
}
