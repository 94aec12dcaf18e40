"""Batches that `zip(*[iter(rows)] * n)` makes of n rows each."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

HEAD = """\
import numpy as np
import tensorflow as tf
{size}
data = np.random.rand(64, 4).astype('float32')
labels = np.random.rand(64, 1).astype('float32')
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
def grouped(rows, n):
    return zip(*[iter(rows)] * n)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
"""
LITERAL = "batch_size = 8"
FLAG = "flags = tf.app.flags\nflags.DEFINE_integer('batch_size', 8, '')\nFLAGS = flags.FLAGS"
PAIRS = """\
    for xs, ys in zip({xs}, {ys}):
        sess.run(train_op, {{X: np.array(xs), Y: np.array(ys)}})
"""
GROUPS = ["zip(*[iter({})] * batch_size)", "zip(*batch_size * [iter({})])", "grouped({}, batch_size)"]


def script(group: str, size: str = LITERAL) -> str:
    return HEAD.format(size=size) + PAIRS.format(xs=group.format("data"), ys=group.format("labels"))


@pytest.mark.parametrize("group", GROUPS)
def test_groups_grow_with_the_towers(group: str) -> None:
    assert codes(script(group)) == []
    assert "batch_size = 8 * num_gpus" in body(script(group))
    flagged = script(group.replace("batch_size", "FLAGS.batch_size"), FLAG)
    assert codes(flagged) == []
    assert "FLAGS.batch_size * FLAGS.num_gpus" in "\n".join(body(flagged))


def test_a_list_of_iterators_with_a_name() -> None:
    loop = """\
    columns = [iter(np.hstack([data, labels]))] * batch_size
    for rows in zip(*columns):
        rows = np.array(rows)
        sess.run(train_op, {X: rows[:, :4], Y: rows[:, 4:]})
"""
    assert "batch_size = 8 * num_gpus" in body(HEAD.format(size=LITERAL) + loop)


@pytest.mark.parametrize("made", ["[row]", "[row] * 2", "list((row,))"])
def test_a_list_of_one_thing_is_no_group(made: str) -> None:
    loop = f"""\
    for begin in range(0, len(data), batch_size):
        row = data[begin:begin + batch_size]
        rows = {made}
        columns = list(zip(*rows))
        sess.run(train_op, {{X: row, Y: labels[begin:begin + batch_size]}})
"""
    assert "batch_size = 8 * num_gpus" in body(HEAD.format(size=LITERAL) + loop)


def test_numbers_without_a_name_grow_together() -> None:
    loop = "zip(zip(*[iter(data)] * (8 * num_gpus)), zip(*[iter(labels)] * (8 * num_gpus)))"
    assert loop in "\n".join(body(script("zip(*[iter({})] * 8)")))


def test_several_iterators_give_other_rows() -> None:
    assert codes(script("zip(*[iter({}), iter(data)] * batch_size)")) == ["TMG303"]


def test_columns_of_rows_are_no_groups() -> None:
    loop = """\
    for start in range(0, 64, batch_size):
        rows = [(data[i], labels[i]) for i in range(start, start + batch_size)]
        xs, ys = zip(*rows)
        sess.run(train_op, {X: xs, Y: ys})
"""
    assert "batch_size = 8 * num_gpus" in body(HEAD.format(size=LITERAL) + loop)


def test_columns_of_a_list_that_is_filled() -> None:
    loop = """\
    for start in range(0, 64, batch_size):
        rows = []
        for i in range(start, start + batch_size):
            rows.append((data[i], labels[i]))
        xs, ys = zip(*rows)
        sess.run(train_op, {X: xs, Y: ys})
"""
    assert "batch_size = 8 * num_gpus" in body(HEAD.format(size=LITERAL) + loop)
