"""Batches that objects hold: each step takes another object of a list, or the same one."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 16
data = np.random.rand(160, 3)


class Batch(object):
    def __init__(self, rows):
        self.rows = np.array(rows)


class Stream(object):
    def __init__(self, rows, size):
        self.batches = []
        for begin in range(0, len(rows), size):
            self.batches.append(Batch(rows[begin:begin + size]))
        self.order = np.arange(len(self.batches))

    def get(self, i):
        return self.batches[%s]


x = tf.placeholder(tf.float32, [None, 3])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
stream = Stream(data, batch_size)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(len(stream.batches)):
        batch = stream.get(i)
        sess.run(train_op, {x: batch.rows})
"""


@pytest.mark.parametrize("place", ["self.order[i]", "np.random.randint(len(self.batches))"])
def test_another_object_in_each_step(place: str) -> None:
    assert "\nbatch_size = 16 * num_gpus\n" in converted(SCRIPT % place)


PICKED = """\
    for i in range(len(stream.batches)):
        batch = stream.get(i)
"""
PICKED_ONCE = """\
    batch = stream.get(0)
    for i in range(len(stream.batches)):
"""


@pytest.mark.parametrize(
    "change",
    [("self.batches[%s]", "self.batches[0]"), (PICKED, PICKED_ONCE)],
    ids=["one place", "in front of the loop"],
)
def test_the_same_object_in_each_step(change: tuple[str, str]) -> None:
    assert codes(SCRIPT.replace(*change).replace("%s", "self.order[i]")) == ["TMG304"]
