"""Placeholders with a plain number of rows, in a script that has no other batch."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import numpy as np
import tensorflow as tf

{inputs}
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(9):
        sess.run(train_op, {{{feed}}})
"""
FIXED = "x = tf.placeholder(tf.float32, [8, 16])\ny = tf.placeholder(tf.float32, [8, 1])"
OPEN = FIXED.replace("[8", "[None")
ARRAYS = "x: np.random.rand(8, 16), y: np.random.rand(8, 1)"


def test_the_rows_are_shared() -> None:
    made = converted(SCRIPT.format(inputs=FIXED, feed=ARRAYS))
    assert "shard_static([x_batch, y_batch], gpu)" in made and "tf.placeholder(tf.float32, [8, 16])" in made
    assert ARRAYS in made and "tower_device" in made


@pytest.mark.parametrize(
    ("inputs", "feed", "found"),
    [
        (FIXED, ARRAYS, ["TMG303"]),
        (FIXED, "x: data[0:8], y: labels[0:8]", ["TMG303"]),
        (OPEN, ARRAYS, []),  # numbers of what is fed are the batch size
        (FIXED.replace("[8, 1]", "[4, 1]"), ARRAYS, ["TMG202"]),  # which of them are the examples?
        (FIXED.replace("[8", "[1"), ARRAYS.replace("8", "1"), ["TMG202"]),
        (FIXED, "x: 0.5, y: 0.5", ["TMG218"]),
    ],
)
def test_findings(inputs: str, feed: str, found: list[str]) -> None:
    assert codes(SCRIPT.format(inputs=inputs, feed=feed)) == found


def test_settings_beside_a_batch_are_none() -> None:
    inputs = OPEN + "\nw = tf.placeholder(tf.float32, [16])"
    script = SCRIPT.format(inputs=inputs, feed=ARRAYS + ", w: np.random.rand(16)")
    made = converted(script.replace("(x, 1)", "(x * w, 1)"))
    assert "shard([x_batch, y_batch], gpu)" in made
