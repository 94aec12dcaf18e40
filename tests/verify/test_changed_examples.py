"""Epochs whose examples are changed anew each time: their ends are not recognised, and files are saved there."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import Report, VerifySettings, verify

VERSIONS = [pytest.param("2", marks=pytest.mark.tf2), pytest.param("1.15", marks=pytest.mark.tf1)]
SINGLE = """\
import numpy as np
import tensorflow as tf

batch_size = 5
np.random.seed(1)
data = np.random.rand(22, 3)
x = tf.placeholder(tf.float32, [batch_size, 3])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 2)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    count = 0
    for epoch in range(2):
        for step in range(len(data) // batch_size):
            rows = data[step * batch_size : (step + 1) * batch_size] + 0.1 * np.random.rand(batch_size, 3)
            _, value = sess.run([train_op, loss], {x: rows})
            count += 1
            print(epoch, step, value)
        saver.save(sess, 'net.ckpt', global_step=count)
"""
SAVES = "        saver.save("


def proven(folder: Path, python: str, saves: str = SAVES) -> Report:
    """The report of the script, whose conversion saves here."""
    single, multi = folder / "single.py", folder / "multi.py"
    single.write_text(SINGLE)
    text = convert(read(str(single)), Options(num_gpus=2)).text or ""
    assert SAVES in text
    multi.write_text(text.replace(SAVES, saves))
    return verify(single, multi, VerifySettings(gpus=2, python=python))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS)
def test_files_are_saved_after_as_many_examples(tmp_path: Path, tensorflow_python: str, version: str) -> None:
    report = proven(tmp_path, tensorflow_python)
    assert report.verdict == "passed", report.reason
    (savers,) = (check for check in report.checks if check.name == "savers")
    assert "1 of them after as many examples" in savers.detail


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS)
def test_files_of_each_step_fail(tmp_path: Path, tensorflow_python: str, version: str) -> None:
    report = proven(tmp_path, tensorflow_python, f"    {SAVES}")
    assert report.verdict == "failed"
    assert "net.ckpt is saved after step 1, not so in the original" in report.reason
