"""A masked mean of a batch that one GPU cannot take N times as large."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.MASKED_MEAN_OF_FIXED_SIZE: Words(
        "TMG322",
        "this loss is a masked mean, and its batch has a fixed size: each tower is weighted by its number of "
        "unmasked entries, so a step is not the plain mean of N steps of one GPU",
        "to give all towers the same weight, divide by the number of examples instead",
    ),
    PlanFault.MASKED_MEAN_AND_BATCH_NORM: Words(
        "TMG322",
        "this loss is a masked mean, and a batch norm takes statistics of each tower's examples: each tower is "
        "weighted by its number of unmasked entries, so a step is not the plain mean of N steps of one GPU",
        "to give all towers the same weight, divide by the number of examples instead",
    ),
}
