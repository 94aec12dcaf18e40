"""A batch size that a branch chooses, in shapes, losses and lists of rows: it grows in each branch, or in none."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes, converted

SCRIPT = """\
import random
import sys
import numpy as np
import tensorflow as tf

data = np.random.rand(640, 6)


def train(batch_size):
    x = tf.placeholder(tf.float32, [{rows}, 6])
    h = tf.layers.dense(x, 6)
    loss = {loss}
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    for i in range(0, len(data) - batch_size, batch_size):
        sess.run(train_op, {{x: data[i:i + batch_size]}})


if len(sys.argv) > 1:
    size = {one}
else:
    size = 16
train(size)
"""
MEAN = "tf.reduce_mean(tf.square(h))"
TABLE = """\
import random
import sys
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 6])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 6)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
table = {{}}
for line in open('rows.txt'):
    table[line] = []


class Batches(object):
    def __init__(self, batch_size=16, shown=False):
        self.batch_size = batch_size
        self.shown = shown

    def __iter__(self):
        return self

    def __next__(self):
        rows = []
        for key in random.sample(list(table), self.batch_size):
            {fill}
        return rows


batch_size = 16
if len(sys.argv) > 1:
    batch_size = 32
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for rows in Batches(batch_size):
        sess.run(train_op, {{x: rows}})
"""


@pytest.mark.parametrize(
    "loss",
    [
        MEAN,
        "tf.reduce_mean(tf.square(tf.reshape(h, [batch_size, 2, 3])))",
        "tf.reduce_sum(tf.square(h)) / batch_size",
        "tf.reduce_sum(tf.square(h)) / (2 * batch_size)",
    ],
)
@pytest.mark.parametrize("rows", ["None", "batch_size"])
def test_it_grows_in_each_branch(rows: str, loss: str) -> None:
    text = SCRIPT.format(rows=rows, loss=loss, one="8")
    assert codes(text) == []
    lines = [line.strip() for line in body(text)]
    assert {"size = 8 * num_gpus", "size = 16 * num_gpus"} < set(lines)


@pytest.mark.parametrize("value", ["batch_size // 2", "batch_size / 2"])
def test_a_part_of_it_is_no_number_of_examples(value: str) -> None:
    loss = f"tf.reduce_mean(tf.square(tf.reshape(h, [int({value}), -1])))"
    assert codes(SCRIPT.format(rows="None", loss=loss, one="8")) == ["TMG218"]


def test_the_length_of_the_data_in_one_branch_does_not_grow() -> None:
    text = SCRIPT.format(rows="None", loss=MEAN, one="len(data)")
    assert codes(text) == ["TMG303"]
    assert "size = 16\n" in converted(text)


def test_the_size_of_a_single_example_in_one_branch_is_refused() -> None:
    assert codes(SCRIPT.format(rows="batch_size", loss=MEAN, one="1")) == ["TMG202"]


FILLS = ["rows.append(table[key])", "if not self.shown:\n                rows.append(table[key][:6])"]


@pytest.mark.parametrize("fill", [*FILLS, f"{FILLS[1]}\n            else:\n                rows.append(table[key])"])
def test_rows_that_are_looked_up_are_as_many(fill: str) -> None:
    text = converted(TABLE.format(fill=fill))
    assert "batch_size = 16 * num_gpus\n" in text and "    batch_size = 32 * num_gpus\n" in text


def test_rows_that_only_some_turns_put_in_are_not() -> None:
    assert codes(TABLE.format(fill="if len(table[key]) > 6:\n                rows.append(table[key])")) == ["TMG303"]
