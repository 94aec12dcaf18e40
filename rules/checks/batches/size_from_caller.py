"""The batch size comes from the caller."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.SIZE_FROM_CALLER: Words(
        "TMG305",
        "the batch size comes from the caller: {name} is multiplied here, but the caller's own uses of it are not",
        "let callers hand over the batch size of one tower, and load their own batches N times as large",
    ),
}
