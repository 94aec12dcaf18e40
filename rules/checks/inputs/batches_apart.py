"""A loss takes the examples of two batches of different sizes, each cut by its own number of rows."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.values import Input
from converter.diagnostics import Diagnostic
from converter.planner.batch_size.fed.together import apart, unsure
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
U = tf.placeholder(tf.float32, [None, 784])


def net(images):
    with tf.variable_scope('net', reuse=tf.AUTO_REUSE):
        return tf.layers.dense(images, 10)


known = tf.losses.sparse_softmax_cross_entropy(Y, net(X))
loss = known + 0.1 * tf.reduce_mean(tf.square(net(U)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = labelled.next_batch(batch_size)
        sess.run(train_op, {{X: images, Y: labels, U: others.next_batch({others})}})
"""

RULES = (
    Rule(
        code="TMG342",
        title="two batches of different sizes go into one loss",
        why="A step feeds two batches of different sizes, such as labelled examples and more that have no label. Each "
        "is cut into as many shards as there are towers, by its own number of rows. A tower's loss has one weight in "
        "the mean of all, and that is its share of the first batch. As long as the number of GPUs divides both sizes, "
        "all shares are equal and the step is exact. Of a last, shorter batch the shares differ by a row, and the "
        "terms of the other batch are weighted by a share that is not theirs. `verify` skips its uneven batches for "
        "such scripts and says so. Batches of which nothing tells that they have as many rows, and which meet nowhere "
        "in the model, are cut in the same way.",
        before=_SCRIPT.format(others="4 * 64"),
        after=_SCRIPT.format(others="batch_size"),
        references=("docs: TMG106, weights of uneven shards",),
    ),
)


@check(Placed)
def batches_apart(case: Placed) -> Iterator[Diagnostic]:
    """Losses behind which inputs lie that a run feeds different numbers of rows, or may feed them."""
    doubtful = unsure(case.facts) if case.regions else frozenset()
    for region in case.regions:
        unlike = apart(case.facts, region.needed.values())
        for step in case.steps:
            inputs = [value for value in step.loss.roots if isinstance(value, Input)]
            pairs = [(a, b) for a in inputs for b in inputs if a.uid < b.uid]
            known = next((pair for pair in pairs if (pair[0].uid, pair[1].uid) in unlike), None)
            pair = known or next((pair for pair in pairs if (pair[0].uid, pair[1].uid) in doubtful), None)
            if pair is not None and step.loss.uid in region.needed and region.in_tower(step.loss.site):
                first, second = map(_called, pair)
                fed = "is fed another number of" if known else "may be fed another number of"
                yield warn(
                    case.facts,
                    step.call,
                    "TMG342",
                    f"{second} {fed} rows than {first}, and "
                    "both go into this loss: where the towers' shares differ by a row, one weight stands for both",
                    "leave out a last batch that the number of GPUs does not divide"
                    if known
                    else f"feed as many rows of {second} as of {first}, or numbers that the number of GPUs divides",
                )
                break


def _called(value: Input) -> str:
    line = getattr(value.node, "lineno", None)
    return value.label or (f"the input of line {line}" if line else "an input")
