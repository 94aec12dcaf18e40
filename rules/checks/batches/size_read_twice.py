"""One reading of the batch size serves the towers and the host."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.SIZE_READ_IN_AND_OUT: Words(
        "TMG212",
        "this batch size is read both by the towers and by code outside of them",
        "pass the batch size to the function as an argument",
    ),
    PlanFault.SET_IN_A_BRANCH: Words(
        "TMG279",
        "{name} is set again in one branch, to a number that cannot stay the size of one tower's batch",
        "put the number into another name, and use that in this branch",
    ),
}
