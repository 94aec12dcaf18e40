"""A variable that the script takes as an object stays whole."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.TAKEN_FOR_ONE_OBJECT: Words(
        "TMG319",
        "{name!r} is used as one object here: it stays whole, on one GPU",
        "without this use, slices of it would be spread over the GPUs",
    ),
}
