"""An array whose name has "batch_size" in it is no batch size: the classes of sizes of a batch."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

SCRIPT = """\
import numpy as np
import tensorflow as tf

BATCH_SIZE = 8


def get_batch(data, order, start, end):
    count = end - start
    rows = np.zeros((count, 4))
    batch_size_class = np.zeros((count,), dtype=np.int32)
    for i in range(count):
        rows[i], batch_size_class[i] = data[order[i + start]]
    return rows, batch_size_class


data = [(np.random.rand(4), i % 3) for i in range(80)]
x = tf.placeholder(tf.float32, [BATCH_SIZE, 4])
y = tf.placeholder(tf.int32, [BATCH_SIZE])
loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(x, 3))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for index in range(len(data) // BATCH_SIZE):
        rows, kinds = get_batch(data, np.arange(80), index * BATCH_SIZE, (index + 1) * BATCH_SIZE)
        sess.run(train_op, {x: rows, y: kinds})
"""


@pytest.mark.parametrize("made", ["np.zeros((count,), dtype=np.int32)", "np.ones(count)", "np.arange(count)"])
def test_an_array_is_no_size(made: str) -> None:
    script = SCRIPT.replace("np.zeros((count,), dtype=np.int32)", made)
    assert "BATCH_SIZE = 8 * NUM_GPUS" in body(script)
    assert codes(script) == []
