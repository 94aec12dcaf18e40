"""A variable carries results of one batch to the next step."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG234",
        title="a variable carries results of one batch to the next step",
        why="The model reads a variable that another operation sets from the batch: a centre of the features, a "
        "memory, a state. Its value depends on the batches before, and each tower saw only its shard of them, so "
        "no tower's update is the original's. Moving averages of batch normalisation, which training does not "
        "read, are not affected: the first tower's are kept. A single number that is set after the loss, such as "
        "the balance of a BEGAN, is not affected either: it is computed once, from merged values. Feed the state "
        "and fetch it, or leave statistics to a layer.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.dense(X, 64)
center = tf.get_variable('center', [64], trainable=False, initializer=tf.zeros_initializer())
logits = tf.layers.dense(hidden - center, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
update = tf.assign(center, 0.9 * center + 0.1 * tf.reduce_mean(hidden, 0))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run([train_op, update], {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden = tf.layers.batch_normalization(tf.layers.dense(X, 64), training=True)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG106, moving averages", "docs: TMG224, a variable with the batch size in its shape",),
    ),
)
