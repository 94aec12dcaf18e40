"""A variable is made with the batch size in its shape."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG224",
        title="a variable is made with the batch size in its shape",
        why="Such a variable has a value for each place of a batch (a state that is carried from one batch "
        "to the next, a bias per row). A tower has only some of the places, and the global batch has N "
        "times as many as the checkpoint of the original. No share of the variable would be right. Make "
        "its shape independent of the batch size; a state that is carried over can be fed and fetched.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
bias = tf.get_variable('bias', [batch_size, 10])
logits = tf.layers.dense(X, 10) + bias
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

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
bias = tf.get_variable('bias', [10])
logits = tf.layers.dense(X, 10) + bias
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)
