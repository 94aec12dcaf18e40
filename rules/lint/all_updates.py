"""Moving averages that every tower updates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule
from converter.syntax.lint.towers import Towers
from converter.syntax.script import argument

RULES = (
    Rule(
        code="TMG404",
        title="the update operations of all towers run in one step",
        why="tf.GraphKeys.UPDATE_OPS holds the updates of every tower's batch normalisation, and all of them "
        "change the same moving averages. Running them all moves the averages N times in a step, in an "
        "order that is left to chance. Run those of one tower: tf.get_collection(tf.GraphKeys.UPDATE_OPS, "
        "scope), with the scope that the first tower's tf.name_scope gives.",
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
    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i) as scope, \\
            tf.variable_scope('', reuse=i > 0):
        normal = tf.layers.batch_normalization(images[i], training=True, name='bn')
        logits = tf.layers.dense(normal, 10, name='logits')
        tower_loss = tf.losses.sparse_softmax_cross_entropy(labels[i], logits)
        tower_losses.append(tower_loss)
        tower_grads.append(optimizer.compute_gradients(tower_loss))
loss = tf.reduce_mean(tf.stack(tower_losses))
update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(update_ops):
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
    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i) as scope, \\
            tf.variable_scope('', reuse=i > 0):
        normal = tf.layers.batch_normalization(images[i], training=True, name='bn')
        logits = tf.layers.dense(normal, 10, name='logits')
        tower_loss = tf.losses.sparse_softmax_cross_entropy(labels[i], logits)
        tower_losses.append(tower_loss)
        if i == 0:
            update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
        tower_grads.append(optimizer.compute_gradients(tower_loss))
loss = tf.reduce_mean(tf.stack(tower_losses))
with tf.control_dependencies(update_ops):
    train_op = optimizer.apply_gradients(average_gradients(tower_grads))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(64 * num_gpus)
        sess.run(train_op, {X: x, Y: y})
""",
    ),
)


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find the whole collection of update operations, taken after towers that normalise batches."""
    if not re.search(r"batch_?norm", towers.script.text, re.IGNORECASE):
        return
    for loop in towers.loops:
        if loop.looks_after_collections:
            continue
        for call in towers.after(loop):
            whole = loop.of(call) == "tf.get_collection" and argument(call, 1, "scope") is None and call.args
            if whole and "UPDATE_OPS" in ast.unparse(call.args[0]).upper():
                yield towers.finding(
                    call,
                    "TMG404",
                    "these are the update operations of all towers: the moving averages move once for each",
                    "take those of one tower: tf.get_collection(tf.GraphKeys.UPDATE_OPS, its name scope)",
                )
