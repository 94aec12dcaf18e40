"""Loops that feed the rest of their rows to an input that takes whole batches of all GPUs only."""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 16
train, files = load()
x = tf.placeholder(tf.float32, [batch_size, 4])
out = tf.layers.dense(x, 4)
loss = tf.reduce_mean(tf.square(out - x))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(len(train) // batch_size):
        sess.run(train_op, {x: train[i * batch_size:(i + 1) * batch_size]})
"""
EACH = "    print(sess.run(out, {x: part}))\n"
BEGIN = "for i in range(0, len(files), batch_size):\n    part = files[i:i + batch_size]\n"
NAMES = "for i in range(0, len(files), batch_size):\n    names = files[i:i + batch_size]\n"


def script(lines: str) -> str:
    return SCRIPT + "".join(f"    {line}\n" for line in lines.splitlines())


@pytest.mark.parametrize(
    "lines",
    [
        BEGIN + EACH,
        NAMES + "    part = np.array([read(name) for name in names])\n" + EACH,
        BEGIN.replace("0, len(files), batch_size", "int(np.ceil(len(files) / batch_size))").replace(
            "i:i + batch_size", "i * batch_size:(i + 1) * batch_size"
        )
        + EACH,
        "for part in [files[i:i + batch_size] for i in range(0, len(files), batch_size)]:\n" + EACH,
        BEGIN.replace("len(files)", "80") + EACH,
    ],
    ids=["slices", "names", "rounded up", "comprehension", "known rows"],
)
def test_rows_that_are_no_multiple_of_a_batch_of_all_gpus_are_told(lines: str) -> None:
    (found,) = run(script(lines)).diagnostics
    assert found.code == "TMG345"
    assert "TensorFlow would reject a smaller last batch" in found.message
    assert "range(" in script(lines).splitlines()[found.line - 1]
    assert codes(script(lines), batch="total") == []


def test_an_epoch_of_training_is_told_too() -> None:
    text = SCRIPT.replace("range(len(train) // batch_size)", "range(0, len(train), batch_size)")
    assert codes(text.replace("i * batch_size:(i + 1) * batch_size", "i:i + batch_size")) == ["TMG345"]


@pytest.mark.parametrize(
    "lines",
    [
        BEGIN.replace("len(files)", "320") + EACH,
        BEGIN.replace("len(files)", "10 * batch_size") + EACH,
        "n = len(files) // batch_size * batch_size\n" + BEGIN.replace("len(files)", "n") + EACH,
        BEGIN + "    rows = np.zeros((batch_size, 4))\n    rows[:len(part)] = part\n" + EACH.replace("part", "rows"),
        BEGIN + "    part = np.concatenate([part, files[:batch_size - len(part)]])\n" + EACH,
        BEGIN.replace("files[i:i", "files[min(i, len(files) - batch_size):i") + EACH,
        "for name in files:\n    part = np.tile(read(name), (batch_size, 1))\n" + EACH,
    ],
    ids=["multiple", "batches", "whole", "filled", "longer", "earlier", "one for all"],
)
def test_others_feed_whole_batches(lines: str) -> None:
    assert codes(script(lines)) == []


def test_rows_that_are_skipped_are_left_out() -> None:
    (found,) = run(script(BEGIN + "    if len(part) < batch_size:\n        break\n" + EACH)).diagnostics
    assert found.code == "TMG345" and "of fewer rows it takes none" in found.message


def test_an_input_of_any_number_of_rows_takes_the_rest() -> None:
    assert codes(script(BEGIN + EACH).replace("[batch_size, 4]", "[None, 4]")) == []
