"""The loss adds a sum over the examples and a term that does not depend on them."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG211",
        title="the loss adds a sum over the examples and a term that does not depend on them",
        why="With --batch total the towers' sums over their shards add up to the sum over the batch, so "
        "that the steps stay the original's. A term beside the sum that does not depend on the "
        "examples, such as weight decay, is in every tower's loss and would be added N times. Where the "
        "towers can compute the results for the examples, the loss is computed once from all of them "
        "(TMG167); here the layers and the sums are made in one loop. Divide the "
        "sum by the batch size, so that the loss is a mean and the towers are averaged, or take --batch "
        "per-gpu, which averages them too.",
        options=("--batch", "total"),
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])
w = tf.get_variable('w', [784, 100])
hidden = tf.matmul(X, w)
loss = 0.01 * tf.nn.l2_loss(w)
for head in range(3):
    loss += tf.reduce_sum(tf.square(tf.layers.dense(hidden, 1) - Y))
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
w = tf.get_variable('w', [784, 100])
hidden = tf.matmul(X, w)
loss = 0.01 * tf.nn.l2_loss(w)
for head in range(3):
    loss += tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: targets})
""",
        references=("docs: TMG301, sums with --batch per-gpu",),
    ),
)

WORDS = {
    Found.SUM_IN_BRANCH: Words(
        "TMG211",
        "{reason}: whether the towers' losses are to be added is not known",
        "divide the sum by the batch size, or keep one of the branches",
    ),
    Found.SUM_AND_TERM: Words(
        "TMG211",
        "this loss adds a sum over the examples and a term that does not depend on them",
        "divide the sum by the batch size; or use --batch per-gpu, for which a batch size must be found in the script",
    ),
}
