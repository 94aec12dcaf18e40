"""The loss is a sum over the examples."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.SUM_OVER_EXAMPLES: Words(
        "TMG301",
        "this loss is a sum over the examples: the towers' sums are averaged, so a step is as large as on one "
        "GPU with its own batch, and the loss that a run fetches, an evaluation's too, is 1/N of its examples' sum",
        "use --loss global to add them up; --batch total also keeps the steps of one GPU",
    ),
}
