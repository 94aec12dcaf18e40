"""Collections that also hold what earlier towers put in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule
from converter.syntax.lint.towers import Towers
from converter.syntax.script import argument

RULES = (
    Rule(
        code="TMG409",
        title="a tower's loss also counts the losses of earlier towers",
        why="Every tower adds its losses to the same collections. Read as a whole inside the loop, a "
        "collection holds those of all towers so far: the second tower's loss is its own and the first "
        "one's, the gradient of the first batch counts N times, that of the last once. Read the "
        "collection with the tower's scope: tf.get_collection(key, scope), tf.losses.get_losses(scope). "
        "Regularisation losses are made with the variables, by the first tower alone: add them without a "
        "scope.",
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
        logits = tf.layers.dense(images[i], 10, name='logits')
        tf.losses.sparse_softmax_cross_entropy(labels[i], logits)
        tower_loss = tf.losses.get_total_loss()
        tower_losses.append(tower_loss)
        tower_grads.append(optimizer.compute_gradients(tower_loss))
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
    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i) as scope, \\
            tf.variable_scope('', reuse=i > 0):
        logits = tf.layers.dense(images[i], 10, name='logits')
        tf.losses.sparse_softmax_cross_entropy(labels[i], logits)
        tower_loss = tf.add_n(tf.losses.get_losses(scope) + tf.losses.get_regularization_losses())
        tower_losses.append(tower_loss)
        tower_grads.append(optimizer.compute_gradients(tower_loss))
loss = tf.reduce_mean(tf.stack(tower_losses))
train_op = optimizer.apply_gradients(average_gradients(tower_grads))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(64 * num_gpus)
        sess.run(train_op, {X: x, Y: y})
""",
    ),
)


_LOSSES = ("tf.losses.get_total_loss", "tf.losses.get_losses")


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find collections of losses that a tower reads whole."""
    for loop in towers.loops:
        if loop.looks_after_collections or loop.number == 1:
            continue
        for call in (node for node in towers.reached(loop.walked) if isinstance(node, ast.Call)):
            name = loop.of(call)
            place = {"tf.losses.get_total_loss": 1, "tf.losses.get_losses": 0}.get(name, 1)
            if argument(call, place, "scope") is not None:
                continue
            if name in _LOSSES or (name == "tf.get_collection" and call.args and _holds_losses(towers, call.args[0])):
                yield towers.finding(
                    call,
                    "TMG409",
                    "inside a tower this collection also holds the losses of earlier towers",
                    "read it with the tower's scope: `with tf.name_scope(...) as scope`, then (..., scope)",
                )


def _holds_losses(towers: Towers, key: ast.expr) -> bool:
    """Whether a collection is the one of losses, or one of the script's own that is called so."""
    key = towers.script.value(key)
    if isinstance(key, ast.Constant):
        return "loss" in str(key.value).lower() and "regulari" not in str(key.value).lower()
    return ast.unparse(key).endswith("GraphKeys.LOSSES")
