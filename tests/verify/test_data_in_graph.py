"""Scripts whose data lie in the graph, wholly or beside what is fed."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import VerifySettings, verify
from tests.goldens import FIXTURES

MIXED = """\
import numpy as np
import tensorflow as tf

xs = np.random.rand(31, 4)
ys = np.random.rand(31, 1)
X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - ys))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(5):
        sess.run(train_op, {X: xs})
"""


@pytest.mark.tf2
def test_a_batch_of_a_size_that_the_original_refuses_is_not_compared(tmp_path: Path, tensorflow_python: str) -> None:
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(MIXED)
    multi.write_text(convert(read(str(single)), Options(num_gpus=3)).text or "")
    report = verify(single, multi, VerifySettings(gpus=3, python=tensorflow_python))
    found = {check.name: (check.status, check.detail) for check in report.checks}
    assert report.verdict == "passed" and found["batch"][0] == "passed"
    assert found["gradients"] == ("passed", "equal to the original's on the whole batch")
    for name in ("uneven batch", "fewer examples than towers"):
        assert found[name][0] == "skipped" and "the original takes no" in found[name][1]


@pytest.mark.one_in(3)
@pytest.mark.tf2
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("constant_data", "compute_gradients(loss * weight)", "compute_gradients(loss)"),
        ("constant_data", "(end - begin) / float(sizes[0])", "1.0 / NUM_GPUS"),
        ("constant_data", "d[first : max(end, first + 1)]", "d[: max(end - first, 1)]"),
        ("arrays_in_graph", "tf.cast(tf.minimum(rows, 1), loss.dtype)", "weight"),
    ],
    ids=["summed", "equal weights", "first shard", "averaged sums"],
)
def test_towers_that_share_the_data_wrongly_are_found(
    tmp_path: Path, tensorflow_python: str, name: str, old: str, new: str
) -> None:
    text = (FIXTURES / name / "multi.py").read_text(encoding="utf-8")
    assert old in text, "the fault would change nothing"
    multi = tmp_path / "multi.py"
    multi.write_text(text.replace(old, new), encoding="utf-8")
    report = verify(FIXTURES / name / "single.py", multi, VerifySettings(gpus=2, python=tensorflow_python))
    gradients = next(check for check in report.checks if check.name == "gradients")
    assert (report.verdict, gradients.status) == ("failed", "failed")


@pytest.mark.tf2
def test_the_report_says_that_no_batch_goes_in(tensorflow_python: str) -> None:
    folder = FIXTURES / "arrays_in_graph"
    report = verify(folder / "single.py", folder / "multi.py", VerifySettings(gpus=2, python=tensorflow_python))
    gradients = next(check for check in report.checks if check.name == "gradients")
    assert gradients.detail == "equal to the original's, which nothing with a batch axis goes into"
