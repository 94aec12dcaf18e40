"""Python functions inside the graph: what tf.py_func does to the batch is not seen in the graph."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
{features}
logits = tf.layers.dense(features, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
    print(sess.run(logits, {X: images}))
"""

RULES = (
    Rule(
        code="TMG313",
        title="a Python function in the graph is assumed to treat each example by itself",
        why="tf.py_func hands the batch to Python. What it does there is not seen in the graph; its result is given "
        "a shape that has a row for each example, and so each tower calls it with its shard. That is right for a "
        "function that works row by row. One that looks at the whole batch (takes its mean, sorts it) would get a "
        "shard instead. Check that it does not; where TensorFlow has the operation, use it, which is faster too: on "
        "several GPUs all towers wait for the one Python interpreter.",
        before=_SCRIPT.replace("{features}", """\
features = tf.py_func(np.abs, [X], tf.float32)
features.set_shape([None, 784])"""),
        after=_SCRIPT.replace("{features}", "features = tf.abs(X)"),
        references=(
            "tf.py_func: the operation runs in the process of the session, under the interpreter's lock "
            "(tensorflow/python/ops/script_ops.py, 1.15)",
        ),
    ),
)


@check(Placed)
def host_functions(case: Placed) -> Iterator[Diagnostic]:
    """Functions of Python that the towers call with their shards."""
    for effect in case.facts.effects:
        if effect.kind is EffectKind.HOST_FUNCTION and any(region.in_any_tower(effect.site) for region in case.regions):
            yield warn(
                case.facts,
                effect.node,
                "TMG313",
                f"tf.{effect.name} is assumed to treat each example by itself: each tower calls it with its shard",
                "check that it does not depend on the whole batch, or use TensorFlow's operations",
            )
