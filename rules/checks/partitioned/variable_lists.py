"""Variables or gradients are taken one by one from a list."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.TAKEN_FROM_LIST: Words(
        "TMG245",
        "this takes {what} from a list, which would hold slices in place of variables that are cut",
        "use --variables balanced, which leaves variables whole",
    ),
}
