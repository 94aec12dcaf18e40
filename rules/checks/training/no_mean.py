"""The loss is not known to be a mean over the examples."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG302",
        title="the loss is not known to be a mean over the examples",
        why="The gradients of the towers' losses are averaged. For a mean over the examples that is the gradient of "
        "the whole batch. For a root of a mean, a dice coefficient, a ratio of two sums, or a loss that compares the "
        "examples of a batch with each other (in-batch negatives, hard triplets), it is the average over N batches "
        "of the original's size: a sound training step, but not what one GPU would do with one batch of N times the "
        "size. The message says which operation it is. A sum that is divided by the batch size is no mean of a smaller "
        "batch either, such as the last of an epoch. With --loss global the loss is computed once, from the towers' "
        "merged results (TMG167), as it always is with --batch total; where that cannot be done, this warning stays. "
        "Where a mean says the same, minimise that: the mean squared error has the minimum of its root.",
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

WORDS = {
    Found.LOSS_NOT_FROM_RESULTS: Words(
        "TMG302",
        "the loss is not computed from per-example results that are created in one place",
        "compute these results, and then the loss, in statements of their own",
        "error",
    ),
    Found.STATISTICS_OF_SHARES: Words(
        "TMG302",
        "statistics of the batch go into this loss, as in a batch norm: each tower takes those of its share "
        "of the batch, which differs from one GPU with the whole batch",
        "use --batch per-gpu, with which a tower's share is as large as one GPU's batch was; for that a batch size "
        "must be found in the script",
    ),
    Found.NO_MEAN: Words(
        "TMG302",
        "this loss is not known to be a mean over the examples ({why}): the towers' losses are averaged, "
        "which differs from one GPU with the whole batch",
        "--loss global computes it once, from the towers' merged results; otherwise check that the mean of several "
        "batches' losses is what you want",
    ),
    Found.NO_MEAN_ALL_THE_SAME: Words(
        "TMG302",
        "this loss is not known to be a mean over the examples ({why}): the towers' losses are averaged, "
        "which differs from one GPU with the whole batch",
        "to have it computed once, compute one result for each example before it, in one place; or check that the "
        "mean of several batches' losses is what you want",
    ),
    Found.DIVIDED_BY_SIZE: Words(
        "TMG302",
        "a sum over the examples is divided by the batch size in this loss: the towers' losses are averaged over the "
        "examples that a step has, which differs from one GPU where these are fewer, as at the end of an epoch",
        "divide by the number of examples, tf.cast(tf.shape(x)[0], tf.float32), or take tf.reduce_mean",
    ),
}
