"""Towers that all compute on one batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule
from converter.syntax.lint.towers import TowerLoop, Towers, template

RULES = (
    Rule(
        code="TMG402",
        title="every tower computes on the same batch",
        why="Each tower reads the whole batch, so all of them compute the same gradient, and their mean is "
        "the gradient of one tower: N GPUs do the work of one. Give each tower a part of the batch "
        "(tf.split), or a batch of its own (get_next() inside the loop).",
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
optimizer = tf.train.AdamOptimizer(0.001)
tower_grads, tower_losses = [], []
for i in range(num_gpus):
    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i), \\
            tf.variable_scope('', reuse=i > 0):
        logits = tf.layers.dense(X, 10, name='logits')
        tower_loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
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
    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i), \\
            tf.variable_scope('', reuse=i > 0):
        logits = tf.layers.dense(images[i], 10, name='logits')
        tower_loss = tf.losses.sparse_softmax_cross_entropy(labels[i], logits)
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


_OWN_BATCH = (".get_next", ".dequeue", ".dequeue_many", ".dequeue_up_to", "tf.train.batch", "tf.train.shuffle_batch")


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find towers that read a batch from before the loop, and nothing that differs from tower to tower."""
    for loop in towers.loops:
        batches = set(towers.batches(loop)) - loop.bound
        if _differ(towers, loop) or not batches:
            continue
        for node in loop.walked:
            if isinstance(node, ast.Name) and node.id in batches:
                yield towers.finding(
                    node,
                    "TMG402",
                    f"every tower reads the whole of {node.id}: they all compute the same gradient",
                    f"give each tower its part: tf.split({node.id}, {loop.counts or 'the number of towers'})",
                )
                break


def _differ(towers: Towers, loop: TowerLoop) -> bool:
    """Whether towers read their number other than for their device, their names and the reuse of variables."""
    naming = {id(n) for entered in loop.contexts for n in ast.walk(entered)}
    for node in loop.walked:
        named = isinstance(node, ast.Compare | ast.JoinedStr) or (isinstance(node, ast.BinOp) and bool(template(node)))
        printed = isinstance(node, ast.Call) and loop.of(node) in ("print", ".format")
        if named or printed or (isinstance(node, ast.keyword) and node.arg in ("reuse", "name")):
            naming |= {id(n) for n in ast.walk(node)}
    if any(isinstance(n, ast.Name) and n.id in loop.variables and id(n) not in naming for n in loop.walked):
        return True
    own = (node for node in towers.reached(loop.walked) if isinstance(node, ast.Call))
    return any(loop.of(call).endswith(_OWN_BATCH) for call in own)
