"""The model and its loss are not built in one place."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.APART_FROM_INPUTS: Words(
        "TMG214", "a part of the model is built apart from its inputs", "build the model in one function"
    ),
    PlanFault.NOT_IN_ONE_PLACE: Words(
        "TMG214", "the model and its loss are not built in one place", "build the model and its loss in one function"
    ),
    PlanFault.LOSS_NOT_IN_ONE_PLACE: Words(
        "TMG214",
        "the statements that build the loss are not in one place",
        "build the model and its loss in one function",
    ),
    PlanFault.BUILT_ALIKE: Words(
        "TMG214",
        "the model that is trained here is built by the same function as the one that is trained in {line}, "
        "and the loops of both would stand in that function",
        "give each model a function of its own, or train each in a script of its own",
    ),
}
