"""Where a plan says that the script reads a size of batches which grows with the towers."""

from __future__ import annotations

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes

SCRIPT = """\
import numpy as np
import tensorflow as tf
size, classes = 8, 8
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(x, classes)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
loss = tf.reduce_mean(losses)
each = tf.reduce_sum(losses) / USED
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
data, labels = np.random.rand(64, 4), np.random.randint(8, size=64)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, size):
        print(sess.run([step, each], {x: data[i:i + size], y: labels[i:i + size]}))
"""


@pytest.mark.parametrize(
    ("used", "batch", "read"),
    [
        ("size", "per-gpu", True),
        ("(2 * size)", "per-gpu", True),
        ("size", "total", False),  # it stays as it is
        ("classes", "per-gpu", False),  # as large, and no size of a batch
        ("8", "per-gpu", False),
        ("tf.cast(tf.shape(x)[0], tf.float32)", "per-gpu", False),
    ],
)
def test_the_lines_that_read_a_size(used: str, batch: str, read: bool) -> None:
    script = from_bytes("train.py", SCRIPT.replace("USED", used).encode())
    plan = convert(script, Options(batch="total" if batch == "total" else "per-gpu")).plan
    assert plan is not None
    assert (9 in {at.line for at in plan.sizes}) is read
    assert batch == "total" or {3, 14, 15} <= {at.line for at in plan.sizes}
