"""Series that the script cuts into as many rows as a batch has."""

from __future__ import annotations

import pytest

from tests.scripts import STEP, codes

SCRIPT = (
    """\
import numpy as np
import tensorflow as tf

batch_size = 4
steps = 5
raw = np.load('text.npy')
length = len(raw) // batch_size
count = len(raw) // (batch_size * steps)
X = tf.placeholder(tf.float32, [None, None])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X[:, :, None], 2)))
"""
    + STEP
    + """\
{}
with tf.Session() as sess:
    for i in range(count):
        sess.run(train_op, {{X: {}}})
"""
)
WINDOW = "data[:, i * steps:(i + 1) * steps]"


@pytest.mark.parametrize(
    ("line", "fed"),
    [
        ("data = raw[:batch_size * length].reshape([batch_size, length])", WINDOW),
        ("data = raw[:batch_size * length].reshape(batch_size, -1)", WINDOW),
        ("data = np.reshape(raw[:batch_size * length], (batch_size, length))", WINDOW),
        ("data = np.reshape(raw, [batch_size, count, -1])", "data[:, i]"),
        ("data = np.reshape(raw, [batch_size, -1])", WINDOW),
        ("data = np.reshape(raw[:count * batch_size * steps], [batch_size, count, -1])", "data[:, i]"),
        ("data = np.split(raw[:count * batch_size * steps].reshape(batch_size, -1), count, 1)", "data[i]"),
        (
            "data = np.zeros([batch_size, length])\nfor row in range(batch_size):\n"
            "    data[row] = raw[length * row:length * (row + 1)]",
            WINDOW,
        ),
    ],
)
def test_rows_as_many_as_a_batch_has(line: str, fed: str) -> None:
    assert codes(SCRIPT.format(line, fed)) == ["TMG344"]


@pytest.mark.parametrize(
    ("line", "fed"),
    [
        ("data = raw[:count * batch_size * steps].reshape([count, batch_size, steps])", "data[i]"),
        ("", "raw[i * batch_size:(i + 1) * batch_size].reshape([batch_size, -1])"),
        ("", "raw[i * batch_size * steps:(i + 1) * batch_size * steps].reshape([batch_size, steps])"),
        ("", "next_batch(batch_size).reshape((batch_size, -1))"),
        ("noise = np.zeros([batch_size, steps])", "next_batch(batch_size) + noise"),
    ],
)
def test_batches_that_come_in_order(line: str, fed: str) -> None:
    assert codes(SCRIPT.format(line, fed)) == []
