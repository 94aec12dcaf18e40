"""A conversion that computes its loss once has the gradient of the whole batch; of each share where a batch norm is."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import Report, VerifySettings, verify
from converter.verify.checks.training import check_gradients

pytestmark = pytest.mark.one_test_in(2)

NORM = "hidden = tf.layers.batch_normalization(hidden, training=train_phase)"
SINGLE = """\
import numpy as np
import tensorflow as tf

batch_size = 8
rng = np.random.RandomState(1)
data, target = rng.rand(48, 3), rng.rand(48, 1)
kind = 'sum'

x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
train_phase = tf.placeholder(tf.bool)
hidden = tf.layers.dense(x, 4)
NORM
out = tf.layers.dense(hidden, 1)
if kind == 'sum':
    loss = tf.nn.l2_loss(y - out)
else:
    loss = tf.reduce_mean(tf.square(out - y))
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for start in range(0, len(data), batch_size):
        rows = slice(start, start + batch_size)
        feed = {x: data[rows], y: target[rows], train_phase: True}
        print(sess.run([loss, train_op], feed)[0])
"""


@pytest.mark.parametrize(
    ("reference", "kind", "once", "status"),
    [
        ("whole", "other", True, "passed"),
        ("once", "other", True, "passed"),
        ("shards", "other", True, "failed"),
        ("shards", "coupled sum", True, "failed"),
        ("shards", "sum", True, "failed"),
        ("shards", "mean", True, "passed"),
        ("shards", "unknown", True, "passed"),  # the original takes no such batch
        ("shards", "other", False, "passed"),
    ],
)
def test_what_counts(reference: str, kind: str, once: bool, status: str) -> None:
    step = {"reference": reference, "kind": kind, "finite": True, "gradients": {"w": 0.0}, "rows": 8, "matches": []}
    assert check_gradients([step], "total", once).status == status


def proven(folder: Path, python: str, script: str, old: str = "", new: str = "") -> Report:
    """The report of a script for towers that share its batch, whose conversion has `new` where `old` stood."""
    single, multi = folder / "single.py", folder / "multi.py"
    single.write_text(script)
    text = convert(read(str(single)), Options(num_gpus=2, batch="total")).text or ""
    assert old in text, "the fault would change nothing"
    multi.write_text(text.replace(old, new) if old else text)
    return verify(single, multi, VerifySettings(gpus=2, batch="total", python=python))


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize("kind", ["'sum'", "'mean'"])
@pytest.mark.parametrize("switch", ["train_phase", "True"])
def test_a_batch_norm_takes_the_statistics_of_each_share(
    tmp_path: Path, tensorflow_python: str, switch: str, kind: str
) -> None:
    script = SINGLE.replace("NORM", NORM).replace("training=train_phase", f"training={switch}")
    report = proven(tmp_path, tensorflow_python, script.replace("kind = 'sum'", f"kind = {kind}"))
    assert report.verdict == "passed", report.reason
    assert [entry.what for entry in report.ledger if entry.fate == "differs" and entry.what == "TMG302"]


OUT = "out = tf.concat(tower_out, 0)"


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("norm", "old", "new", "said"),
    [
        (NORM, OUT, OUT.replace("tower_out", "[tower_out[0], tf.stop_gradient(tower_out[1])]"), "on the same shard"),
        (NORM, OUT, OUT.replace("tower_out", "tower_out[::-1]"), "they differ"),
        (NORM, "l2_loss(y - out)", "l2_loss(y - out) / num_gpus", "the loss is a sum over examples"),
        # no statistics of the batch: nothing but the gradient of the whole batch counts
        ("", "l2_loss(y - out)", "l2_loss(y - out) / num_gpus", "the loss is a sum over examples"),
    ],
)
def test_no_other_gradient_passes_behind_a_batch_norm(
    tmp_path: Path, tensorflow_python: str, norm: str, old: str, new: str, said: str
) -> None:
    report = proven(tmp_path, tensorflow_python, SINGLE.replace("NORM", norm), old, new)
    (found,) = (check for check in report.checks if check.name == "gradients")
    assert found.status == "failed" and said in found.detail


ROOT = "loss = tf.sqrt(tf.reduce_mean(tf.square(y - out)))"
RATIO = "loss = tf.reduce_sum(tf.square(y - out)) / tf.reduce_sum(tf.abs(out))"


@pytest.mark.one_in(8)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("loss", "old", "new", "said"),
    [
        (ROOT, "", "", ""),
        (RATIO, "", "", ""),
        (ROOT + " + 0.01 * tf.nn.l2_loss(tf.trainable_variables()[0])", "", "", ""),
        (ROOT, OUT, OUT.replace("tower_out", "tower_out[::-1]"), "differ"),
        (ROOT, OUT, OUT.replace("tower_out", "[tower_out[0], tf.stop_gradient(tower_out[1])]"), "differ"),
        (RATIO, "tf.reduce_sum(tf.abs(out))", "tf.stop_gradient(tf.reduce_sum(tf.abs(out)))", "differ"),
        (ROOT, ROOT, ROOT.replace("= ", "= 0.5 * "), "divided by the number of towers twice"),
    ],
)
def test_a_loss_of_what_towers_with_statistics_of_their_own_give(
    tmp_path: Path, tensorflow_python: str, loss: str, old: str, new: str, said: str
) -> None:
    """Neither the whole batch's gradient nor the mean of the shards' is its own: only the merged rows' is."""
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    before, _, after = SINGLE.replace("NORM", NORM).partition("if kind ==")
    single.write_text(before + loss + "\n" + after[after.index("train_op =") :])
    text = convert(read(str(single)), Options(loss="global")).text or ""
    assert "out = tf.concat(tower_out, 0)" in text and (not old or text.count(old) == 1), text
    multi.write_text(text.replace(old, new) if old else text)
    report = verify(single, multi, VerifySettings(gpus=2, python=tensorflow_python))
    (found,) = (check for check in report.checks if check.name == "gradients")
    if said:
        assert found.status == "failed" and said in found.detail, found.detail
    else:
        assert report.verdict == "passed", report.reason
        assert "rows that the shards give" in found.detail
