"""Lists and arrays that Python makes with the batch size."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted

USED = "out = tf.layers.dense(X, 1)\nloss = tf.reduce_mean(tf.square(out - Y) * tf.reshape({rows}, [-1, 1]))\n"


def script(made: str, rows: str = "weights", behind: str = "") -> str:
    return "import numpy as np\n" + INPUTS + made + USED.format(rows=rows) + STEP + behind + TRAINING


@pytest.mark.parametrize(
    "made",
    [
        "weights = [1.0] * batch_size\n",
        "weights = np.ones([batch_size])\n",
        "weights = np.full(batch_size, 2.0)\n",
        "weights = np.tile(np.array([0.5, 1.5]), (batch_size, 3, 1))\n",
        "weights = np.tile(np.array([[0.5, 1.5]]), (batch_size, 1))\n",
    ],
)
def test_each_tower_makes_its_own(made: str) -> None:
    text = converted(script(made))
    assert f"        {made}" in text and "        batch_size = shard_size(global_batch_size, gpu)\n" in text


@pytest.mark.parametrize(
    ("made", "behind"),
    [
        ("weights = np.arange(batch_size, dtype='f')\n", ""),
        ("weights = np.random.rand(batch_size)\n", ""),
        ("weights = np.tile(np.array([0.5, 1.5]), (batch_size,))\n", ""),
        ("weights = np.tile(np.array([0.5, 1.5]), batch_size)\n", ""),
        ("weights = np.tile(np.array([[0.5], [1.5]]), (batch_size, 3))\n", ""),
        ("weights = np.tile(load(), (batch_size, 1))\n", ""),
        ("weights = np.ones([batch_size], 'f')\n", "print(weights.sum())\n"),
    ],
    ids=["numbers of rows", "drawn", "repeated", "repeated once", "of two rows", "of a file", "read later, too"],
)
def test_rows_that_differ_or_are_read_elsewhere_are_refused(made: str, behind: str) -> None:
    assert codes(script(made, behind=behind)) == ["TMG207"]


def test_rows_that_another_function_makes_are_refused() -> None:
    text = """
import tensorflow as tf


class Net(object):
    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.weights = [1.0] * batch_size

    def build(self):
        self.X = tf.placeholder(tf.float32, [None, 4])
        self.Y = tf.placeholder(tf.float32, [None, 1])
        error = tf.square(tf.layers.dense(self.X, 1) - self.Y)
        self.loss = tf.reduce_mean(error * tf.reshape(self.weights, [-1, 1]))
        self.step = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


net = Net(32)
net.build()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(net.batch_size)
        sess.run(net.step, {net.X: xs, net.Y: ys})
"""
    assert codes(text) == ["TMG207"]
