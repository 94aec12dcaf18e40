"""The loss has no name where the towers are built."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG209",
        title="the loss has no name where the towers are built",
        why="Each tower's loss is kept when its turn ends, and the merged loss takes its name after the "
        "loop. Here functions of the script build it right where it is minimised, so there is no statement "
        "for the towers to execute. The same goes for a tensor that is fetched or looked up by its name in the "
        "graph and may be a part of the model: it has another name in each tower, and no name in the script by which "
        "it could be merged. And where the towers end before the loss, as the function around them makes inputs too, "
        "what it takes from them has to have a name there. Give the loss, or the tensor, a name in a statement of "
        "its own.",
        before="""\
import tensorflow as tf

batch_size = 64


def loss_of(x, y):
    return tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = tf.train.AdamOptimizer(0.001).minimize(loss_of(X, Y))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64


def loss_of(x, y):
    return tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 10))


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = loss_of(X, Y)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)
