"""Rows that are told apart by their numbers, which each tower counts from 0."""

from __future__ import annotations

import pytest

from tests.scripts import run

SCRIPT = """
import tensorflow as tf
from data import next_batch

batch_size = 32
X = tf.placeholder(tf.float32, [None, 8])
Y = tf.placeholder(tf.float32, [None, 3])
rows = tf.range(tf.shape(X)[0])
made = tf.layers.dense(X, 3)
{use}
loss = tf.reduce_mean(tf.square(made - Y))
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        x, y = next_batch(batch_size)
        sess.run(train_op, {{X: x, Y: y}})
"""
TOLD = {
    "a weight": "made *= tf.expand_dims(tf.cast(rows, tf.float32), 1)",
    "a weight in two steps": "made *= 0.5 * tf.expand_dims(tf.to_float(rows) + 1.0, 1)",
    "a weight of a float range": "made *= tf.expand_dims(tf.range(tf.shape(X)[0], dtype=tf.float32), 1)",
    "a weight that falls off": "made *= tf.exp(-tf.expand_dims(tf.to_float(rows), 1))",
    "each other row": "made = tf.where(tf.equal(rows % 2, 0), made, Y)",
    "the first ones": "made = tf.where(rows < 5, made, Y)",
    "one of them": "made = made * tf.cast(tf.expand_dims(tf.not_equal(rows, 0), 1), tf.float32)",
    "a table of places": "made += tf.nn.embedding_lookup(tf.get_variable('places', [64, 3]), rows)",
    "a table of shifted places": "made += tf.gather(tf.get_variable('places', [64, 3]), rows + 1)",
}
BEST = "best = tf.argmax(Y, 1, output_type=tf.int32)\n"
PLACES = {
    "a value of each row": BEST + "made = tf.gather_nd(made, tf.stack([rows, best], 1))[:, None]",
    "flattened places": BEST + "made = tf.gather(tf.reshape(made, [-1]), rows * 3 + best)[:, None]",
    "none": "",
}


def codes(use: str, **options: object) -> list[str]:
    return [d.code for d in run(SCRIPT.format(use=use), **options).diagnostics]


@pytest.mark.parametrize("use", TOLD.values(), ids=TOLD)
def test_rows_that_are_told_apart(use: str) -> None:
    assert codes(use) == ["TMG317"]
    assert codes(use, batch="total") == ["TMG244"]


@pytest.mark.parametrize("use", PLACES.values(), ids=PLACES)
def test_places_in_the_batch_are_no_matter(use: str) -> None:
    assert codes(use) == codes(use, batch="total") == []


def test_numbers_that_are_only_compared_with_each_other_tell_nothing() -> None:
    same = "same = tf.cast(tf.equal(tf.expand_dims(rows, 1), tf.expand_dims(rows, 0)), tf.float32)\n"
    assert codes(same + "made += tf.reduce_sum(same, 1, keepdims=True)") == ["TMG302"]


PICKED = """
import sys
import tensorflow as tf
from data import next_batch

batch_size = 32
width, steps = int(sys.argv[1]), int(sys.argv[2])
X = tf.placeholder(tf.int32, [None, None])
M = tf.placeholder(tf.float32, [None, None])
Y = tf.placeholder(tf.float32, [None, 1])
table = {table}
rows = tf.nn.embedding_lookup(table, X) * tf.reshape(M, [-1, steps, 1])
rows = tf.reshape(rows, [-1, steps, {width}])
best = tf.argmax(tf.reduce_sum(rows, 2), 1, output_type=tf.int32)
picked = tf.gather(tf.reshape(rows, [-1, width]), best + tf.range(tf.shape(rows)[0]) * steps)
loss = tf.reduce_mean(tf.square(tf.layers.dense(picked, 1) - Y))
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        x, m, y = next_batch(batch_size)
        sess.run(train_op, {{X: x, M: m, Y: y}})
"""
TABLES = [
    "tf.get_variable('table', [100, width])",
    "tf.Variable(tf.random_normal([100, width]))",
    "tf.get_variable('table', initializer=tf.random_normal([100, width]))",
]


@pytest.mark.parametrize("table", TABLES)
def test_what_is_looked_up_is_as_wide_as_its_table_whatever_number_that_is(table: str) -> None:
    found = {width: run(PICKED.format(table=table, width=width)).diagnostics for width in ("width", "4")}
    assert found["width"] == ()
    assert [d.code for d in found["4"]] == ["TMG302"]  # rows of another width: several may be one example's


FED = """
import tensorflow as tf
from data import next_batch

batch_size = 32
X = tf.placeholder(tf.float32, [None, 8])
Y = tf.placeholder(tf.float32, [None, 3])
rows = tf.placeholder(tf.int32, [None])
made = tf.layers.dense(X, 3)
picked = tf.gather(made, rows)
more = tf.nn.relu(picked) - Y
loss = tf.reduce_mean(tf.square(more))
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        x, y, n = next_batch(batch_size)
        sess.run(train_op, {X: x, Y: y, rows: n})
"""


def test_a_refusal_names_the_line_in_which_the_rows_are_lost_first() -> None:
    line = 1 + FED.strip().split("\n").index("picked = tf.gather(made, rows)")
    assert [(d.code, d.line) for d in run(FED.lstrip()).diagnostics] == [("TMG249", line)]
