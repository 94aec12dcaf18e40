"""Means of all towers that are asked for with the rows of one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.rule import Rule, with_changes
from converter.syntax.lint.feeds import fetched, is_fed_one_slice
from converter.syntax.lint.towers import TowerLoop, Towers, names_in

_BEFORE = """\
import tensorflow as tf

num_gpus = 4
batch_size = 64


def average_gradients(tower_grads):
    average = []
    for grads_and_vars in zip(*tower_grads):
        grads = tf.stack([g for g, _ in grads_and_vars])
        average.append((tf.reduce_mean(grads, 0), grads_and_vars[0][1]))
    return average


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
optimizer = tf.train.AdamOptimizer(0.001)
tower_grads, tower_hits = [], []
for i in range(num_gpus):
    with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i), \\
            tf.variable_scope('', reuse=i > 0):
        images = X[i * batch_size:(i + 1) * batch_size]  # tf-multigpu: ignore[TMG407]
        labels = Y[i * batch_size:(i + 1) * batch_size]  # tf-multigpu: ignore[TMG407]
        logits = tf.layers.dense(images, 10, name='logits')
        hits = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), labels)))
        tower_hits.append(hits)
        tower_loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        tower_grads.append(optimizer.compute_gradients(tower_loss))
accuracy = tf.reduce_mean(tf.stack(tower_hits))
train_op = optimizer.apply_gradients(average_gradients(tower_grads))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(batch_size * num_gpus)
        sess.run(train_op, {X: x, Y: y})
    for begin in range(0, 1024, batch_size):
        end = begin + batch_size
        print(sess.run(accuracy, {X: test_x[begin:end], Y: test_y[begin:end]}))
"""

RULES = (
    Rule(
        code="TMG410",
        title="a mean over all towers is asked for with the rows of one",
        why="Where the towers slice their rows as x[i * batch_size:(i + 1) * batch_size], a feed of batch_size rows "
        "goes to the first tower whole, and the others compute on no rows at all. tf.reduce_mean of no rows is NaN, "
        "and so is the mean over the towers. This is what usual test loops do, which feed the batch size of one GPU. "
        "Feed batch_size * num_gpus rows there, or fetch the first tower's value, which sees all that is fed.",
        before=_BEFORE,
        after=with_changes(
            _BEFORE,
            (
                "range(0, 1024, batch_size)",
                "range(0, 1024, batch_size * num_gpus)",
                "end = begin + batch_size\n",
                "end = begin + batch_size * num_gpus\n",
            ),
        ),
    ),
)


def find(towers: Towers) -> Iterator[Diagnostic]:
    """Find fetched means of towers that get no rows."""
    for loop in towers.loops:
        if loop.number == 1:
            continue
        for call in towers.after(loop):
            if loop.of(call) == ".run" and is_fed_one_slice(loop, call):
                for name in fetched(call):
                    if _is_last_towers(towers, loop, name) or _is_mean_of_towers(towers, loop, name):
                        yield towers.finding(
                            name,
                            "TMG410",
                            f"the rows fed here fill the first tower's slice alone: {name.id}, a mean of all, is NaN",
                            f"feed {loop.counts or 'N'} times as many rows, or fetch the first tower's value",
                        )


def _is_last_towers(towers: Towers, loop: TowerLoop, name: ast.Name) -> bool:
    """True if a name holds the last tower's mean."""
    own = name.id in loop.results and name.id not in loop.of_first
    return own and loop.averages(name.id) and not towers.binds_again(loop, name)


def _is_mean_of_towers(towers: Towers, loop: TowerLoop, name: ast.Name) -> bool:
    """True if a name is made, behind the loop, of a list of the towers' means, without picking one of them."""
    bound = towers.script.bindings.get(name.id, [])
    values = [value for value in bound if loop.end < value.lineno <= name.lineno]
    if len(values) != 1:
        return False
    picks = any(isinstance(n, ast.Subscript) for n in ast.walk(values[0]))
    return not picks and any(loop.collects_means(listed) for listed in names_in(values[0]))
