"""The scope of tower 1 as a prefix of the scope of tower 10."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule
from converter.syntax.lint.towers import Towers, template
from converter.syntax.script import argument

RULES = (
    Rule(
        code="TMG405",
        title="a scope without a slash at its end also means other towers",
        why="A collection is filtered by the beginning of names: 'tower_1' also takes what is in tower_10 to "
        "tower_19, from eleven towers on. Write 'tower_1/', or use what `with tf.name_scope(...) as "
        "scope` gives, which ends in a slash.",
        before="""\
import tensorflow as tf

num_gpus = 16


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
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, 'tower_%d' % i)
        if i == 1:
            update_ops = updates
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
        after="""\
import tensorflow as tf

num_gpus = 16


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
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, 'tower_%d/' % i)
        if i == 1:
            update_ops = updates
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
        references=("TensorFlow 1.15: ops.Graph.get_collection takes items whose name re.match finds the scope in",),
    ),
)


TEN = 10  # towers up to which no number is the beginning of another
_FILTERS = ("tf.get_collection", "tf.get_collection_ref", ".get_collection", "re.match")


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find names filtered by a scope's beginning, where there may be more than ten towers."""
    scopes = {name for loop in towers.loops for name in loop.templates}
    if all(loop.number is not None and loop.number <= TEN for loop in towers.loops):
        return
    for call in towers.script.calls:
        scope = _filter(towers, call)
        if scope is not None and template(scope) in scopes - {""}:
            yield towers.finding(
                scope,
                "TMG405",
                f"{ast.unparse(scope)} also matches other towers: {template(scope)}1 begins {template(scope)}10",
                "end it with a slash",
            )


def _filter(towers: Towers, call: ast.Call) -> ast.expr | None:
    """What a call compares the beginning of names with."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "startswith":
        return call.args[0] if call.args else None
    name = towers.script.name(call.func) or (f".{call.func.attr}" if isinstance(call.func, ast.Attribute) else "")
    if name == "re.match":
        return call.args[0] if call.args else None
    return argument(call, 1, "scope") if name in _FILTERS else None
