"""Placeholders that are fed together, in a structure that nothing in the script tells."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = 4


def hold(parts, kind):
    return kind(*parts)


def nested(given, size):
    if isinstance(size, int):
        made = tf.placeholder_with_default(given, [None, size])
    else:
        parts = [nested(one, each) for one, each in zip(given, size)]
        made = type(size)(*parts)
    return made


x = tf.placeholder(tf.float32, [batch_size, 3, 5])
y = tf.placeholder(tf.float32, [batch_size, 2])
cell = tf.nn.rnn_cell.BasicLSTMCell(6)
zero = cell.zero_state(batch_size, tf.float32)
"""
TAIL = """\
outputs, final = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), initial_state=start)
loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[-1], 2) - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    state = sess.run(zero)
    for step in range(10):
        feed = {{x: np.random.rand(batch_size, 3, 5), y: np.random.rand(batch_size, 2){fed}}}
        value, state, _ = sess.run([loss, final, train_op], feed)
"""
PARTS = "parts = [tf.placeholder_with_default(z, [None, 6]) for z in zero]\n"


@pytest.mark.parametrize(
    "made",
    [
        PARTS + "start = hold(parts, type(cell.state_size))\n",
        PARTS + "start = type(cell.state_size)(*parts)\n",
        "start = nested(zero, cell.state_size)\n",
    ],
    ids=["function", "type", "recursive"],
)
def test_what_holds_them_is_made_by_a_class_of_the_run(made: str) -> None:
    """Each tower would read the whole batch's state."""
    assert codes(HEAD + made + TAIL.format(fed=", start: state")) == ["TMG241"]


@pytest.mark.parametrize(
    ("made", "fed"),
    [
        (PARTS + "start = tf.nn.rnn_cell.LSTMStateTuple(*parts)\n", ", start: state"),
        (PARTS + "start = tf.nn.rnn_cell.LSTMStateTuple(*parts)\n", ", parts[0]: state[0], parts[1]: state[1]"),
        ("start = zero\n", ", start: state"),
    ],
    ids=["named class", "one by one", "no placeholders"],
)
def test_what_holds_them_is_known(made: str, fed: str) -> None:
    script = HEAD + made + TAIL.format(fed=fed)
    assert codes(script) == []
    assert "batch_size = 4 * num_gpus" in body(script)


def test_a_default_that_nothing_feeds_keeps_its_size() -> None:
    scale = "start = zero\nscale = tf.placeholder_with_default([1.0, 2.0], [None])\n"
    assert codes(HEAD + scale + TAIL.format(fed="")) == []
