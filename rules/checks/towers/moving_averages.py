"""Moving averages that the model makes of its tensors are used after it."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG226",
        title="moving averages that the model makes of its tensors are used after it",
        why="ExponentialMovingAverage.apply names its variables after the tensors that it averages. Where the "
        "model does so, as in a batch norm written by hand, the first tower keeps the averages under the names that "
        "they have on one GPU, and the others read them (TMG106). After the loop such an object knows the "
        "last tower's tensors only: .average() would give nothing, and what makes the update depend on a "
        "condition there, or wait for it, would update nothing. The batch itself has no name in a tower. "
        "Averages of variables, made after the training step, are not concerned.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 10)
mean = tf.reduce_mean(hidden, 0)
ema = tf.train.ExponentialMovingAverage(0.9)
with tf.control_dependencies([ema.apply([mean])]):
    logits = hidden - tf.identity(ema.average(mean))
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
tf.summary.histogram('mean', ema.average(mean))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 10)
mean = tf.reduce_mean(hidden, 0)
ema = tf.train.ExponentialMovingAverage(0.9)
with tf.control_dependencies([ema.apply([mean])]):
    average = ema.average(mean)
    logits = hidden - tf.identity(average)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
tf.summary.histogram('mean', average)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("tf.train.ExponentialMovingAverage",),
    ),
)
