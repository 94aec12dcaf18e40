"""Gradients with respect to variables that go into a loss are a part of the model, not a training step."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

TASKS = """\
import numpy as np
import tensorflow as tf

batch_size = 8
xs, ys = [tf.placeholder(tf.float32, [None, 10, 1]) for _ in range(2)]
weights = {'w': tf.Variable(tf.ones([1, 4])), 'v': tf.Variable(tf.ones([4, 1]))}


def predict(x, weights):
    return tf.matmul(tf.nn.relu(tf.matmul(x, weights['w'])), weights['v'])


def adapted(task):
    x, y = task
    first = tf.reduce_mean(tf.square(predict(x[:5], weights) - y[:5]))
    gradients = dict(zip(weights.keys(), tf.gradients(first, list(weights.values()))))
    fast = dict((name, weights[name] - 0.01 * gradients[name]) for name in weights)
    return tf.reduce_mean(tf.square(predict(x[5:], fast) - y[5:]))


loss = tf.reduce_mean(tf.map_fn(adapted, (xs, ys), dtype=tf.float32))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        drawn = np.random.rand(2, batch_size, 10, 1)
        sess.run(train_op, {xs: drawn[0], ys: drawn[1]})
"""
SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 16
data, labels = np.random.rand(320, 12), np.random.rand(320, 4)
x = tf.placeholder(tf.float32, [None, 12])
y = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 4, tf.tanh) - y))
optimizer = tf.train.AdamOptimizer(0.01)
{lines}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 320, batch_size):
        rows = slice(i, i + batch_size)
        sess.run(train_op, {{x: data[i:i + batch_size], y: labels[i:i + batch_size]}})
"""


def test_each_task_has_its_own_inner_step() -> None:
    made = converted(TASKS)
    assert codes(TASKS) == []
    assert "tf.gradients(first, list(weights.values()))" in made
    assert "        loss = tf.reduce_mean(tf.map_fn(adapted, (xs, ys), dtype=tf.float32))\n" in made
    assert "batch_size = 8 * num_gpus" in made


@pytest.mark.parametrize(
    "lines",
    [
        "g = tf.gradients(loss, tf.trainable_variables())\nloss += 0.1 * tf.global_norm(g)",
        "g = tf.gradients(loss, tf.trainable_variables())\nloss += 0.1 * tf.add_n([tf.nn.l2_loss(a) for a in g])",
        "pairs = optimizer.compute_gradients(loss)\nloss += tf.add_n([tf.reduce_sum(tf.square(g)) for g, _ in pairs])",
    ],
)
def test_a_penalty_is_each_towers_own(lines: str) -> None:
    script = SCRIPT.format(lines=lines + "\ntrain_op = optimizer.minimize(loss)")
    assert codes(script) == ["TMG302"]
    made = converted(script)
    assert f"        {lines.splitlines()[0]}\n" in made  # inside of the towers, as it is
    assert "gradients_of_towers" not in made


@pytest.mark.parametrize(
    ("lines", "step"),
    [
        (
            "g = tf.gradients(loss, tf.trainable_variables())\n"
            "train_op = optimizer.apply_gradients(zip(g, tf.trainable_variables()))",
            "g = gradients_of_towers(tower_loss, tf.trainable_variables())",
        ),
        (
            "first = optimizer.minimize(loss)\nwith tf.control_dependencies([first]):\n"
            "    more = 2 * tf.identity(loss)\n"
            "    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(more)",
            "first = optimizer.minimize(loss, colocate_gradients_with_ops=True)",
        ),
        (
            "first = optimizer.minimize(loss)\nwith tf.control_dependencies([first]):\n"
            "    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(2 * tf.identity(loss))",
            "first = optimizer.minimize(loss, colocate_gradients_with_ops=True)",
        ),
    ],
)
def test_what_is_applied_is_a_step(lines: str, step: str) -> None:
    assert step in converted(SCRIPT.format(lines=lines))
