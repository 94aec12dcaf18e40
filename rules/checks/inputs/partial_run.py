"""Session.partial_run: a step whose inputs are fed one after the other."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.PART_OF_RUN_WITHOUT_LEAD: Words(
        "TMG242",
        "this part of a run feeds an input before the input whose rows say how all inputs are cut",
        "feed the input that the model reads first in the first part",
    ),
}
