"""The batch size as the number of examples that are set aside: it grows with the number of GPUs, and is warned of."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split

{named}
data = np.random.rand(160, 4)
{split}
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(rows), {size}):
        sess.run(train_op, {{x: rows[begin:begin + {size}]}})
    print(sess.run(loss, {{x: held}}))
"""
NAME = "batch_size = 16"
FLAG = "tf.app.flags.DEFINE_integer('batch_size', 16, '')\nFLAGS = tf.app.flags.FLAGS"
INNER = (
    "def split(rows, count):\n    return train_test_split(rows, test_size=count)\n\n\nrows, held = split(data, {size})"
)


def _codes(split: str, named: str = NAME, size: str = "batch_size", **options: object) -> list[str]:
    return codes(SCRIPT.format(named=named, split=split.format(size=size), size=size), **options)


@pytest.mark.parametrize(("named", "size"), [(NAME, "batch_size"), (FLAG, "FLAGS.batch_size")])
@pytest.mark.parametrize(
    "split",
    [
        "rows, held = train_test_split(data, test_size={size}, random_state=1)",
        "held, rows = train_test_split(data, train_size=2 * {size})",
        INNER,
    ],
)
def test_a_batch_is_set_aside(named: str, size: str, split: str) -> None:
    assert _codes(split, named, size) == ["TMG395"]


@pytest.mark.parametrize(
    ("split", "named"),
    [
        ("rows, held = train_test_split(data, test_size=0.1)", NAME),
        ("rows, held = train_test_split(data, test_size=16)", NAME),
        ("rows, held = train_test_split(data, test_size=count)", f"{NAME}\ncount = 16"),
        ("rows, held = data[40:], data[:40]", NAME),
    ],
)
def test_another_number_is_not_warned_of(split: str, named: str) -> None:
    assert "TMG395" not in _codes(split, named)


def test_the_total_stays() -> None:
    assert _codes("rows, held = train_test_split(data, test_size={size})", batch="total") == []


@pytest.mark.parametrize(("named", "size"), [(NAME, "batch_size"), (FLAG, "FLAGS.batch_size")])
@pytest.mark.parametrize(
    "split",
    [
        "rows, held = data[{size}:], data[:{size}]",
        "rows, held = data[:-{size}], data[-{size}:]",
        "held, data = data[:2 * {size}, :], data[2 * {size}:, :]\nrows = data",
        "count = {size}\nrows, held = data[count:], data[:count]",
        "def split(rows, count):\n    return rows[count:], rows[:count]\n\n\nrows, held = split(data, {size})",
        "lines = list(data)\nrows, held = np.array(lines[{size}:]), np.array(lines[:{size}])",
    ],
)
def test_slices_set_a_batch_aside(named: str, size: str, split: str) -> None:
    assert _codes(split, named, size) == ["TMG395"]


@pytest.mark.parametrize(
    "split",
    [
        "rows, held = data[40:], data[:40]",
        "rows = held = data[:len(data) // {size} * {size}]",
        "rows = held = data[len(data) % {size}:]",
        "whole = len(data) // {size} * {size}\nrows, held = data[:whole], data[whole:]",
        "rows, held = data, data[:{size}]\nprint(data[:{size}])",
        "rows, held = data[:-{size}], data[{size}:]",
        "rows, held = data, data\nfirst, others = data[:{size}], data[{size}:]\nprint(first, others)",
    ],
)
def test_other_slices_set_nothing_aside(split: str) -> None:
    assert "TMG395" not in _codes(split)


def test_batches_of_the_training_loop_are_not_set_aside() -> None:
    text = SCRIPT.format(named=NAME, split="rows = held = data", size="batch_size")
    loop = "    for begin in range(0, len(rows), batch_size):\n"
    loop += "        sess.run(train_op, {x: rows[begin:begin + batch_size]})"
    turns = "    left = rows\n    while len(left):\n        now, left = left[:batch_size], left[batch_size:]\n"
    assert loop in text
    assert "TMG395" not in codes(text.replace(loop, f"{turns}        sess.run(train_op, {{x: now}})"))
