"""Gradients that each tower clips."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule
from converter.syntax.lint.towers import TowerLoop, Towers, names_bound

RULES = (
    Rule(
        code="TMG406",
        title="each tower clips its own gradients",
        why="The mean of clipped gradients is not the clipped mean: towers whose gradient is large count less "
        "than others (18 % off in a small test), and a global norm is that of one tower's batch. Average "
        "first, then clip once.",
        before="""\
import tensorflow as tf

num_gpus = 4


def average_gradients(tower_grads):
    average = []
    for grads_and_vars in zip(*tower_grads):
        grads = tf.stack([g for g, _ in grads_and_vars])
        average.append((tf.reduce_mean(grads, 0), grads_and_vars[0][1]))
    return average


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
images, labels = tf.split(X, num_gpus), tf.split(Y, num_gpus)
optimizer = tf.train.AdamOptimizer(0.001)
tower_grads, tower_losses = [], []
for i in range(num_gpus):
    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i), \\
            tf.variable_scope('', reuse=i > 0):
        logits = tf.layers.dense(images[i], 10, name='logits')
        tower_loss = tf.losses.sparse_softmax_cross_entropy(labels[i], logits)
        tower_losses.append(tower_loss)
        grads = optimizer.compute_gradients(tower_loss)
        tower_grads.append([(tf.clip_by_norm(g, 5.0), v) for g, v in grads])
loss = tf.reduce_mean(tf.stack(tower_losses))
train_op = optimizer.apply_gradients(average_gradients(tower_grads))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(64 * num_gpus)
        sess.run(train_op, {X: x, Y: y})
""",
        after="""\
import tensorflow as tf

num_gpus = 4


def average_gradients(tower_grads):
    average = []
    for grads_and_vars in zip(*tower_grads):
        grads = tf.stack([g for g, _ in grads_and_vars])
        average.append((tf.reduce_mean(grads, 0), grads_and_vars[0][1]))
    return average


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
images, labels = tf.split(X, num_gpus), tf.split(Y, num_gpus)
optimizer = tf.train.AdamOptimizer(0.001)
tower_grads, tower_losses = [], []
for i in range(num_gpus):
    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i), \\
            tf.variable_scope('', reuse=i > 0):
        logits = tf.layers.dense(images[i], 10, name='logits')
        tower_loss = tf.losses.sparse_softmax_cross_entropy(labels[i], logits)
        tower_losses.append(tower_loss)
        tower_grads.append(optimizer.compute_gradients(tower_loss))
loss = tf.reduce_mean(tf.stack(tower_losses))
grads = [(tf.clip_by_norm(g, 5.0), v) for g, v in average_gradients(tower_grads)]
train_op = optimizer.apply_gradients(grads)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(64 * num_gpus)
        sess.run(train_op, {X: x, Y: y})
""",
    ),
)


_CLIPPING = ("tf.clip_by_global_norm", "tf.clip_by_norm", "tf.clip_by_value", "tf.clip_by_average_norm")


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find gradients that are clipped inside the loop."""
    for loop in towers.loops:
        for call in loop.calls:
            if loop.of(call) in _CLIPPING and call.args and _is_gradient(loop, call):
                yield towers.finding(
                    call,
                    "TMG406",
                    "each tower clips its own gradients: the mean of clipped gradients is not the clipped mean",
                    "average the towers' gradients first, and clip what comes of it",
                )


def _is_gradient(loop: TowerLoop, call: ast.Call) -> bool:
    """Whether a call is given gradients: by name, or by the comprehension that it stands in."""
    known = set(loop.gradients)
    for around in loop.script.above(call):
        for part in getattr(around, "generators", ()):
            if loop.takes_gradients(part.iter, loop.gradients):
                known |= names_bound([part.target])
    return loop.takes_gradients(call.args[0], known)
