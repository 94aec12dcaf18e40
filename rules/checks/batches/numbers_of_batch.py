"""The model reads a number that depends on the batch size in an unknown way."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG207",
        title="the model reads a number that depends on the batch size in an unknown way",
        why="Inside the towers a batch size means one shard's. That is known for the batch size itself and "
        "for multiples and fractions of it, which are re-bound there, and for numbers that the model's "
        "own block computes from it. This number is computed elsewhere and is neither: batch_size - 1, "
        "1 / batch_size. The model would read the one of the global batch. Compute it where the model "
        "uses it, from the batch size. A batch size that is fed to a placeholder of whole numbers is counted in each "
        "tower (TMG108); as a fraction, or in front of the model, or beside inputs with other numbers of rows, it "
        "cannot be: read it off an input, tf.shape(X)[0]. Lists and arrays that Python makes with the batch size "
        "(`[steps] * batch_size`, numpy.ones) are made by each tower where all their rows are alike. And a number of "
        "rows that a batch is reshaped to, and that nothing tells to be the batch size, would be the same in each "
        "tower.",
        before="""\
import tensorflow as tf

batch_size = 64
noise = 0.1 / batch_size


def build(x, y):
    x = x + tf.random_normal(tf.shape(x), stddev=noise)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))
    return tf.train.AdamOptimizer(0.001).minimize(loss)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = build(X, Y)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64


def build(x, y, size):
    x = x + tf.random_normal(tf.shape(x), stddev=0.1 / size)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))
    return tf.train.AdamOptimizer(0.001).minimize(loss)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = build(X, Y, batch_size)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG108, the number inside the towers",),
    ),
)
