"""Moving averages that every tower updates while it computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule, with_changes
from converter.syntax.lint.towers import TowerLoop, Towers

_BEFORE = """\
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
        normal = tf.contrib.layers.batch_norm(images[i], updates_collections=None, scope='bn')
        logits = tf.layers.dense(normal, 10, name='logits')
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
"""

RULES = (
    Rule(
        code="TMG411",
        title="every tower updates the moving averages in place",
        why="updates_collections=None makes batch_norm of tf.contrib.layers and slim update its moving averages where "
        "it computes, in every tower. All towers share the averages: they move N times in a step, in an order that is "
        "left to chance. Let the first tower alone update them: pass None there, and to the other towers the name of a "
        "collection that nothing runs.",
        before=_BEFORE,
        after=with_changes(
            _BEFORE, ("updates_collections=None", "updates_collections=None if i == 0 else 'updates_not_run'")
        ),
    ),
)


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find `updates_collections=None` in what every tower builds, or in what surrounds the loop."""
    for loop in towers.loops:
        if loop.number == 1 or not _trains(towers, loop):
            continue
        for node in _built(towers, loop):
            for value in _told_none(node):
                yield towers.finding(
                    value,
                    "TMG411",
                    "every tower updates the moving averages: they move once for each tower in a step",
                    "pass None in the first tower alone, and the name of a collection that nothing runs in the others",
                )


def _trains(towers: Towers, loop: TowerLoop) -> bool:
    """True if gradients are taken in the towers, or of their losses behind the loop."""
    calls = [node for node in towers.reached(loop.walked) if isinstance(node, ast.Call)] + towers.after(loop)
    return any(loop.gives_gradients(call) or loop.of(call) == ".minimize" for call in calls)


def _built(towers: Towers, loop: TowerLoop) -> Iterator[ast.AST]:
    """What the towers' code holds: its functions, the `with` blocks around it, and settings that it reads by name."""
    around = [
        inner
        for block in towers.script.above(loop.node)
        if isinstance(block, ast.With)
        for item in block.items
        for inner in ast.walk(item.context_expr)
    ]
    nodes = list(towers.reached([*loop.walked, *around]))
    yield from nodes
    for name in {node.id: node for node in nodes if isinstance(node, ast.Name)}:
        settings = towers.script.bindings.get(name, [])
        if len(settings) == 1 and _is_settings(settings[0]) and settings[0] not in nodes:
            yield settings[0]


def _is_settings(node: ast.expr) -> bool:
    """True for `{...}` and `dict(...)`."""
    return isinstance(node, ast.Dict) or (isinstance(node, ast.Call) and ast.unparse(node.func) == "dict")


def _told_none(node: ast.AST) -> Iterator[ast.expr]:
    """The None of `updates_collections=None` in a call or a dict that does not say `is_training=False`."""
    if isinstance(node, ast.Call):
        told = {keyword.arg: keyword.value for keyword in node.keywords}
    elif isinstance(node, ast.Dict):
        keys = (key.value if isinstance(key, ast.Constant) else None for key in node.keys)
        told = {str(key): value for key, value in zip(keys, node.values, strict=True)}
    else:
        return
    none, training = told.get("updates_collections"), told.get("is_training")
    if isinstance(none, ast.Constant) and none.value is None and not _is_false(training):
        yield none


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
