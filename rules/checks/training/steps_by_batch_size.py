"""A number of steps is divided by the batch size."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.batch_size.intervals import divided_steps
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64{own}
X = tf.placeholder(tf.float32, [None, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 784) - X))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1000):
        sess.run(train_op, {{X: next_batch(batch_size)}})
        print('epoch', step // {steps})
"""

RULES = (
    Rule(
        code="TMG387",
        title="a number of steps is divided by the batch size",
        why="With N GPUs the batch size of the script is N times as large, and this quotient 1/N of what it was: an "
        "epoch that is counted so begins after N times as many steps. A number of examples divided by the batch size "
        "counts batches; a number of steps divided by it means neither. Give the number of steps in an epoch a name "
        "of its own. `step % batch_size == 0` goes on being true at the same steps, and `step * batch_size // n` "
        "counts epochs as before.",
        before=_SCRIPT.format(own="", steps="batch_size"),
        after=_SCRIPT.format(own="\nsteps = 64", steps="steps"),
        references=("docs: TMG110, how the number is followed",),
    ),
)


@check(Placed)
def steps_by_batch_size(case: Placed) -> Iterator[Diagnostic]:
    """Ratios of a number of steps and a batch size that grows."""
    if case.options.batch != "per-gpu":
        return
    for node in divided_steps(case.facts, case.regions, case.steps, case.size.scaled):
        yield warn(
            case.facts,
            node,
            "TMG387",
            "a number of steps is divided by the batch size here: with N GPUs this is 1/N of what it was",
            "give the number of steps a name of its own",
        )
