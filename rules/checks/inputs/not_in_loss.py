"""An input is fed in training and is not seen to reach the loss."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG222",
        title="an input is fed in training and is not seen to reach the loss",
        why="What is fed in a training step has a part in it, as a rule. This input has a batch axis and is "
        "fed together with the others and read by the script, but nothing that the tool sees leads "
        "from it to the loss: either the step does not need it, or it gets there on a way that the tool does not "
        "see, and then the towers would take whole batches of it beside shards of the others. An input of which "
        "operations compute what nothing reads stays whole. Leave this one out of the feed if the step does not "
        "need it.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Z = tf.placeholder(tf.float32, [None, 3])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
extra_mean = tf.reduce_mean(Z, 0)
log_shape(extra_mean)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, extra, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Z: extra, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Z = tf.placeholder(tf.float32, [None, 3])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
extra_mean = tf.reduce_mean(Z, 0)
log_shape(extra_mean)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, extra, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)
