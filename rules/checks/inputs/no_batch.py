"""No batch of examples goes into the loss."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG202",
        title="no batch of examples goes into the loss",
        why="Towers share a batch. The loss that is minimised here depends on no input with a batch axis: "
        "no placeholder of the shape [None, …] or [batch_size, …] and no batch of a pipeline leads to "
        "it, or what leads to it is a placeholder whose shape says nothing and that is fed with a "
        "number. Arrays, lists and constants that the model reads directly are cut where the script shows "
        "their shapes and the loss is surely a mean or a sum over their rows (TMG304); the message says "
        "what is in the way. Feed the examples through a placeholder with a batch axis; for one that has "
        "it elsewhere or does not show it, --batch-axis NAME=0 says where.",
        before="""\
import numpy as np
import tensorflow as tf

x, y = np.loadtxt('points.txt', unpack=True, dtype='float32')
w = tf.get_variable('w', [])
b = tf.get_variable('b', [])
loss = tf.reduce_mean(tf.square(w * x + b - y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op)
""",
        after="""\
import numpy as np
import tensorflow as tf

x, y = np.loadtxt('points.txt', unpack=True, dtype='float32')
batch_size = 20
X = tf.placeholder(tf.float32, [None])
Y = tf.placeholder(tf.float32, [None])
w = tf.get_variable('w', [])
b = tf.get_variable('b', [])
loss = tf.reduce_mean(tf.square(w * X + b - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        rows = np.random.choice(len(x), batch_size)
        sess.run(train_op, {X: x[rows], Y: y[rows]})
""",
        references=("docs: TMG103, which inputs are cut",),
    ),
)
