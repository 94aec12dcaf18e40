"""Shards of a fixed size from batches of any size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule
from converter.syntax.lint.towers import TowerLoop, Towers, names_in

RULES = (
    Rule(
        code="TMG407",
        title="a smaller last batch leaves towers without examples",
        why="Slices of a fixed size assume a full batch. The last batch of an epoch may be smaller: later "
        "towers then get fewer examples, with the same weight in the mean, or none at all, and the mean "
        "of no examples is NaN, which the next update writes into every variable. Use tf.split, which "
        "fails for such a batch, give the placeholder a fixed number of rows, or drop the last batch.",
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
        logits = tf.layers.dense(X[i * 64:(i + 1) * 64], 10, name='logits')
        tower_loss = tf.losses.sparse_softmax_cross_entropy(Y[i * 64:(i + 1) * 64], logits)
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


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find slices by the tower's number of a placeholder with any number of rows."""
    for loop in towers.loops:
        open_rows = {name for name, rows in towers.batches(loop).items() if rows}
        for node in loop.walked:
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in open_rows:
                rows = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
                if isinstance(rows, ast.Slice) and rows.upper is not None and _counts(loop, rows):
                    yield towers.finding(
                        node,
                        "TMG407",
                        f"a batch smaller than the slices of {node.value.id} leaves towers empty: a mean of NaN",
                        f"use tf.split({node.value.id}, {loop.counts or 'N'}), or drop the last batch",
                    )


def _counts(loop: TowerLoop, rows: ast.Slice) -> bool:
    """Whether both ends of a slice follow the tower's number."""
    read = [names_in(end) for end in (rows.lower, rows.upper) if end is not None]
    return len(read) == 2 and all(names & (loop.variables | loop.bound) for names in read)
