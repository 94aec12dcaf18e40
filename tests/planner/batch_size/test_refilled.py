"""Arrays that are made before the training loop and filled again in each of its turns."""

from __future__ import annotations

import pytest

from tests.scripts import STEP, codes, converted, run

SCRIPT = (
    """\
import numpy as np
import tensorflow as tf

{}
X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1)))
"""
    + STEP
    + """\
batch = np.zeros([{}, 4])
with tf.Session() as sess:
    for step in range(10):
        {}
        sess.run(train_op, {{X: batch}})
"""
)
NAMED = "batch_size = 32"


@pytest.mark.parametrize(
    "fill",
    [
        "batch[:] = data[np.random.choice(99, batch_size)]",
        "batch[...] = np.random.rand(batch_size, 4)",
        "batch[:, :] = next_batch(batch_size)",
        "for i in range(batch_size):\n            batch[i] = data[np.random.randint(99)]",
        "for i in range(batch_size):\n            batch[i, :] = data[step]",
    ],
)
def test_arrays_that_are_filled_by_the_batch_size(fill: str) -> None:
    text = SCRIPT.format(NAMED, "batch_size", fill)
    assert codes(text) == [] and "batch_size = 32 * num_gpus" in converted(text)


@pytest.mark.parametrize(
    "fill",
    [
        "batch[0] = data[step]",
        "for i in range(32):\n            batch[i] = data[step]",
        "for i in range(len(data)):\n            batch[i] = data[i]",
        "batch[:] = load(step)",
        "batch[:, 0] = 1.\n        batch[:8] = data[step * batch_size:step * batch_size + 8]",
    ],
)
def test_arrays_that_may_keep_old_rows(fill: str) -> None:
    (finding,) = run(SCRIPT.format(NAMED, "batch_size", fill)).diagnostics
    assert finding.code == "TMG304" and "filled again in the training loop" in finding.message


def test_an_array_that_no_turn_changes() -> None:
    (finding,) = run(SCRIPT.format(NAMED, "batch_size", "print(batch[0])")).diagnostics
    assert finding.code == "TMG304" and "is fed the same batch" in finding.message
