"""What is told of the last tower alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule
from converter.syntax.lint.towers import TowerLoop, Towers, names_bound

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
    """Find values of the last tower that are summarised or fetched behind the loop."""
    for loop in towers.loops:
        made = _made(loop)
        for call in towers.after(loop):
            for name in _reported(loop, call):
                if name.id in made and not _bound_again(towers, loop, name):
                    yield towers.finding(
                        name,
                        "TMG408",
                        f"{name.id} is one tower's: it tells of that tower's examples alone",
                        "collect it from all towers in a list, and report the mean",
                    )


def _made(loop: TowerLoop) -> set[str]:
    """The names that hold results of a tower: what calls and arithmetic give, not lists that all towers fill."""
    found = set()
    for stmt in loop.walked:
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Call | ast.BinOp):
            found |= names_bound(stmt.targets)
    return found & loop.own - loop.variables


def _reported(loop: TowerLoop, call: ast.Call) -> Iterator[ast.Name]:
    """The names that a call fetches in a session, or puts into a summary."""
    name, given = loop.of(call), call.args[:1]
    if name in ("tf.summary.scalar", "tf.summary.histogram"):
        given = call.args[1:2]
    elif name != ".run":
        return
    for one in given:
        parts = one.elts if isinstance(one, ast.List | ast.Tuple) else [one]
        parts = list(one.values) if isinstance(one, ast.Dict) else parts
        yield from (part for part in parts if isinstance(part, ast.Name))


def _bound_again(towers: Towers, loop: TowerLoop, name: ast.Name) -> bool:
    """Whether a name gets another value between the loop and where it is read, or anywhere by a loop around."""
    around = loop.node.lineno, loop.end
    return any(
        isinstance(node, ast.Name)
        and node.id == name.id
        and isinstance(node.ctx, ast.Store)
        and around[1] < node.lineno <= name.lineno
        for node in ast.walk(towers.script.tree)
    )
