"""Data that the script reshapes by the batch size: what has a size of its own keeps the size of a step."""

from __future__ import annotations

import pytest

from tests.scripts import STEP, codes, converted

SCRIPT = (
    """\
import numpy as np
import tensorflow as tf

batch_size = 4
steps = 5
data = np.load('text.npy')
X = tf.placeholder(tf.float32, [None, None, 3])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 2)))
"""
    + STEP
    + """\
count = len(data) // (batch_size * steps)
{}
with tf.Session() as sess:
    for i in range(count):
        sess.run(train_op, {{X: {}}})
"""
)


@pytest.mark.parametrize(
    ("line", "fed"),
    [
        ("rows = data.reshape([20, batch_size, 3])", "rows[i]"),
        ("rows = data.reshape(20, batch_size, 3)", "rows[i]"),
        ("rows = np.reshape(data, [20, batch_size, -1])", "rows[i]"),  # the examples would be shorter
        ("rows = np.reshape(data, [batch_size, 20, -1])", "rows[:, i]"),
        ("rows = data[:1200].reshape((20, batch_size, 3))", "rows[i]"),
        ("", "np.random.rand(80).reshape([20, batch_size]).T"),
    ],
)
def test_data_of_a_size_of_its_own(line: str, fed: str) -> None:
    text = SCRIPT.format(line, fed)
    assert codes(text) == ["TMG303"]
    assert "batch_size = 4\n" in converted(text)  # it was multiplied, and the conversion failed when it was run
    assert codes(text, batch="total") == []


@pytest.mark.parametrize(
    ("line", "fed"),
    [
        ("rows = data[:20 * batch_size].reshape([20, batch_size, 3])", "rows[i]"),
        ("rows = data", "rows[i * batch_size:(i + 1) * batch_size].reshape([batch_size, 20, -1])"),
        ("rows = data", "np.random.rand(batch_size, 60).reshape([batch_size, 20, 3])"),
        ("", "np.random.rand(batch_size * 60).reshape([batch_size, 20, 3])"),
        ("validation = data.reshape([20, 4, 3])", "next_batch(batch_size)"),
    ],
)
def test_data_that_follows_the_batch_size(line: str, fed: str) -> None:
    text = SCRIPT.format(line, fed)
    assert codes(text) == []
    assert "batch_size = 4 * num_gpus\n" in converted(text)


@pytest.mark.parametrize("count", ["count", "-1"])
def test_equal_parts_that_a_larger_batch_may_not_divide_are_told(count: str) -> None:
    text = SCRIPT.format(f"rows = data.reshape([{count}, batch_size, 3])", "rows[i]")
    assert codes(text) == ["TMG345"]
    assert "batch_size = 4 * num_gpus\n" in converted(text)
    whole = f"rows = data[:count * batch_size].reshape([{count}, batch_size, 3])"
    assert codes(SCRIPT.format(whole, "rows[i]")) == []


def test_a_function_that_nothing_calls() -> None:
    line = "def rows_of(batch):\n    return batch.reshape([batch_size, 20, 3])\n"
    assert codes(SCRIPT.format(line, "next_batch(batch_size)")) == []


DENSITY = """\
import numpy as np
import tensorflow as tf

batch_size = 32
x = tf.placeholder(tf.float32, [None, 1])
y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(50):
        counts, edges = np.histogram(np.random.normal(size=1000), {bins})
        fed = {{x: np.reshape({fed}, (batch_size, 1)), y: np.reshape(counts[:batch_size], (batch_size, 1))}}
        sess.run(train_op, fed)
"""


@pytest.mark.parametrize(
    ("bins", "fed", "kept"),
    [
        ("bins=batch_size", "edges[1:]", True),
        ("batch_size", "edges[1:]", True),
        ("bins=2 * batch_size", "edges[1:batch_size + 1]", True),
        ("bins=500", "edges[1:batch_size + 1]", False),
        ("bins=np.linspace(-3, 3, 500)", "edges[1:batch_size + 1]", False),
    ],
)
def test_bins_of_a_histogram(bins: str, fed: str, kept: bool) -> None:
    script = DENSITY.format(bins=bins, fed=fed)
    assert (codes(script) == ["TMG303"], "batch_size = 32\n" in converted(script)) == (kept, kept)
