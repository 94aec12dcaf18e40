"""The loss is not known to be a mean over the examples."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.LOSS_NOT_FROM_RESULTS: Words(
        "TMG302",
        "the loss is not computed from per-example results that are created in one place",
        "compute these results, and then the loss, in statements of their own",
        "error",
    ),
    PlanFault.STATISTICS_OF_SHARES: Words(
        "TMG302",
        "statistics of the batch go into this loss, as in a batch norm: each tower takes those of its share "
        "of the batch, which differs from one GPU with the whole batch",
        "use --batch per-gpu, with which a tower's share is as large as one GPU's batch was; for that a batch size "
        "must be found in the script",
    ),
    PlanFault.NO_MEAN: Words(
        "TMG302",
        "this loss is not known to be a mean over the examples ({why}): the towers' losses are averaged, "
        "which differs from one GPU with the whole batch",
        "--loss global computes it once, from the towers' merged results; otherwise check that the mean of several "
        "batches' losses is what you want",
    ),
    PlanFault.NO_MEAN_ALL_THE_SAME: Words(
        "TMG302",
        "this loss is not known to be a mean over the examples ({why}): the towers' losses are averaged, "
        "which differs from one GPU with the whole batch",
        "to have it computed once, compute one result for each example before it, in one place; or check that the "
        "mean of several batches' losses is what you want",
    ),
    PlanFault.DIVIDED_BY_SIZE: Words(
        "TMG302",
        "a sum over the examples is divided by the batch size in this loss: the towers' losses are averaged over the "
        "examples that a step has, which differs from one GPU where these are fewer, as at the end of an epoch",
        "divide by the number of examples, tf.cast(tf.shape(x)[0], tf.float32), or take tf.reduce_mean",
    ),
}
