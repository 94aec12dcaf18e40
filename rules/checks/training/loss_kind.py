"""What the loss is of the examples: a mean, a sum, or neither."""

from __future__ import annotations

from converter.rule import Rule

_MASKED = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [batch_size, 20, 16])
Y = tf.placeholder(tf.int64, [batch_size, 20])
mask = tf.placeholder(tf.float32, [batch_size, 20])
logits = tf.layers.dense(X, 10)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y)
loss = {loss}
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y, m = next_batch(batch_size)
        sess.run(train_op, {{X: x, Y: y, mask: m}})
"""

RULES = (
    Rule(
        code="TMG211",
        title="the loss adds a sum over the examples and a term that does not depend on them",
        why="With --batch total the towers' sums over their shards add up to the sum over the batch, so "
        "that the steps stay the original's. A term beside the sum that does not depend on the "
        "examples, such as weight decay, is in every tower's loss and would be added N times. Divide "
        "the sum by the batch size, so that the loss is a mean and the towers are averaged, or take "
        "--batch per-gpu, which averages them too.",
        options=("--batch", "total"),
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])
w = tf.get_variable('w', [784, 1])
loss = tf.reduce_sum(tf.square(tf.matmul(X, w) - Y)) + 0.01 * tf.nn.l2_loss(w)
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
w = tf.get_variable('w', [784, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(X, w) - Y)) + 0.01 / batch_size * tf.nn.l2_loss(w)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: targets})
""",
        references=("docs: TMG301, sums with --batch per-gpu",),
    ),
    Rule(
        code="TMG301",
        title="the loss is a sum over the examples",
        why="A sum grows with the batch, and so does its gradient. With --batch per-gpu the towers' sums "
        "are averaged like every other loss: one step is as large as one of the original on its batch, "
        "computed from N of them. One GPU with the N times larger batch would take a step N times as "
        "large. If that is what the learning rate was chosen for, --batch total adds the sums. A mean "
        "over the examples leaves nothing to decide.",
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
    Rule(
        code="TMG302",
        title="the loss is not known to be a mean over the examples",
        why="The gradients of the towers' losses are averaged. For a mean over the examples that is the "
        "gradient of the whole batch. For a root of a mean, a dice coefficient, a ratio of two sums, or "
        "a loss that sets the examples of a batch against each other (in-batch negatives, hard "
        "triplets), it is the average over N batches of the original's size: a sound training step, but "
        "not what one GPU would do with one batch of N times the size. The message says which operation "
        "it is. Where a mean says the same, minimise that: the mean squared error has the minimum of "
        "its root.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.sqrt(tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        print(sess.run([train_op, loss], {X: images, Y: targets}))
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
rmse = tf.sqrt(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        print(sess.run([train_op, rmse], {X: images, Y: targets}))
""",
    ),
    Rule(
        code="TMG322",
        title="a masked mean of a batch that one GPU cannot take N times as large",
        why="Where a loss is a mean over what a mask leaves, each tower counts by what its mask leaves (TMG117), so "
        "that the loss is the mean over what is left of the whole batch. With a batch of a fixed size, or with a "
        "batch norm that takes statistics of a tower's examples, the original has no step on that batch which "
        "would be the same, and the plain mean of its gradients on the towers' batches is another one: there a "
        "batch of short sequences counts as much as one of long ones. `verify` weighs the original's runs on the "
        "shards in the same way. Divide by the number of examples if all towers are to count alike. With --batch "
        "total nothing is left open for a fixed size.",
        before=_MASKED.format(loss="tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)"),
        after=_MASKED.format(loss="tf.reduce_mean(tf.reduce_sum(losses * mask, 1))"),
        references=("docs: TMG117, masked means are weighed",),
    ),
)
