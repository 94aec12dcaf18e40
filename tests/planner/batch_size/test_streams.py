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


GENERATOR = """\
def batches(data, rows, steps):
    {name} = rows * steps
    data = data[:{name} * {count}].reshape((rows, -1))
    for n in range(0, data.shape[1], steps):
        yield data[:, n:n + steps]
"""


@pytest.mark.parametrize("name", ["batch_size", "size"])
@pytest.mark.parametrize("count", ["(len(data) // {0})", "int(len(data) / {0})"])
def test_a_product_of_rows_and_steps(name: str, count: str) -> None:
    script = SCRIPT.replace("[None, None]", "[batch_size, steps]").replace("for i in range(count)", "for x in {}")
    made = GENERATOR.format(name=name, count=count.format(name))
    assert codes(script.format(made, "batches(raw, batch_size, steps)", "x")) == ["TMG344"]


SESSIONS = """\
import numpy as np
import tensorflow as tf

batch_size = 4
clicks = np.load('clicks.npy')
offsets = np.load('offsets.npy')
X = tf.placeholder(tf.float32, [None])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X[:, None], 2)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    places = np.arange(batch_size)
    for i in range(100):
        start = offsets[places]
        sess.run(train_op, {X: clicks[start + i]})
        for row in np.nonzero(offsets[places + 1] - start <= i)[0]:
            places[row] = places.max() + 1
"""


def test_rows_that_go_through_sequences_of_their_own() -> None:
    assert codes(SESSIONS) == ["TMG344"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("places[row] = places.max() + 1", "print(places[row])"),  # the same rows in every step
        ("{X: clicks[start + i]}", "{X: next_batch(batch_size)}"),  # they do not tell what is fed
    ],
)
def test_places_that_stay_or_tell_nothing(old: str, new: str) -> None:
    assert old in SESSIONS
    assert "TMG344" not in codes(SESSIONS.replace(old, new))
