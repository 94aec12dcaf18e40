"""Steps behind those that are compared in full: held to what the first ones were found to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import Report, VerifySettings, verify

SINGLE = """\
import numpy as np
import tensorflow as tf

np.random.seed(3)
tf.set_random_seed(4)
batch_size = 12
data = np.random.RandomState(1).rand(480, 3).astype(np.float32)
target = data.sum(axis=1, keepdims=True)

global_step = tf.train.get_or_create_global_step()
X = tf.placeholder(tf.float32, [None, 3])
Y = tf.placeholder(tf.float32, [None, 1])
hidden = tf.layers.dense(X, 4, tf.nn.tanh)
loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - Y))
train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, global_step=global_step)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for start in range(0, len(data), batch_size):
        batch = {X: data[start:start + batch_size], Y: target[start:start + batch_size]}
        print(sess.run([train_op, loss], batch)[1])
"""
# 2 from the tenth step on, which lies far behind the steps that are compared in full
LATE = "(1 + tf.cast(global_step > 8, tf.float32))"


def proven(folder: Path, python: str, old: str, new: str) -> Report:
    """The report on 14 steps of the conversion with `new` where `old` stands."""
    (folder / "single.py").write_text(SINGLE)
    text = convert(read(str(folder / "single.py")), Options(num_gpus=2)).text
    assert text is not None and text.count(old) == 1
    (folder / "multi.py").write_text(text.replace(old, new))
    return verify(folder / "single.py", folder / "multi.py", VerifySettings(python=python, steps=14))


@pytest.mark.tf1
def test_the_right_conversion_passes(tensorflow_python: str, tmp_path: Path) -> None:
    report = proven(tmp_path, tensorflow_python, "tower_loss, tower_grads = ", "tower_loss, tower_grads = ")
    assert report.verdict == "passed" and report.steps == 14, report
    # the original goes its own way through the steps that are compared in full, and no further
    assert [check.detail for check in report.checks if check.name == "weights"] == ["the same after 6 steps"]


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        (
            "apply_gradients(sum_gradients(tower_grads),",
            f"apply_gradients([(gradient * {LATE}, of) for gradient, of in sum_gradients(tower_grads)],",
            "gradients",
        ),
        ("MomentumOptimizer(0.1,", f"MomentumOptimizer(0.1 * {LATE},", "update"),
        ("loss = tf.add_n(tower_loss)", f"loss = tf.add_n(tower_loss) * {LATE}", "loss"),
    ],
)
def test_a_fault_of_later_steps_fails(old: str, new: str, check: str, tensorflow_python: str, tmp_path: Path) -> None:
    report = proven(tmp_path, tensorflow_python, old, new)
    failed = [found for found in report.checks if found.status == "failed"]
    assert [found.name for found in failed][:1] == [check], report
