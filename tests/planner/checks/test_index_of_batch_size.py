"""An index that is computed from the batch size picks another entry where that is another number."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 8
theta = {theta}
X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 2) - {picked}))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(9):
        sess.run(train_op, {{X: next_batch(batch_size)}})
"""
WHOLE = ["tf.get_variable('theta', [32])", "np.ones(32, 'float32')", "tf.constant(np.arange(32.))"]


@pytest.mark.parametrize("theta", WHOLE)
@pytest.mark.parametrize("index", ["batch_size + 1", "batch_size", "2 * batch_size"])
def test_an_index_into_what_does_not_follow_the_batch(theta: str, index: str) -> None:
    script = SCRIPT.format(theta=theta, picked=f"theta[{index}]")
    assert codes(script, batch="total") == ["TMG255"]
    assert codes(script) == []  # a tower's batch size is the script's


@pytest.mark.parametrize(
    ("theta", "picked"),
    [
        ("tf.get_variable('theta', [32])", "theta[9]"),
        ("tf.get_variable('theta', [32])", "tf.reduce_mean(theta[:batch_size])"),
        ("[1., 2., 3.]", "theta[2] * batch_size"),
        ("8", "tf.to_float(tf.range(batch_size + 2))[batch_size + 1]"),
        ("8", "np.ones(batch_size + 2, 'float32')[batch_size + 1]"),
    ],
)
def test_others_are_converted(theta: str, picked: str) -> None:
    assert "TMG255" not in codes(SCRIPT.format(theta=theta, picked=picked), batch="total")
