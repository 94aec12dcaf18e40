"""The loss adds a sum over the examples and a term that does not depend on them."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.SUM_IN_BRANCH: Words(
        "TMG211",
        "{reason}: whether the towers' losses are to be added is not known",
        "divide the sum by the batch size, or keep one of the branches",
    ),
    PlanFault.SUM_AND_TERM: Words(
        "TMG211",
        "this loss adds a sum over the examples and a term that does not depend on them",
        "divide the sum by the batch size; or use --batch per-gpu, for which a batch size must be found in the script",
    ),
}
