"""A statement in the middle of the model cannot be moved."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.SHARES_LINE_OF_TOWERS: Words(
        "TMG203", "this statement shares its line with one of the towers'", "write it on a line of its own"
    ),
    PlanFault.SHARES_LINE_OF_OTHERS: Words(
        "TMG203",
        "this statement shares its line with another that stays outside of the towers",
        "write it on a line of its own",
    ),
    PlanFault.BETWEEN_ENDS_BLOCK: Words(
        "TMG203",
        "this statement stands between those of the model and ends the block",
        "move it before the model or after the loss",
    ),
    PlanFault.BETWEEN_MAY_RETURN: Words(
        "TMG203",
        "this statement stands between those of the model and may return: what stands above it would not be built",
        "return after the loss",
    ),
    PlanFault.BETWEEN_MAKES_INPUT: Words(
        "TMG203",
        "this statement stands between those of the model, and a run feeds a value in place of what it computes",
        "compute it before the model, or make a placeholder for what is fed",
    ),
    PlanFault.BETWEEN_MAY_COLLECT: Words(
        "TMG203",
        "this statement stands between those of the model and may add to the collection that the loss is "
        "computed from: what it calls is not followed",
        "move it before the model or after the loss",
    ),
    PlanFault.BETWEEN_UNMOVABLE: Words(
        "TMG203",
        "this statement stands between those of the model and cannot be moved",
        "move it before the model or after the loss",
    ),
}
