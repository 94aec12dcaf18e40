"""Batch sizes that the model reads off an object that no file makes."""

from __future__ import annotations

import pytest

from tests.scripts import codes

MODEL = """\
import tensorflow as tf


class Model(object):
    def __init__(self, args, count):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 3])
        cell = tf.nn.rnn_cell.GRUCell(args.size)
        steps = tf.expand_dims(self.x, 2)
        rows = tf.shape(self.x)[0]
        p = tf.layers.dense(self.x, 3)
        {model}
        loss = tf.reduce_mean(tf.square(p - self.y))
        {loss}
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(loss)

    def train(self, sess, x, y):
        sess.run(self.train_op, {{self.x: x, self.y: y}})
"""
STATE = "p = tf.layers.dense(tf.nn.dynamic_rnn(cell, steps, initial_state=cell.zero_state({}, tf.float32))[1], 3)"


@pytest.mark.parametrize(
    "model",
    [
        "p = tf.reshape(p, [args.batch_size, 3])",
        "p += tf.zeros([args.batch_size, 3])",
        "p += tf.random_normal((int(args.batch_size), 3))",
        "p = tf.reshape(p, [args.batch_size * 3])",
        "p += tf.tile(tf.get_variable('b', [1, 3]), [args['batch_size'], 1])",
        "p = tf.gather(p, tf.range(args.batch_size))",
        STATE.format("args.batch_size"),
        STATE.format("args.n"),
        STATE.format("count"),
    ],
)
def test_rows_of_a_number_that_is_not_seen(model: str) -> None:
    assert codes(MODEL.format(model=model, loss="pass")) == ["TMG274"]


@pytest.mark.parametrize(
    ("model", "loss"),
    [
        (STATE.format("rows"), "pass"),
        ("p = tf.reshape(p, [rows, 3])", "pass"),
        ("p = tf.reshape(p, [-1, args.classes])", "pass"),
        ("p += tf.zeros([args.classes])", "pass"),
        ("p += tf.zeros([pair(args.batch_size, args.classes).second])", "pass"),
        ("p = tf.maximum(p, args.margin)", "pass"),
        ("pass", "loss = tf.reduce_sum(tf.square(p - self.y)) / args.batch_size"),
        ("pass", "loss = tf.reduce_sum(tf.square(p - self.y)) / (args.batch_size * args.classes)"),
    ],
)
def test_rows_of_the_batch_and_numbers_that_count_no_rows(model: str, loss: str) -> None:
    assert codes(MODEL.format(model=model, loss=loss)) == ["TMG351", "TMG303"]


def test_an_object_that_the_script_makes() -> None:
    made = """\

class Config(object):
    batch_size = 16
    size = 8


config = Config()
model = Model(config, 3)
with tf.Session() as sess:
    for i in range(0, 99, config.batch_size):
        model.train(sess, data[i:i + config.batch_size], labels[i:i + config.batch_size])
"""
    assert codes(MODEL.format(model=STATE.format("args.batch_size"), loss="pass") + made) == []


COUNTED = """\
import tensorflow as tf

rows = tf.Variable({start}, trainable=False)
x = tf.placeholder(tf.float32, [None, 5, 4])
y = tf.placeholder(tf.float32, [None, 3])
cell = tf.nn.rnn_cell.GRUCell(3)
{state}
out, state = cell(x[:, 0, :], state)
loss = tf.reduce_mean(tf.square(out - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 96, 32):
        rows.load(32, sess)
        sess.run(train_op, {{x: data[i:i + 32], y: labels[i:i + 32]}})
"""


@pytest.mark.parametrize(
    "state",
    [
        "state = cell.zero_state(rows, tf.float32)",
        "if keep < 1:\n    cell = tf.nn.rnn_cell.DropoutWrapper(cell, keep)\nstate = cell.zero_state(rows, tf.float32)",
        "state = tf.zeros([rows, 3])",
        "state = tf.random_normal([rows, 3])",
    ],
)
def test_rows_counted_by_a_variable(state: str) -> None:
    assert codes(COUNTED.format(start=0, state=state)) == ["TMG274"]


@pytest.mark.parametrize(
    ("start", "state"),
    [
        ("0", "state = cell.zero_state(tf.shape(x)[0], tf.float32)"),
        ("tf.zeros([1, 3])", "state = tf.tile(rows, [tf.shape(x)[0], 1])"),
        ("0", "state = tf.zeros([tf.shape(x)[0], 3]) + tf.concat([[tf.cast(rows, tf.float32)], [0.0, 1.0]], 0)"),
    ],
)
def test_rows_of_the_batch_beside_a_variable(start: str, state: str) -> None:
    assert "TMG274" not in codes(COUNTED.format(start=start, state=state))
