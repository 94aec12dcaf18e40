"""Readers that sort the rows of some batches: with larger batches a step takes other rows than the original's."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import random
import numpy as np
import tensorflow as tf

batch_size = 8
data = np.random.RandomState(0).rand(640, 4)


class Reader(object):
    def __init__(self, batch_size):
        self.batch_size, self.k, self.buffer, self.place = batch_size, {number}, [], 0

    def next(self):
        if len(self.buffer) == 0:
            for _ in range(self.k):
                self.buffer.append(data[self.place])
                self.place += 1
            {order}
        rows = []
        while len(rows) < self.batch_size:
            rows.append(self.buffer.pop())
        return np.array(rows)


X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 4) - X))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
reader = Reader(batch_size)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(80):
        sess.run(train_op, {{X: reader.next()}})
"""


@pytest.mark.parametrize(
    ("number", "order", "told"),
    [
        ("batch_size * 20", "self.buffer.sort(key=len)", True),
        ("20 * batch_size", "random.shuffle(self.buffer)", True),
        ("160", "self.buffer.sort(key=len)", False),
        ("batch_size * 20", "self.buffer.reverse()", False),  # the rows come in their order
    ],
)
def test_rows_that_are_sorted_for_several_batches(number: str, order: str, told: bool) -> None:
    assert ("TMG344" in codes(SCRIPT.format(number=number, order=order))) is told
