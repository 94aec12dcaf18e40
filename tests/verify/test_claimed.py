"""A value has to be merged as the conversion plans it: one that would be right in another way fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from converter.verify import Report, VerifySettings, verify
from tests.goldens import FIXTURES
from tests.verify.wrong import Wrong, spoiled, wrong_conversions

FIXTURE = FIXTURES / "running_error"
OF_WHOLE = """with tf.variable_scope(tf.get_variable_scope(), reuse=True):
    again = tf.layers.dense(x, 8, name='dense')
    again = tf.layers.batch_normalization(again, training=True, name='batch_normalization')
    again = tf.layers.dense(tf.nn.relu(again), 1, name='dense_1')
del tf.get_collection_ref(tf.GraphKeys.UPDATE_OPS)[-2:]
error = tf.reduce_mean(tf.abs(again - y), name='error')"""
WRONG = [wrong for wrong in wrong_conversions() if wrong.fixture == FIXTURE.name]
WRONG.append(Wrong("statistics of all", FIXTURE.name, r"^error = .*$", OF_WHOLE, ("fetches",), "", ("", "")))

SUMMARISED = """
import numpy as np
import tensorflow as tf
tf.set_random_seed(7)  # with other weights the towers' roots may be as good as alike
random = np.random.RandomState(3)
features = random.rand(96, 4).astype('float32')
targets = features.dot(random.rand(4, 1)).astype('float32')
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
guess = tf.layers.dense(x, 1)
loss = tf.sqrt(tf.reduce_mean(tf.square(guess - y)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
merged = tf.summary.scalar('loss', loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 96, 24):
        print(sess.run([train_op, merged], {x: features[begin:begin + 24], y: targets[begin:begin + 24]}))
"""
ROOT = "tf.sqrt(tf.add_n([num_gpus * tf.square(one) for one in tower_loss]))"


def proof(folder: Path, single: str, multi: str, python: str) -> Report:
    """The proof of two texts."""
    (folder / "single.py").write_text(single)
    (folder / "multi.py").write_text(multi)
    return verify(folder / "single.py", folder / "multi.py", VerifySettings(python=python))


def failed(report: Report) -> list[str]:
    """The names of the checks that fail."""
    return [check.name for check in report.checks if check.status == "failed"]


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.kind)
def test_what_is_right_in_another_way(tmp_path: Path, tensorflow_python: str, wrong: Wrong) -> None:
    single, multi = ((FIXTURE / name).read_text() for name in ("single.py", "multi.py"))
    report = proof(tmp_path, single, spoiled(multi, wrong), tensorflow_python)
    assert set(failed(report)) & set(wrong.checks), report.reason


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ("", "", ""),
        (r"loss = tf\.add_n\(tower_loss\)", f"loss = {ROOT}", "fetches"),
        (r"sum_gradients\(tower_grads\)(?=[,)])", f"optimizer.compute_gradients({ROOT})", "gradients"),
    ],
    ids=["as it is planned", "the number that is summarised", "the gradients"],
)
def test_a_root_of_the_mean_of_all(tmp_path: Path, tensorflow_python: str, old: str, new: str, check: str) -> None:
    """The towers' roots are averaged (TMG302); the root over all examples is another number."""
    text = convert(from_bytes("single.py", SUMMARISED.encode()), Options()).text
    assert text is not None and re.search(old, text)
    report = proof(tmp_path, SUMMARISED, re.sub(old, new, text) if old else text, tensorflow_python)
    assert check in failed(report) if check else report.verdict == "passed", report.reason


@pytest.mark.tf1
@pytest.mark.parametrize("holds", [True, False])
def test_without_a_plan_one_way_holds_in_all_steps(tmp_path: Path, tensorflow_python: str, holds: bool) -> None:
    """A script without a header may show either number, and not one after the other."""
    text = convert(from_bytes("single.py", SUMMARISED.encode()), Options()).text
    assert text is not None
    text = re.sub("(?m)^# .*tf-multigpu.*$", "#", text)
    root = "tf.sqrt(tf.add_n(squares))"
    other = f"tf.cond(tf.equal(x[0, 0], features[0, 0]), lambda: loss, lambda: {root})"  # in the first step
    for old, new in (
        ("for gpu in range", "squares = []\nfor gpu in range"),
        ("        tower_loss.append", "        squares.append(tf.square(loss) * weight)\n        tower_loss.append"),
        ("merged = tf.summary", f"loss = {root if holds else other}\nmerged = tf.summary"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    report = proof(tmp_path, SUMMARISED, text, tensorflow_python)
    assert failed(report) == ([] if holds else ["fetches"]), report.reason
