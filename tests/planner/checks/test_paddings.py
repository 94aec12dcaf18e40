"""Paddings that are kept in arrays: what is changed later pads other axes."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 32
x = tf.placeholder(tf.float32, [None, 4])
{made}
wide = tf.pad(x, pad)
loss = tf.reduce_mean(tf.square(tf.layers.dense(wide, 4)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while True:
        sess.run(train_op, {{x: next_batch(batch_size)}})
"""


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("pad = np.array([[0, 0], [1, 1]])", []),
        ("width = 3\npad = np.array([[0, 0], [width // 2, width // 2]], dtype=np.int32)", []),
        ("pad = np.array([[0, 0], [0, 0]])\npad[0] = 1", ["TMG302"]),
        ("pad = np.array([[0, 0], [0, 0]])\npad[0, 1] += 1", ["TMG302"]),
        ("pad = np.array([[0, 0], [0, 0]])\nchange(pad)", ["TMG302"]),
    ],
)
def test_an_array_that_nothing_changes_says_which_axes_are_padded(made: str, found: list[str]) -> None:
    assert codes(SCRIPT.format(made=made)) == found
