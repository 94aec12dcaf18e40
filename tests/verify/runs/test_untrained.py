"""`verify` of a mode that trains nothing compares what both scripts print and fetch."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.report.verification import render_text
from converter.source import read
from converter.verify import Report, VerifySettings, verify

SCRIPT = """\
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=4)
parser.add_argument('--test', action='store_true')
args = parser.parse_args()
rows = np.arange(48, dtype=np.float32).reshape(12, 4) / 48


def main():
    x = tf.placeholder(tf.float32, [None, 4])
    w = tf.get_variable('w', [4, 1], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        if args.test:
            total = 0.
            for i in range(len(rows) // args.batch_size):
                total += sess.run(loss, {x: rows[i * args.batch_size:(i + 1) * args.batch_size]})
            print('test loss', total * args.batch_size / len(rows))
        else:
            for i in range(0, len(rows), args.batch_size):
                print('loss', sess.run([loss, train], {x: rows[i:i + args.batch_size]})[0])


main()
"""


def pair(folder: Path) -> tuple[Path, str]:
    (folder / "train.py").write_text(SCRIPT)
    made = convert(read(str(folder / "train.py")), Options())
    assert made.text is not None, made.diagnostics
    return folder / "train.py", made.text


def proven(folder: Path, text: str, args: tuple[str, ...] = ("--test",)) -> Report:
    (folder / "multi.py").write_text(text)
    return verify(folder / "train.py", folder / "multi.py", VerifySettings(args=args))


@pytest.mark.tf2
def test_a_mode_that_prints_another_figure_fails(tmp_path: Path) -> None:
    """The batches of all GPUs, of which there is one, leave out four rows of twelve."""
    _, text = pair(tmp_path)
    report = proven(tmp_path, text)
    assert report.verdict == "failed"
    assert report.reason.startswith("no step trains in this run; printed lines: prints 'test loss ")


@pytest.mark.tf2
def test_a_mode_that_prints_the_same_passes(tmp_path: Path) -> None:
    _, text = pair(tmp_path)
    begin = "def main():\n"
    assert text.count(begin) == 1
    one = "    global num_gpus\n    if args.test:\n        num_gpus = 1  # nothing trains here\n"
    text = text.replace(begin, begin + one)
    report = proven(tmp_path, text)
    assert report.verdict == "passed", report
    assert "no step trains in this run" in report.reason
    assert [check.name for check in report.checks] == ["printed lines", "fetched values"]
    training = next(entry for entry in report.ledger if entry.what == "training")
    assert (training.fate, training.detail[:26]) == ("unchecked", "no step trains in this run")
    assert "no step trains in this run" in render_text(report)


@pytest.mark.tf2
def test_a_mode_of_which_the_conversion_dies_fails(tmp_path: Path) -> None:
    _, text = pair(tmp_path)
    report = proven(tmp_path, text.replace("            total = 0.\n", "            total = rows[99]\n"))
    assert report.verdict == "failed"
    assert "the conversion fails: IndexError" in report.reason


@pytest.mark.tf2
@pytest.mark.parametrize(
    "more",
    ["import os\nif not os.fork():\n    os._exit(0)\nos.wait()\n", "optimizer = tf.keras.optimizers.SGD(0.1)\n"],
)
def test_what_may_train_unseen_is_not_comparable(tmp_path: Path, more: str) -> None:
    single, text = pair(tmp_path)
    single.write_text(f"{SCRIPT}{more}")
    report = proven(tmp_path, f"{text}{more}")
    assert report.verdict == "not comparable"
    assert "ended without a training step" in report.reason
    assert report.untrained
