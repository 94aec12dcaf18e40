"""Right scripts that once gave an alarm: each passes, or is not comparable for the reason that holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import Report, Settings, verify
from tests.verify.test_report import facts, verdict

PLAIN = """
import os
import numpy as np
import tensorflow as tf
rng = np.random.RandomState(1)
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
out = tf.layers.dense(x, 1, name='d')
loss = tf.reduce_mean((out - y) ** 2)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(6):
        sess.run(train, {x: rng.rand(8, 4), y: rng.rand(8, 1)})
"""
WINDOW = "import matplotlib\nmatplotlib.use('TkAgg')\nimport matplotlib.pyplot as p\np.figure(); p.show()\n"
MEAN, STEPS, RATE = "tf.reduce_mean((out - y) ** 2)", "range(6)", "Optimizer(0.01)"


def converted(folder: Path, text: str, gpus: int = 2) -> Report:
    (folder / "train.py").write_text(text)
    made = convert(read(str(folder / "train.py")), Options())
    assert made.text is not None, made.diagnostics
    (folder / "train_mg.py").write_text(made.text)
    return verify(folder / "train.py", folder / "train_mg.py", Settings(gpus=gpus))


def of(report: Report, name: str) -> str:
    return " ".join(f"{check.status} {check.detail}" for check in report.checks if check.name == name)


@pytest.mark.tf2
@pytest.mark.parametrize(
    ("old", "new", "check", "said"),
    [
        ("", "", "update", "passed"),
        # the original ends itself, after fewer steps than are asked for
        (STEPS + ":", "range(3):\n        if _ == 2: os._exit(0)", "update", "passed"),
        # a window, where there is none
        ("import os", WINDOW + "import os", "update", "passed"),
        # a mean over n - 1 examples is none of one example, in the original, too
        (
            MEAN,
            "tf.reduce_sum((out - y) ** 2) / (tf.cast(tf.shape(x)[0], tf.float32) - 1.0)",
            "fewer examples than towers",
            "skipped 1 examples on 2 towers: the original's own loss on these is",
        ),
        # training that leaves all bounds
        (RATE, "Optimizer(1e30)", "weights", "skipped the original's gradients are not finite in step 3"),
    ],
    ids=["plain", "exit", "window", "no mean of one", "explodes"],
)
def test_passes(tmp_path: Path, old: str, new: str, check: str, said: str) -> None:
    report = converted(tmp_path, PLAIN.replace(old, new) if old else PLAIN + new)
    assert report.verdict == "passed", report
    assert of(report, check).startswith(said), of(report, check)


@pytest.mark.tf2
def test_an_exit_with_an_error_is_none(tmp_path: Path) -> None:
    report = converted(tmp_path, PLAIN.replace(STEPS, "range(0)") + "os._exit(3)\n")
    assert report.verdict == "not comparable" and "status 3" in report.reason


@pytest.mark.tf2
def test_gradients_that_are_not_finite_are_the_reason(tmp_path: Path) -> None:
    report = converted(tmp_path, PLAIN.replace(MEAN, "tf.reduce_mean(1e25 * (1e14 * out - y) ** 2)"))
    assert report.verdict == "not comparable"
    assert report.reason == "the original's gradients are not finite: there is nothing to compare with"


BY_HAND = """
import numpy as np
import tensorflow as tf
rng = np.random.RandomState(1)
N = 2
opt = tf.train.GradientDescentOptimizer(0.01)
feeds, grads = [], []
for i in range(N):
    with tf.device('/gpu:%d' % i), tf.variable_scope(tf.get_variable_scope(), reuse=i > 0):
        x = tf.placeholder(tf.float32, [None, 4])
        y = tf.placeholder(tf.float32, [None, 1])
        feeds.append((x, y))
        grads.append(opt.compute_gradients(tf.reduce_mean((tf.layers.dense(x, 1, name='d') - y) ** 2)))
train = opt.apply_gradients([(tf.add_n([g for g, _ in p]) / N, p[0][1]) for p in zip(*grads)])
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(6):
        a, b = np.split(rng.rand(16, 4), N), np.split(rng.rand(16, 1), N)
        sess.run(train, {k: v for pair, *values in zip(feeds, a, b) for k, v in zip(pair, values)})
"""


@pytest.mark.tf2
def test_a_placeholder_for_each_tower_is_not_comparable(tmp_path: Path) -> None:
    (tmp_path / "single.py").write_text(PLAIN)
    (tmp_path / "multi.py").write_text(BY_HAND)
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", Settings(gpus=2))
    assert report.verdict == "not comparable" and "each tower by inputs of its own" in report.reason, report


@pytest.mark.tf2
def test_a_failure_names_the_warnings_of_the_conversion(tmp_path: Path) -> None:
    text = PLAIN.replace(MEAN, "tf.sqrt(tf.reduce_mean((out - y) ** 2))")
    assert converted(tmp_path, text).verdict == "passed"
    multi = tmp_path / "train_mg.py"
    multi.write_text(multi.read_text().replace("Optimizer(0.01)", "Optimizer(0.02)"))
    report = verify(tmp_path / "train.py", multi, Settings(gpus=2))
    assert report.verdict == "failed" and "(the conversion warns: TMG30" in report.reason, report


def test_a_failure_without_warnings_names_none() -> None:
    assert "warns" not in verdict(mine=facts()).reason
