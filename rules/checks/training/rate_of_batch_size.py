"""The script computes its learning rate from the batch size."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.values import Number
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 10)))
train_op = tf.train.MomentumOptimizer({rate}, 0.9).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {{X: next_batch(batch_size)}})
"""

RULES = (
    Rule(
        code="TMG341",
        title="the learning rate is computed from the batch size",
        why="A step of the converted script takes N times as many examples, and the script makes its learning rate a "
        "multiple of that number: with N GPUs the rate is N times as large, whatever --scale-lr says. That is the "
        "usual rule for large batches, and may be what the script means. verify compares the steps with those of one "
        "GPU at its own rate, so it fails the check of the update. Write the rate as a number where it should stay, "
        "and leave its growth to --scale-lr.",
        before=_SCRIPT.format(rate="0.1 * batch_size / 256"),
        after=_SCRIPT.format(rate="0.025"),
        references=("docs: TMG113, --scale-lr",),
    ),
)


@check(Placed)
def rate_of_batch_size(case: Placed) -> Iterator[Diagnostic]:
    """Optimizers whose learning rate is a multiple of a batch size that grows. Says so once for each."""
    if case.options.batch != "per-gpu":
        return
    for call, rate in {site.call: site.value for site in case.facts.rates}.items():
        if isinstance(rate, Number) and rate.linear & case.size.scaled:
            yield warn(
                case.facts,
                call,
                "TMG341",
                "the learning rate is computed from the batch size, so it is N times as large on N GPUs",
                "write it as a number where it should stay, and scale it by --scale-lr",
            )
