"""Batches that end where the data ends, or before: `end = begin + n if begin + n < len(x) else len(x)`."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import numpy as np
import tensorflow as tf

chunk = 16
xs, ys = load()
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 3) - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(xs), chunk):
"""
BY_IF = "if begin + chunk > len(xs):\n    end = len(xs)\nelse:\n    end = begin + chunk"
ENDS = [
    "end = begin + chunk if begin + chunk < len(xs) else len(xs)",
    "end = len(xs) if begin + chunk > len(xs) else begin + chunk",
    "end = (begin + chunk) if (begin + chunk < len(xs)) else xs.shape[0]",
    BY_IF,
    "end = min(begin + chunk, len(xs))",
    "end = begin + chunk",
]


def script(*lines: str) -> str:
    return SCRIPT + "".join(f"        {line}\n" for line in "\n".join(lines).splitlines())


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(
    "rows",
    [
        "rows, hot = xs[begin:end], ys[begin:end]",
        "rows, hot = xs[begin:end], np.zeros((end - begin, 3))",
        "count = end - begin\nhot = np.zeros([count, 3])\nhot[np.arange(count), ys[begin:end]] = 1\n"
        "rows = xs[begin:end]",
        "hot = np.eye(3)[ys[begin:end]]\nrows = np.zeros((end - begin, 4))\nfor i in range(begin, end):\n"
        "    rows[i - begin] = xs[i]",
    ],
    ids=["slices", "zeros", "count", "rows"],
)
def test_the_number_of_rows_is_found(end: str, rows: str) -> None:
    assert "chunk = 16 * num_gpus" in converted(script(end, rows, "sess.run(train_op, {x: rows, y: hot})"))


@pytest.mark.parametrize(
    "lines",
    [
        "end = other if begin + chunk < len(xs) else len(xs)",
        "end = begin + chunk if begin + chunk < len(xs) else begin + other",
        "end = chunk + other if begin + chunk < len(xs) else len(xs)",
    ],
)
def test_other_ends_are_not_the_batch_size(lines: str) -> None:
    text = script("other = int(input())", lines, "sess.run(train_op, {x: xs[begin:end], y: ys[begin:end]})")
    assert codes(text) == ["TMG303"]


READER = """
import numpy as np
import tensorflow as tf

batch_size = 8


class Reader(object):
    offset = 0

    def __init__(self, rows):
        self.rows = rows

    def next_rows(self, size):
        start = self.offset
        self.offset += size
        if self.offset > len(self.rows):
            np.random.shuffle(self.rows)
            {start}
            self.offset = {offset}
        return self.rows[start:self.offset]


x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.layers.dense(x, 1))
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
reader = Reader(np.load('rows.npy'))
with tf.Session() as sess:
    for i in range(100):
        sess.run(step, {{x: reader.next_rows(batch_size)}})
"""


@pytest.mark.parametrize(
    ("start", "offset", "scaled"),
    [
        ("start = 0", "size", True),
        ("start = 5", "5 + size", True),
        ("start = 5", "size", False),
        ("start = 0", "size * size", False),
        ("pass", "size", False),
    ],
)
def test_a_reader_that_starts_anew_gives_as_many_rows_in_each_branch(start: str, offset: str, scaled: bool) -> None:
    text = READER.format(start=start, offset=offset)
    assert codes(text) == ([] if scaled else ["TMG303"])
    if scaled:
        assert "batch_size = 8 * num_gpus" in converted(text)
