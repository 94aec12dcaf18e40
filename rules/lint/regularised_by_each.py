"""Regularisation that is added once by each tower."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule
from converter.syntax.lint.towers import TowerLoop, Towers, is_scaled, names_bound, names_in

RULES = (
    Rule(
        code="TMG403",
        title="regularisation is counted once for each tower",
        why="Each tower divides its own loss by the number of towers, but adds all of the regularisation, "
        "which depends on the shared variables and is the same in every tower: with N towers it weighs N "
        "times as much. Divide the sum of both.",
        before="""\
import tensorflow as tf

num_gpus = 4


def average_gradients(tower_grads):
    average = []
    for grads_and_vars in zip(*tower_grads):
        average.append((tf.add_n([g for g, _ in grads_and_vars]), grads_and_vars[0][1]))
    return average


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
images, labels = tf.split(X, num_gpus), tf.split(Y, num_gpus)
optimizer = tf.train.AdamOptimizer(0.001)
tower_grads, tower_losses = [], []
for i in range(num_gpus):
    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i), \\
            tf.variable_scope('', reuse=i > 0):
        logits = tf.layers.dense(images[i], 10, name='logits',
                                 kernel_regularizer=tf.nn.l2_loss)
        tower_loss = tf.losses.sparse_softmax_cross_entropy(labels[i], logits) / num_gpus + tf.add_n(
            tf.losses.get_regularization_losses())
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
        average.append((tf.add_n([g for g, _ in grads_and_vars]), grads_and_vars[0][1]))
    return average


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
images, labels = tf.split(X, num_gpus), tf.split(Y, num_gpus)
optimizer = tf.train.AdamOptimizer(0.001)
tower_grads, tower_losses = [], []
for i in range(num_gpus):
    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i), \\
            tf.variable_scope('', reuse=i > 0):
        logits = tf.layers.dense(images[i], 10, name='logits',
                                 kernel_regularizer=tf.nn.l2_loss)
        tower_loss = (tf.losses.sparse_softmax_cross_entropy(labels[i], logits) + tf.add_n(
            tf.losses.get_regularization_losses())) / num_gpus
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


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find sums in towers of a loss that is divided, and of regularisation that is not."""
    for loop in towers.loops:
        for node in loop.walked:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                for one, other in ((node.left, node.right), (node.right, node.left)):
                    if _by_towers(loop, one) and not is_scaled(other) and _regularises(loop, other):
                        yield towers.finding(
                            other,
                            "TMG403",
                            "each tower adds all of the regularisation, while its own loss is divided",
                            f"divide their sum by {loop.counts}",
                        )


def _by_towers(loop: TowerLoop, node: ast.expr) -> bool:
    """Whether a loss is divided by the number of towers."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and loop.counts):
        return False
    return loop.counts in (ast.unparse(n) for n in ast.walk(node.right) if isinstance(n, ast.expr))


def _regularises(loop: TowerLoop, node: ast.expr) -> bool:
    """Whether an expression sums regularisation losses, also by a name that the towers bind."""
    made = [
        stmt.value
        for stmt in loop.walked
        if isinstance(stmt, ast.Assign) and names_in(node) & names_bound(stmt.targets)
    ]
    texts = [ast.unparse(one) for one in (node, *made)]
    return any("get_regularization_loss" in text or "REGULARIZATION_LOSSES" in text for text in texts)
