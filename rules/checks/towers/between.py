"""A statement in the middle of the model cannot be moved."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG203",
        title="a statement in the middle of the model cannot be moved",
        why="The loop holds the statements from the first use of an input to the loss. A statement among them that "
        "does not depend on the batch goes before the loop; one that the loss does not need goes after it. This "
        "statement can do neither: it makes an input from a result of the model, it ends the block, or it calls "
        "another package that may add to a collection of the graph which the loss reads. Inside the loop it would "
        "be executed once for each tower. Move it before the model or after the loss.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
hidden = tf.layers.dense(X, 64)
Y = tf.placeholder(tf.float32, [None, int(hidden.shape[1])])
loss = tf.reduce_mean(tf.square(hidden - Y))
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
Y = tf.placeholder(tf.float32, [None, 64])
hidden = tf.layers.dense(X, 64)
loss = tf.reduce_mean(tf.square(hidden - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: targets})
""",
    ),
)
