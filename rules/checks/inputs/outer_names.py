"""An input or a batch size belongs to the function around the loop."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.NAME_OF_OUTER_FUNCTION: Words(
        "TMG206", "{name} belongs to the function around this one", "pass it to the function as an argument"
    ),
}
