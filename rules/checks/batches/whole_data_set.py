"""The whole data set goes into each step."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words
from rules.checks.batches.size_not_found import GOES_ON

WORDS = {
    PlanFault.WHOLE_DATA_SET_BESIDE_BATCHES: Words(
        "TMG304",
        "the whole data set is fed in this training step, and batches are in another" + GOES_ON,
        "convert the models separately, each in a script of its own",
    ),
    PlanFault.DATA_IN_GRAPH: Words(
        "TMG304",
        "the whole data set goes into each step as a part of the graph" + GOES_ON,
        "feed batches of the size of one tower times the number of GPUs to scale up",
    ),
    PlanFault.WHOLE_DATA_SET: Words(
        "TMG304",
        "the whole data set is fed in each step" + GOES_ON,
        "feed batches of the size of one tower times the number of GPUs to scale up",
    ),
    PlanFault.REFILLED: Words(
        "TMG304",
        "the array that is fed here is filled again in the training loop, and it was not found that all of its rows "
        "are, if it has more" + GOES_ON,
        "fill it by the number that it was made with: for i in range(batch_size), or batch[:] = …",
    ),
    PlanFault.SAME_BATCH: Words(
        "TMG304",
        "the batch is made before the training loop, and each step is fed the same one" + GOES_ON,
        "make a batch in each turn of the loop, or make it larger by hand, to scale up",
    ),
}
