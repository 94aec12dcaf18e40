"""A placeholder that the model makes, and that no tower can be handed a part of."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.HANDED_OF_FIXED_SIZE: Words(
        "TMG230",
        "the model makes this placeholder for a fixed number of examples, and no name where the towers are built holds "
        "the size of the whole batch",
        "give it None for that number, or make it in a statement of its own before the model",
    ),
    PlanFault.HANDED_SIZE: Words(
        "TMG230",
        "the model makes this placeholder for the number of examples, of which each tower computes only some",
        "make it in a statement of its own before the model, or take the number from the shape of a batch",
    ),
    PlanFault.HANDED_WITHOUT_NAME: Words(
        "TMG230",
        "the model makes this placeholder, and its shape does not tell the towers along which axis it is cut",
        "give it a name of its own, written out: tf.placeholder(..., name='x')",
    ),
    PlanFault.HANDED_WITHOUT_PLACE: Words(
        "TMG230",
        "the model makes this placeholder, and the function that builds the towers has no name for it, by which the "
        "rows of a tower could be counted",
        "keep it in an attribute of the model, or return it",
    ),
    PlanFault.HANDED_IN_SOME_BRANCHES: Words(
        "TMG230",
        "only some branches of the model make this placeholder, and no other is always fed as many rows",
        "make it in front of the model in all of them, or feed it in each run",
    ),
    PlanFault.HANDED_NOT_RESTORED: Words(
        "TMG230",
        "this holds the last tower's rows of a placeholder that the model makes, and cannot be given the whole one",
        "keep the placeholder in an attribute of the model, or return it",
    ),
}
