"""Values are merged by their form, as they are only shown."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.SHOWN_BY_FORM: Words(
        "TMG393",
        "only shown, and no exact merge is known: {names}; a number is averaged over the towers, rows known by their "
        "static shape are concatenated, of anything else the first tower's is shown",
        "compute it after the loss, from tensors with one row for each example, if the exact value matters",
    ),
}
