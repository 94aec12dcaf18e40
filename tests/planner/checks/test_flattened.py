"""Labels that are fed as one long row cannot be cut by the rows of the sequences that they belong to."""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 8
x = tf.placeholder(tf.float32, {shape})
y = tf.placeholder(tf.int32, {labels})
logits = tf.layers.dense(tf.reshape(x, [-1, 4]), 5)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels={read}))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    for step in range(10):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{x: xs, y: {fed}}})
"""
SEQUENCES = "[None, None, 4]"


def script(shape: str, fed: str, labels: str = "[None]", read: str = "y") -> str:
    return SCRIPT.format(shape=shape, fed=fed, labels=labels, read=read)


@pytest.mark.parametrize(
    "fed",
    [
        "ys.flatten()",
        "ys.ravel()",
        "np.ravel(ys)",
        "ys.reshape(-1)",
        "np.reshape(ys, [-1])",
        "np.reshape(ys, (-1,))",
        "ys.reshape([batch_size * 7])",
        "ys.reshape(56)",
    ],
)
def test_labels_that_are_fed_as_one_row(fed: str) -> None:
    assert codes(script(SEQUENCES, fed)) == ["TMG257"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(script(SEQUENCES, "ys", "[None, None]", "tf.reshape(y, [-1])"), id="flattened in the model"),
        pytest.param(script("[None, 4]", "ys.ravel()"), id="one label an example"),
        pytest.param(script("[None, 2, 2]", "ys.ravel()"), id="an image is one row"),
        pytest.param(script(SEQUENCES, "ys"), id="not seen to be flattened"),
        pytest.param(script(SEQUENCES, "ys.reshape(batch_size, -1)", "[None, None]", "tf.reshape(y, [-1])"), id="rows"),
    ],
)
def test_one_row_for_each_example(text: str) -> None:
    assert run(text).status == "converted"
