"""Inputs that say which examples of a batch are alike: a row and a column for each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.options import Options
from tests.proofs import proof_of
from tests.scripts import codes, converted

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 8
data = np.random.RandomState(1).rand(64, 4).astype('float32')
x = tf.placeholder(tf.float32, [None, 4])
s = tf.placeholder(tf.float32, {shape})
h = tf.layers.dense(x, 3)
codes = tf.get_variable('codes', [8, 3])
theta = tf.matmul(h, {other}, transpose_b=True) / 2.0
loss = tf.reduce_mean({loss})
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(len(data) // batch_size):
        some = data[i * batch_size:(i + 1) * batch_size]
        sess.run(train_op, {{x: some, s: {fed}}})
"""
OPEN = "[None, None]"
ALIKE = "(some[:, None, 0] > some[None, :, 1]).astype('float32')"
PRODUCT = "tf.nn.softplus(theta) - s * theta"


@pytest.mark.parametrize(
    ("shape", "other", "loss", "found"),
    [
        (OPEN, "h", PRODUCT, ["TMG233"]),
        (OPEN, "h", "tf.nn.sigmoid_cross_entropy_with_logits(labels=s, logits=theta)", ["TMG233"]),
        (OPEN, "h", "tf.nn.softplus(theta) - tf.cast(s > 0, tf.float32) * theta", ["TMG233"]),
        ("[batch_size, batch_size]", "h", PRODUCT, ["TMG233"]),
        (OPEN, "codes", PRODUCT, []),
        ("[None, 8]", "codes", PRODUCT, []),
        ("[None, 8]", "h", "tf.reduce_sum(tf.nn.softplus(theta)) - tf.reduce_sum(s)", ["TMG302"]),
        (OPEN, "h", "tf.reduce_sum(tf.nn.softplus(theta)) - tf.reduce_sum(s)", ["TMG302"]),
    ],
    ids=["set against", "cross entropy", "cast", "by size", "variables", "a width", "sums of a width", "sums"],
)
def test_what_has_the_examples_along_both_axes(shape: str, other: str, loss: str, found: list[str]) -> None:
    assert codes(SCRIPT.format(shape=shape, other=other, loss=loss, fed=ALIKE)) == found


def test_a_loss_computed_once_takes_all_of_it() -> None:
    text = converted(SCRIPT.format(shape=OPEN, other="h", loss=PRODUCT, fed=ALIKE), loss="global")
    assert "(x,), rows, weight = shard([x_batch], gpu)" in text


@pytest.mark.tf1
def test_a_loss_computed_once_is_the_original_s(tensorflow_python: str, tmp_path: Path) -> None:
    (tmp_path / "single.py").write_text(SCRIPT.format(shape=OPEN, other="h", loss=PRODUCT, fed=ALIKE))
    report = proof_of(tmp_path / "single.py", tensorflow_python, tmp_path, Options(loss="global"))
    assert report.verdict == "passed", report
