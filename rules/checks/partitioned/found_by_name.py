"""A variable is found by its name, or in another scope."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.LOOKED_UP_BY_NAME: Words(
        "TMG247",
        "what is looked up here by its name may be a variable that is cut, or a value read from it",
        "keep it in a Python variable, or use --variables balanced",
    ),
    PlanFault.SLOTS_IN_SCOPE: Words(
        "TMG247",
        "the optimizer stands in a variable scope, where the slots of slices would be saved under other names",
        "apply the gradients outside of the scope",
    ),
    PlanFault.ASKED_FOR_OUTSIDE_SCOPE: Words(
        "TMG247",
        "variables are asked for again outside the scope in which the towers make them, where nothing tells "
        "that they are cut",
        "build the model in functions that are called at one level, or use --variables balanced",
    ),
}
