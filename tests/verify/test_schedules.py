"""Learning rates that follow a count of steps: what is meant to differ, and what is a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import BatchMode, Options
from converter.source import read
from converter.verify import LedgerLine, Report, VerifySettings, verify

pytestmark = pytest.mark.one_test_in(2)

VERSIONS = [pytest.param("2", marks=pytest.mark.tf2), pytest.param("1.15", marks=pytest.mark.tf1)]
SINGLE = """\
import numpy as np
import tensorflow as tf

batch_size = 12
data = np.random.RandomState(1).rand(120, 3)
target = data.sum(axis=1, keepdims=True)

X = tf.placeholder(tf.float32, [None, 3])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
global_step = tf.Variable(0, trainable=False, name='global_step')
rate = RATE
train_op = tf.train.AdamOptimizer(rate).minimize(loss, global_step=global_step)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for start in range(0, len(data), batch_size):
        batch = {X: data[start:start + batch_size], Y: target[start:start + batch_size]}
        print(sess.run([train_op, loss, rate], batch), sess.run(rate))
"""
# 3 steps, and one of the conversion: after it the rate is that behind the original's third
ROUNDED_WARM = "0.1 * tf.minimum(1.0, tf.cast(global_step + 1, tf.float32) / (len(data) // (3 * batch_size)))"
EPOCHS = "tf.train.exponential_decay(0.1, global_step, len(data) / float(batch_size), 0.5)"


def proven(
    folder: Path, python: str, rate: str, batch: BatchMode = "per-gpu", old: str = "", new: str = "", steps: int = 4
) -> Report:
    """The report of the script with this rate, whose conversion has `new` where `old` stood."""
    single, multi = folder / "single.py", folder / "multi.py"
    single.write_text(SINGLE.replace("RATE", rate))
    text = convert(read(str(single)), Options(num_gpus=2, batch=batch)).text or ""
    assert old in text, "the fault would change nothing"
    multi.write_text(text.replace(old, new) if old else text)
    return verify(single, multi, VerifySettings(gpus=2, batch=batch, steps=steps, python=python))


def rates(report: Report) -> list[LedgerLine]:
    return [entry for entry in report.ledger if entry.what == "learning rate"]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (EPOCHS, "in step 2 the rate is 0.0870551, the original's 0.0933033, and 0.0870551 after as many examples"),
        ("tf.train.exponential_decay(0.1, global_step * batch_size, 120, 0.5)", "in step 2 the rate is 0.0870551"),
        # 5 steps in an epoch of 10, 2 in one of 4 and one that is not full
        (
            "tf.train.piecewise_constant(global_step, [len(data) // (2 * batch_size)], [0.1, 0.01])",
            "in step 4 the rate is 0.01, the original's 0.1, and 0.01 after as many examples",
        ),
        (ROUNDED_WARM, "in step 1 the rate is 0.1, the original's 0.0333333, and 0.0333333 after as many examples"),
    ],
    ids=["decay", "product", "rounded", "rounded from the first step on"],
)
def test_a_schedule_of_epochs_follows_the_examples(
    tmp_path: Path, tensorflow_python: str, version: str, rate: str, words: str
) -> None:
    report = proven(tmp_path, tensorflow_python, rate)
    assert report.verdict == "passed", report.reason
    (entry,) = rates(report)
    assert entry.fate == "differs" and words in entry.detail


@pytest.mark.tf2
@pytest.mark.parametrize("batch", ["per-gpu", "total"])
def test_a_schedule_of_steps_stays(tmp_path: Path, tensorflow_python: str, batch: BatchMode) -> None:
    rate = "tf.train.exponential_decay(0.1, global_step, 5, 0.5)" if batch == "per-gpu" else EPOCHS
    report = proven(tmp_path, tensorflow_python, rate, batch)
    assert report.verdict == "passed" and not rates(report)


@pytest.mark.one_in(10)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("decay(0.1,", "decay(0.1 * num_gpus,", "the learning rate is 0.2 instead of 0.1 (step 1)"),
        ("decay(0.1, global_step,", "decay(0.1, global_step * num_gpus,", "the learning rate is 0.0757858 instead of"),
        ("float(batch_size)", "float(batch_size * num_gpus)", "the learning rate is 0.0757858 instead of 0.0933033"),
        ("float(batch_size), 0.5", "float(batch_size), 0.25", "the learning rate is 0.0757858 instead of 0.0933033"),
        ("0.1 * tf.minimum", "0.1 * num_gpus * tf.minimum", "the learning rate is 0.2 instead of 0.0333333 (step 1)"),
    ],
    ids=["times the towers", "advanced twice", "counted twice", "another decay", "rounded, times the towers"],
)
def test_another_schedule_is_a_fault(
    tmp_path: Path, tensorflow_python: str, version: str, old: str, new: str, words: str
) -> None:
    report = proven(tmp_path, tensorflow_python, ROUNDED_WARM if "minimum" in old else EPOCHS, old=old, new=new)
    assert report.verdict == "failed"
    (found,) = (check for check in report.checks if check.name == "update")
    assert found.status == "failed" and words in found.detail
    assert not [entry for entry in rates(report) if entry.fate == "differs"]


PIECES = "tf.train.piecewise_constant(global_step, [20, 40], [0.1, 0.05, 0.01])"
STAIRS = "tf.train.exponential_decay(0.1, global_step, 3 * (len(data) // batch_size), 0.5, staircase=True)"
NOAM = "0.1 * tf.minimum(tf.cast(global_step + 1, tf.float32) / 64.0, tf.rsqrt(tf.cast(global_step + 1, tf.float32)))"

WARM = "0.01 + 0.1 * tf.minimum(1.0, tf.cast(global_step, tf.float32) / 64.0)"


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("rate", "old", "new", "words"),
    [
        (PIECES, "[20, 40]", "[20 * num_gpus, 40 * num_gpus]", "the learning rate is 0.1 after 32 steps"),
        (PIECES, "[20, 40]", "[10, 20]", ""),
        (STAIRS, "", "", ""),  # 30 steps, and 15 of the conversion
        (STAIRS, "// batch_size)", "// batch_size * 4)", "the learning rate is 0.1 after 32 steps"),
        (NOAM, "64.0", "32.0", ""),
        (WARM, "64.0", "32.0", ""),
        (WARM, "64.0", "640.0", "the learning rate is 0.010625 after 4 steps"),
    ],
    ids=["pieces doubled", "pieces halved", "stairs", "stairs doubled", "noam halved", "warm halved", "warm longer"],
)
def test_a_schedule_that_goes_another_way_later(
    tmp_path: Path, tensorflow_python: str, rate: str, old: str, new: str, words: str
) -> None:
    report = proven(tmp_path, tensorflow_python, rate, old=old, new=new, steps=1)
    assert report.verdict == ("failed" if words else "passed")
    (found,) = (check for check in report.checks if check.name == "update")
    assert words in found.detail
    assert not [entry for entry in report.ledger if entry.what == "schedule constants"]


@pytest.mark.tf1
def test_a_constant_that_does_not_follow_the_batch(tmp_path: Path, tensorflow_python: str) -> None:
    report = proven(tmp_path, tensorflow_python, STAIRS, old="0.5, stair", new="0.4, stair", steps=1)
    (entry,) = (entry for entry in report.ledger if entry.what == "schedule constants")
    assert entry.fate == "unchecked" and entry.detail.startswith("0.4 instead of 0.5, which is neither the same nor")


MODEL = "tf.train.exponential_decay(1.0, global_step * batch_size, 120, 0.5)"


def weighted(folder: Path, python: str, weight: str, old: str = "", new: str = "") -> Report:
    """The report of a script whose loss, too, has a weight from a schedule, and a conversion with `new` for `old`."""
    single, multi = folder / "single.py", folder / "multi.py"
    step = "global_step = tf.Variable(0, trainable=False, name='global_step')\n"
    loss = next(line for line in SINGLE.splitlines(True) if line.startswith("loss"))
    text = SINGLE.replace(step, "").replace(loss, f"{step}weight = {weight}\n{loss.replace('= ', '= weight * ')}")
    single.write_text(text.replace("RATE", EPOCHS).replace("sess.run(rate)", "sess.run([rate, weight])"))
    text = convert(read(str(single)), Options(num_gpus=2)).text or ""
    assert old in text, "the fault would change nothing"
    multi.write_text(text.replace(old, new) if old else text)
    return verify(single, multi, VerifySettings(gpus=2, steps=4, python=python))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_schedule_in_the_model_follows_the_examples(tmp_path: Path, tensorflow_python: str, version: str) -> None:
    report = weighted(tmp_path, tensorflow_python, MODEL)
    assert report.verdict == "passed", report.reason
    found = {entry.what: entry.detail for entry in report.ledger if entry.fate == "differs"}
    assert "in step 2 the rate is 0.870551, the original's 0.933033, and 0.870551" in found["schedule in the model"]
    assert "in step 2 the rate is 0.0870551, the original's 0.0933033" in found["learning rate"]


@pytest.mark.one_in(20)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("decay(1.0,", "decay(1.0 * num_gpus,"),
        ("global_step * batch_size", "global_step * batch_size * num_gpus"),
        ("120, 0.5", "120, 0.25"),
    ],
    ids=["times the towers", "advanced twice", "another decay"],
)
def test_another_schedule_in_the_model_is_a_fault(
    tmp_path: Path, tensorflow_python: str, version: str, old: str, new: str
) -> None:
    report = weighted(tmp_path, tensorflow_python, MODEL, old, new)
    assert report.verdict == "failed"
    assert not [one for one in report.ledger if one.what == "schedule in the model"]


@pytest.mark.tf1
def test_a_schedule_of_steps_in_the_model_stays(tmp_path: Path, tensorflow_python: str) -> None:
    report = weighted(tmp_path, tensorflow_python, "tf.train.exponential_decay(1.0, global_step, 10, 0.5)")
    assert report.verdict == "passed", report.reason
    assert not [one for one in report.ledger if one.what == "schedule in the model"]
