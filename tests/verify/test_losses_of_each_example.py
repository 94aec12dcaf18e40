"""A loss with a value for each example that another function minimises: a step takes the gradient of the sum."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import VerifySettings, verify

SINGLE = """\
import numpy as np
import tensorflow as tf

batch_size = 8
rng = np.random.RandomState(1)
data = rng.rand(48, 3)


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 3])
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 4) - 1.0), 1)


def train(loss):
    variables = tf.trainable_variables()
    grads, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 5.0)
    return tf.train.GradientDescentOptimizer(0.01).apply_gradients(zip(grads, variables))


model = Model()
train_op = train(model.loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for start in range(0, len(data), batch_size):
        feed = {model.x: data[start:start + batch_size]}
        print(sess.run([model.loss, train_op], feed)[0].mean())
"""


KEPT = "keep_losses(tf.concat(tower_loss, 0), tower_losses)"
FIRST = KEPT.replace("tower_losses)", "tower_losses[:1])")


@pytest.mark.tf2
@pytest.mark.parametrize(("kept", "verdict"), [(KEPT, "passed"), (FIRST, "failed")])
def test_the_losses_that_the_merged_one_carries(
    tmp_path: Path, tensorflow_python: str, kept: str, verdict: str
) -> None:
    """Those of one tower alone are not enough; batches of one example are proved with the others."""
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(SINGLE)
    text = convert(read(str(single)), Options(num_gpus=2)).text or ""
    assert KEPT in text
    multi.write_text(text.replace(KEPT, kept))
    report = verify(single, multi, VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == verdict, report.reason
