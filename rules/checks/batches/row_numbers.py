"""An example is treated by its row number."""

from __future__ import annotations

from converter.rule import Rule

_ROWS_TOLD_APART = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 10])
rows = tf.range(tf.shape(X)[0])
predicted = tf.layers.dense(X, 10)
error = tf.where(tf.equal(rows % 2, 0), tf.square(predicted - Y), tf.abs(predicted - Y))
loss = tf.reduce_mean(error)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""
_EXAMPLES_TOLD_APART = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 10])
even = tf.placeholder(tf.bool, [None])
predicted = tf.layers.dense(X, 10)
error = tf.where(even, tf.square(predicted - Y), tf.abs(predicted - Y))
loss = tf.reduce_mean(error)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels, is_even = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels, even: is_even})
"""

RULES = (
    Rule(
        code="TMG244",
        title="an example is treated by its row number, in a batch that the towers share",
        why="`tf.range` over the batch numbers its rows. As places in the batch (for tf.gather_nd, to pick a value of "
        "each row) such numbers are right in each tower, which counts its own rows. But if they are compared, "
        "taken modulo a number, or looked up in a table, the result for an example depends on its place in the "
        "batch. Each tower counts from 0, so in a batch that the towers share other examples would be chosen than "
        "on one GPU.",
        before=_ROWS_TOLD_APART,
        after=_EXAMPLES_TOLD_APART,
        options=("--batch", "total"),
        references=("docs: TMG317, where each tower has a batch of its own",),
    ),
    Rule(
        code="TMG317",
        title="an example is treated by its row number",
        why="`tf.range` over the batch numbers its rows, and the result for an example depends on this number. Each "
        "tower counts the rows of its own batch from 0, as the script did on one GPU with its batch. Only if the "
        "last batch of an epoch is smaller and shared by the towers, its rows get other numbers than on one GPU.",
        before=_ROWS_TOLD_APART,
        after=_EXAMPLES_TOLD_APART,
        references=("docs: TMG244, where the towers share a batch",),
    ),
)
