"""Each training step takes one example."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG218",
        title="each training step takes one example",
        why="The placeholders have no batch axis and the training loop feeds them with the examples of the "
        "data set one by one, or it feeds batches of a single row ([x], x[None], x.reshape(1, 4)), as "
        "programs do that take the gradients of each step of a game and feed back their mean. Or the rows "
        "that are fed are the steps of one sequence: a recurrent net (time_major=True), tf.scan or a loop "
        "of the graph takes what it made of one row to the next, and each tower would begin anew. There "
        "is nothing to share among towers, and on GPUs a step of one example is mostly waiting. Feed "
        "several examples at a time, to placeholders with a batch axis, and take the mean of their losses.",
        before="""\
import numpy as np
import tensorflow as tf

train_x = np.linspace(0, 1, 100)
train_y = 3 * train_x
X = tf.placeholder(tf.float32)
Y = tf.placeholder(tf.float32)
w = tf.Variable(0.0)
loss = tf.reduce_mean(tf.square(w * X - Y))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for x, y in zip(train_x, train_y):
        sess.run(train_op, {X: x, Y: y})
    print(sess.run(w), sess.run(loss, {X: train_x, Y: train_y}))
""",
        after="""\
import numpy as np
import tensorflow as tf

batch_size = 16
train_x = np.linspace(0, 1, 100)
train_y = 3 * train_x
X = tf.placeholder(tf.float32, [None])
Y = tf.placeholder(tf.float32, [None])
w = tf.Variable(0.0)
loss = tf.reduce_mean(tf.square(w * X - Y))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, len(train_x), batch_size):
        sess.run(train_op, {X: train_x[i:i + batch_size], Y: train_y[i:i + batch_size]})
""",
    ),
)
