"""Sums over the examples that the script divides by the batch size: they are means."""

from __future__ import annotations

from dataclasses import replace

from converter.analysis.facts import Facts, TrainStep
from converter.planner.batch_size.batch_size import BatchSize, find_batch_size
from converter.planner.own.losses import settle_losses
from converter.planner.region.inputs import batch_inputs
from converter.planner.region.prepared_batches import upstream
from converter.planner.steps import executions, training_steps


def size_for(facts: Facts, steps: tuple[TrainStep, ...]) -> BatchSize:
    """The batch size of some training steps."""
    inputs = batch_inputs(steps)
    if any(value.is_own for value in inputs):
        return BatchSize(frozenset(), fixed=False, warnings=())  # each tower takes what one step takes
    return find_batch_size(facts, upstream(inputs), executions(facts, steps))


def settle_means(facts: Facts) -> Facts:
    """The last step of reading a script: only then it is known which numbers are batch sizes.

    Whoever reads the facts after that, the passes of the planner and the second reading, finds means where the script
    has `tf.reduce_sum(loss) / batch_size`, and changes nothing in them.
    """
    sums = [tensor for tensor in settle_losses(facts).tensors if tensor.batch.how == "sum" and tensor.batch.per]
    steps, _ = training_steps(facts) if sums else ((), ())
    if not steps or facts.endless is not None:
        return facts
    keys = {origin.key for origin in size_for(facts, steps).origins}
    for tensor in sums:
        if any(origin.key in keys for origin in tensor.batch.per):
            tensor.batch = replace(tensor.batch, how="mean", per=frozenset())
    return facts
