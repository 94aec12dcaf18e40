"""The line that is said to count steps by the batch size."""

from __future__ import annotations

import pytest

from tests.plan.test_decisions import decided

MODEL = """\
import numpy as np
import tensorflow as tf
n = 8
x = tf.placeholder(tf.float32, [None, 4])
errors = tf.square(tf.layers.dense(x, 1))
loss = tf.reduce_sum(errors) / n
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data = np.random.rand(64, 4)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in {}:
        sess.run(step, {{x: data[:n]}})
"""


@pytest.mark.parametrize(("turns", "line"), [("range(9)", 0), ("range(64 // n)", 11), ("range(0, 64, n)", 11)])
def test_a_loss_divided_by_the_batch_size_counts_none(turns: str, line: int) -> None:
    said = decided(script=MODEL.format(turns))["epochs"]
    assert said.startswith(f"train.py:{line} counts" if line else "no line was seen"), said
