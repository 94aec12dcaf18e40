"""The batch size comes from the caller."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG305",
        title="the batch size comes from the caller",
        why="A function takes the batch size as a parameter, and nothing in this file calls it, so the "
        "number's definition is out of sight. The parameter is multiplied where the function begins: it "
        "means the batch of one tower. A caller that does its own counting with it (steps in an epoch, "
        "slices of the data) still counts in batches of one tower. Let callers hand over the batch size "
        "of one tower and load their batches N times as large, or define the number in this file.",
        before="""\
import tensorflow as tf


def train(data, batch_size):
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])
    logits = tf.layers.dense(X, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            images, labels = data.next_batch(batch_size)
            sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf


def train(data):
    batch_size = 64
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])
    logits = tf.layers.dense(X, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            images, labels = data.next_batch(batch_size)
            sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG110, how the number is followed",),
    ),
)

WORDS = {
    Found.SIZE_FROM_CALLER: Words(
        "TMG305",
        "the batch size comes from the caller: {name} is multiplied here, but the caller's own uses of it are not",
        "let callers hand over the batch size of one tower, and load their own batches N times as large",
    ),
}
