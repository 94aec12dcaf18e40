"""An attribute keeps the value of the last tower, and code that is not followed may read it."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.LAST_TOWERS_VALUE: Words(
        "TMG333",
        "{name} holds the last tower's value after the loop: it cannot be merged, and {path}:{line} reads an "
        "attribute of this name in code that is not followed",
        "compute it after the loss, from tensors with one row for each example",
    ),
}
