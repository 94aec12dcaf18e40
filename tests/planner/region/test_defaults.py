"""Functions whose parameters have a batch, or its size, as a default: it is read where the function is defined."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts

BEFORE, INSIDE = 0, 1
SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
share = tf.placeholder(tf.float32, [None, 1])
{function}
out = tf.layers.dense(X, 1)
loss = tf.reduce_mean(tf.square({called}))
{below}train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for i in range(100):
        rows = np.random.rand(batch_size, 4)
        sess.run(train_op, {{X: rows, share: rows[:, :1]}})
"""
PART = "def mixed(a, part={}):\n    return part * a\n"
ONES = "def mixed(a, n={}):\n    return a * tf.ones([n, 1])\n"


def script(function: str, called: str = "mixed(out) * share", below: str = "") -> str:
    return SCRIPT.format(function=function, called=called, below=below)


@pytest.mark.parametrize(
    "function",
    [
        PART.format("share"),
        PART.replace("a, part", "a, *, part").format("share"),
        PART.format("2 * share"),
        PART.format("[share, 1.][0]"),
        "mixed = lambda a, part=share: part * a\n",
        ONES.format("batch_size"),
    ],
)
def test_each_tower_defines_the_function(function: str) -> None:
    text = script(function)
    assert codes(text) == []
    assert function.split("\n")[0] in parts(text)[INSIDE]


@pytest.mark.parametrize(
    ("function", "called"),
    [
        (PART.format("share"), "mixed(out, 2. * share)"),  # the default is not taken
        (ONES.format("batch_size"), "mixed(out, tf.shape(share)[0]) * share"),
        (PART.format("2."), "mixed(out) * share"),  # nor does it have to do with the batch
        (PART.format("None"), "mixed(out, share)"),
        (ONES.format("1"), "mixed(out) * share"),
    ],
)
def test_a_function_stays_where_it_is(function: str, called: str) -> None:
    text = script(function, called)
    assert codes(text) == []
    assert function.split("\n")[0] in parts(text)[BEFORE]


def test_a_default_that_is_taken_behind_the_towers_only() -> None:
    text = script(PART.format("share"), "mixed(out, 2. * share)", "error = tf.reduce_mean(mixed(out))\n")
    assert codes(text) == []
    assert "def mixed(a, part=share):" in parts(text)[BEFORE]


def test_a_default_that_is_taken_in_the_towers_and_behind_them() -> None:
    """One definition cannot mean a tower's share and the whole batch."""
    assert codes(script(PART.format("share"), below="error = tf.reduce_mean(mixed(out))\n")) == ["TMG210"]
