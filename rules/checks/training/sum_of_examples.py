"""The loss is a sum over the examples."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG301",
        title="the loss is a sum over the examples",
        why="A sum grows with the batch, and so does its gradient. With --batch per-gpu the towers' sums "
        "are averaged like every other loss: one step is as large as one of the original on its batch, "
        "computed from N of them. One GPU with the N times larger batch would take a step N times as "
        "large. If that is what the learning rate was chosen for, --batch total adds the sums. Where the loss "
        "is fetched, it is the mean of the towers' sums as well: an evaluation that feeds as many examples as "
        "in the original gets 1/N of the original's number. A mean over the examples leaves nothing to decide.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_sum(tf.square(tf.layers.dense(X, 1) - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: targets})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: targets})
""",
        references=("docs: TMG211, sums with --batch total",),
    ),
)

WORDS = {
    Found.SUM_OVER_EXAMPLES: Words(
        "TMG301",
        "this loss is a sum over the examples: the towers' sums are averaged, so a step is as large as on one "
        "GPU with its own batch, and the loss that a run fetches, an evaluation's too, is 1/N of its examples' sum",
        "use --loss global to add them up; --batch total also keeps the steps of one GPU",
    ),
}
