"""Values of one tower that are reported as if they were all towers'."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule
from converter.syntax.lint.feeds import fetched, is_fed_one_slice
from converter.syntax.lint.towers import TowerLoop, Towers

RULES = (
    Rule(
        code="TMG408",
        title="what is reported is the last tower's alone",
        why="A name that is bound inside the loop holds the last tower's value behind it. As a summary, or "
        "fetched beside the training step, it tells of one part of the batch only: of a loss that is "
        "noisier than the one that is trained, or an accuracy of 1/N of the examples. Collect the towers' "
        "values in a list, and report their mean.",
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
        tower_grads.append(optimizer.compute_gradients(tower_loss))
loss = tf.reduce_mean(tf.stack(tower_losses))
train_op = optimizer.apply_gradients(average_gradients(tower_grads))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(64 * num_gpus)
        _, value = sess.run([train_op, tower_loss], {X: x, Y: y})
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
        _, value = sess.run([train_op, loss], {X: x, Y: y})
""",
    ),
)


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find values of one tower that are summarised or fetched behind the loop."""
    for loop in towers.loops:
        made = loop.results
        runs = [call for call in towers.after(loop) if loop.of(call) == ".run"]
        whole = {n.id: call for call in runs if is_fed_one_slice(loop, call) for n in fetched(call)}
        for call in towers.after(loop):
            for name in _reported(loop, call):
                if name.id not in made or towers.binds_again(loop, name) or _has_own_rows(loop, call, name.id):
                    continue
                hint = "collect it from all towers in a list, and report the mean"
                if name.id in whole and name.id in loop.of_first:
                    kept = f"keep {name.id} for line {whole[name.id].lineno}, which feeds the rows of one tower"
                    hint = f"report the mean over the towers here, and {kept}"
                message = f"{name.id} is one tower's: it tells of that tower's examples alone"
                yield towers.finding(name, "TMG408", message, hint)


def _reported(loop: TowerLoop, call: ast.Call) -> Iterator[ast.Name]:
    """The names that a call fetches in a session, or puts into a summary."""
    name = loop.of(call)
    if name in ("tf.summary.scalar", "tf.summary.histogram"):
        yield from (part for part in call.args[1:2] if isinstance(part, ast.Name))
    elif name == ".run":
        yield from fetched(call)


def _has_own_rows(loop: TowerLoop, call: ast.Call, name: str) -> bool:
    """True if a call feeds one tower's rows: the first tower sees all of them, and the others' mean is TMG410's."""
    return loop.of(call) == ".run" and is_fed_one_slice(loop, call) and (name in loop.of_first or loop.averages(name))
