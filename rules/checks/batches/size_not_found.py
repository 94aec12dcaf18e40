"""The size of the batches was not found."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG303",
        title="the size of the batches was not found",
        why="What is fed here comes from code that the tool cannot follow: a generator, another file, a "
        "reader of its own. So the script goes on loading batches of the size that it had, and the "
        "towers share each of them. The steps are right, but each GPU has only 1/N of the work, and a "
        "run takes as many steps as before. Name the number batch_size where it is defined in the "
        "script, or make that code load N times as many.",
        before="""\
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for images, labels in batches():
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for images, labels in batches(batch_size):
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG110, how the number is followed",),
    ),
)
