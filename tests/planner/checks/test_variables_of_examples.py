"""Variables with a row for each example of a batch: the edit that is told, and that it helps."""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

SCRIPT = """\
import numpy as np
import tensorflow as tf

{size} = 16
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 8])
{state}
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 8) + {read} - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        sess.run(train_op, {{x: np.random.rand({size}, 4), y: np.random.rand({size}, 8){fed}}})
"""
HELD = "state = tf.get_variable('state', [{}, 8], initializer=tf.zeros_initializer(){})"


def script(size: str, state: str, read: str = "state", fed: str = "") -> str:
    return SCRIPT.format(size=size, state=state, read=read, fed=fed)


@pytest.mark.parametrize(("size", "code"), [("batch_size", "TMG224"), ("num", "TMG233")])
def test_a_state_is_to_be_fed(size: str, code: str) -> None:
    (found,) = run(script(size, HELD.format(size, ", trainable=False"))).diagnostics
    assert found.code == code
    assert found.hint.startswith("write a placeholder of that shape in its place, feed zeros to the first step")
    fed = script(size, "state = tf.placeholder(tf.float32, [None, 8])", fed=f", state: np.zeros([{size}, 8])")
    assert codes(fed) == []


@pytest.mark.parametrize(
    ("size", "code", "hint"),
    [
        ("batch_size", "TMG224", "make its shape independent of the batch size: [1, …] for all examples"),
        ("num", "TMG233", "feed the numbers of some rows, and tf.gather these"),
    ],
)
def test_weights_are_shared_or_looked_up(size: str, code: str, hint: str) -> None:
    (found,) = run(script(size, HELD.format(size, ""))).diagnostics
    assert found.code == code and found.hint.startswith(hint)


def test_the_edits_for_weights() -> None:
    assert codes(script("batch_size", HELD.format("1", ""))) == []
    rows = HELD.format("50", "") + "\nrows = tf.placeholder(tf.int32, [None])"
    assert codes(script("batch_size", rows, "tf.gather(state, rows)", ", rows: np.arange(batch_size)")) == []
