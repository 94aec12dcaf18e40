"""Concatenated batches are combined with an input that has one row for each example."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.reasons import Why
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.region.inputs import uncut_values
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG215",
        title="concatenated batches are combined with an input that has one row for each example",
        why="Two batches one behind the other (tf.concat along the batch axis, the two sides of a pair, real and "
        "generated images) are no longer one batch: a tower has its shard of the first followed by its shard of "
        "the second. An input that is fed with rows for all of them at once, such as labels for both halves, "
        "would be cut down the middle instead, and its rows would belong to other examples. The same holds for "
        "the pieces into which the model splits an input (tf.split into a given number of pieces along the batch "
        "axis, as for the parts of a recurrent net's state): the pieces of a shard are not the shards of the "
        "pieces. Feed an input of its own for each of the batches, and concatenate these as the batches are "
        "concatenated.",
        before="""\
import tensorflow as tf

batch_size = 64
A = tf.placeholder(tf.float32, [None, 784])
B = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])
prediction = tf.layers.dense(tf.concat([A, B], 0), 1)
loss = tf.reduce_mean(tf.square(prediction - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        a, b, targets = next_batches(batch_size)
        sess.run(train_op, {A: a, B: b, Y: targets})
""",
        after="""\
import tensorflow as tf

batch_size = 64
A = tf.placeholder(tf.float32, [None, 784])
B = tf.placeholder(tf.float32, [None, 784])
YA = tf.placeholder(tf.float32, [None, 1])
YB = tf.placeholder(tf.float32, [None, 1])
prediction = tf.layers.dense(tf.concat([A, B], 0), 1)
loss = tf.reduce_mean(tf.square(prediction - tf.concat([YA, YB], 0)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        a, b, targets_a, targets_b = next_batches(batch_size)
        sess.run(train_op, {A: a, B: b, YA: targets_a, YB: targets_b})
""",
        references=("docs: TMG103, how batches are cut",),
    ),
)


@check(Selected)
def stacked_batches(case: Selected) -> Iterator[Diagnostic]:
    """Several batches stacked on top of each other that meet an input with one row for each example."""
    yield from uncut_values(
        case.facts,
        case.steps,
        "TMG215",
        {
            Why.CONFLICT: "feed a separate input for each of the batches",
            Why.PIECES: "feed a separate input for each of the pieces",
        },
    )
