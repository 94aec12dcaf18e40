"""The same model is built for one example at a time."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.DATA_SET_OF_ONE_EXAMPLE: Words(
        "TMG316",
        "this data set gives one example at a time, which has no shards: all towers but the first compute on a copy "
        "that is left out",
        "let it give larger batches; one that is read in training should give the script's batch size",
    ),
    PlanFault.MODEL_OF_ONE_EXAMPLE: Words(
        "TMG316",
        "the same model is built for one example at a time, which has no shards: all towers but the first "
        "compute on a copy that is left out",
        "build that model in a script of its own, and restore the checkpoint there",
    ),
}
