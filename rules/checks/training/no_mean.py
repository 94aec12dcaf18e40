"""The loss is not known to be a mean over the examples."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG302",
        title="the loss is not known to be a mean over the examples",
        why="The gradients of the towers' losses are averaged. For a mean over the examples that is the "
        "gradient of the whole batch. For a root of a mean, a dice coefficient, a ratio of two sums, or "
        "a loss that sets the examples of a batch against each other (in-batch negatives, hard "
        "triplets), it is the average over N batches of the original's size: a sound training step, but "
        "not what one GPU would do with one batch of N times the size. The message says which operation "
        "it is. With --loss global the loss is computed once, from the towers' merged results (TMG167), as "
        "it always is with --batch total; where that cannot be done, this warning stays. Where a mean says "
        "the same, minimise that: the mean squared error has the minimum of its root.",
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
)
