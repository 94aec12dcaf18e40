"""Gradients that are added where their mean is meant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule
from converter.syntax.lint.towers import TowerLoop, Towers, names_in

RULES = (
    Rule(
        code="TMG401",
        title="the gradients of the towers are added, not averaged",
        why="The sum of N gradients is N times their mean: the learning rate is N times the one of a single "
        "GPU without being written down, and what is tuned for one GPU may diverge. Take the mean, or "
        "divide each tower's loss by the number of towers. If the larger rate is meant, write it into the "
        "learning rate.",
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


_ADDING = ("tf.add_n", "tf.reduce_sum", "tf.accumulate_n", "sum")


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find gradients or losses of towers that are added without being scaled."""
    for loop in towers.loops:
        scaled = [name for name, put in loop.appended.items() if any(loop.scales(one) for one in put)]
        if scaled or any(loop.scales(call.args[0]) for call in loop.gradient_calls if call.args):
            continue
        for call in towers.after(loop):
            if loop.of(call).endswith((".apply_gradients", ".minimize", ".compute_gradients")) and call.args:
                given = towers.script.value(call.args[0])
                if isinstance(given, ast.Call) and _adds(towers, loop, given):
                    yield towers.finding(
                        given,
                        "TMG401",
                        "the towers' gradients are added: each step is as many times larger as there are towers",
                        "take their mean: tf.reduce_mean of the stacked gradients, or divide the sum",
                    )


def _adds(towers: Towers, loop: TowerLoop, call: ast.Call) -> bool:
    """Whether a call adds what the towers put into a list, and neither it nor what it calls divides."""
    if not names_in(call) & set(loop.appended):
        return False
    reached = [node for arg in call.args for node in ast.walk(arg)] + list(towers.reached([call]))
    if any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult | ast.Div) for n in reached):
        return False
    called = [loop.of(node) for node in reached if isinstance(node, ast.Call)]
    unknown = [
        name for name in called if not name.startswith(("tf.", ".")) and towers.script.functions.get(name) is None
    ]
    averages = any("mean" in name or name in ("tf.divide", "tf.multiply", "tf.scalar_mul", "tf.div") for name in called)
    return not averages and set(unknown) <= _KNOWN and any(name in _ADDING for name in called)


_KNOWN = {"sum", "zip", "list", "len", "range", "enumerate", "print", "isinstance", "all", "any"}
