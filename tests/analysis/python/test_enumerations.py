"""Members of an enumeration: each is one object, which has the methods and properties of its class."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, STEP, converted

MODES = """\
import enum
from enum import Enum

class Mode(Enum):
    TRAIN = 'train'
    PREDICT = 'predict'
    _ignored = 3

    @property
    def is_train(self):
        return self is Mode.TRAIN

    def rows(self, size):
        return size if self == Mode.TRAIN else 1

"""
TRAINING = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch({size})
        sess.run(train_op, {{X: xs, Y: ys}})
"""


@pytest.mark.parametrize(
    ("size", "grows"),
    [
        ("batch_size if mode is Mode.TRAIN else 1", True),
        ("batch_size if mode.is_train else 1", True),
        ("mode.rows(batch_size)", True),
        ("1 if mode != Mode.TRAIN else batch_size", True),
        ("batch_size if mode.value == 'train' else 1", True),
        ("batch_size if mode.name == 'TRAIN' else 1", True),
        # Near misses: another member, and one that only a run knows.
        ("batch_size if mode is Mode.PREDICT else 8", False),
        ("8 if mode.is_train else batch_size", False),
    ],
)
def test_members(size: str, grows: bool) -> None:
    text = converted(MODES + INPUTS + "mode = Mode.TRAIN\n" + MODEL + STEP + TRAINING.format(size=size))
    assert ("batch_size = 32 * num_gpus" in text) is grows


@pytest.mark.parametrize("mode", ["Mode(given)", "Mode.TRAIN if given else Mode.PREDICT", "Mode[given]"])
def test_a_member_that_only_a_run_knows(mode: str) -> None:
    """Both branches are followed: neither member is taken for the one."""
    loss = "loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n"
    branch = f"mode = {mode}\nif mode is Mode.TRAIN:\n    {loss}else:\n    loss = tf.reduce_sum(X)\n"
    text = converted(
        "import sys\ngiven = sys.argv[1]\n" + MODES + INPUTS + branch + STEP + TRAINING.format(size="batch_size")
    )
    assert "if mode is Mode.TRAIN:" in text and "tower_loss.append" in text
