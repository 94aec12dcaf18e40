"""What is no training step, or one that cannot be taken apart."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG201",
        title="no training step was found",
        why="The tool looks for what a training script does: minimize(), compute_gradients() or tf.gradients() of "
        "a loss, in the script or in the functions that it calls. This file has none that can be reached: it "
        "only builds a model, evaluates one, or trains it in another file. Towers speed up training, so there "
        "is nothing to do here. Convert the script that trains.",
        before="""\
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 784])
logits = tf.layers.dense(X, 10)

with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    print(sess.run(logits, {X: load()}))
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
    Rule(
        code="TMG202",
        title="no batch of examples goes into the loss",
        why="Towers share a batch. The loss that is minimised here depends on no input with a batch axis: no "
        "placeholder of the shape [None, …] or [batch_size, …] and no batch of a pipeline leads to it, or "
        "what leads to it is a placeholder whose shape says nothing and that is fed with a number. Data that "
        "is built into the graph as a constant is not cut. Feed the examples through a placeholder with a "
        "batch axis; for one that has it elsewhere or does not show it, --batch-axis NAME=0 says where.",
        before="""\
import numpy as np
import tensorflow as tf

x = np.linspace(0, 1, 100).astype('float32')
y = 3 * x + 1
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

x = np.linspace(0, 1, 100).astype('float32')
y = 3 * x + 1
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
    Rule(
        code="TMG209",
        title="the loss has no name where the towers are built",
        why="Each tower's loss is kept when its turn ends, and the merged loss takes the name after the loop. A loss "
        "that is only an argument, as in minimize(tf.reduce_mean(…)), has no name to be kept under, and what "
        "computes it stands in the same statement as the step that must be taken once. Give it a name in a "
        "statement of its own.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
train_op = tf.train.AdamOptimizer(0.001).minimize(tf.losses.sparse_softmax_cross_entropy(Y, logits))

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
logits = tf.layers.dense(X, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
    Rule(
        code="TMG213",
        title="the training step is made by a function that cannot be taken apart",
        why="slim.learning.create_train_op, tf.contrib.layers.optimize_loss and their like compute gradients, change "
        "them, apply them and update collections in one call. The towers need the halves apart: gradients for "
        "each, one update for all. A minimize() whose arguments are given by * or ** cannot be taken apart "
        "either. Write the step with the optimizer itself: minimize(), or compute_gradients() and "
        "apply_gradients() with what the function did in between.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.contrib.slim.fully_connected(X, 10, activation_fn=None)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
optimizer = tf.train.AdamOptimizer(0.001)
train_op = tf.contrib.slim.learning.create_train_op(loss, optimizer)

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
logits = tf.contrib.slim.fully_connected(X, 10, activation_fn=None)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
optimizer = tf.train.AdamOptimizer(0.001)
train_op = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=(
            "tf.contrib.slim.learning.create_train_op, tf.contrib.training.create_train_op, "
            "tf.contrib.layers.optimize_loss (TensorFlow 1.x)",
        ),
    ),
)
