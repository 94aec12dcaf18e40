"""A concat that grows in a loop: the second reading pairs each turn, and no spelling ends in TMG290."""

from __future__ import annotations

import pytest

from tests.scripts import run

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 16
data = np.load('data.npy')
X = tf.placeholder(tf.float32, [None, 6])
MODEL
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
BEHIND
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, len(data), batch_size):
        print(sess.run([train_op, SHOWN], {X: data[i:i + batch_size]}))
"""
GROWN = [
    "x = tf.layers.dense(X, 2)\nfor k in range(3):\n    x = tf.concat([x, tf.layers.dense(X, 2)], AXIS)",
    "x = tf.layers.dense(X, 2)\nk = 0\nwhile k < 3:\n    x = tf.concat((x, tf.layers.dense(X, 2)), AXIS)\n    k += 1",
    "parts = []\nfor k in range(3):\n    parts.append(tf.layers.dense(X, 2))\nx = tf.concat(parts, AXIS)",
    "x = None\nfor k in range(3):\n    y = tf.layers.dense(X, 2)\n    x = y if x is None else tf.concat([x, y], AXIS)",
    "for k in range(3):\n    y = tf.layers.dense(X, 2)\n    if k == 0:\n        x = y\n    else:\n"
    "        x = tf.concat([x, y], AXIS)",
    "def grow(h, n):\n    for k in range(n):\n        h = tf.concat([h, tf.layers.dense(h, 6)], AXIS)\n    return h\n\n"
    "x = grow(X, 2)",
    "x = X\nfor k in range(number_of_layers()):\n    x = tf.concat([x, tf.layers.dense(X, 6)], AXIS)",
    "rows = [X[:, k:k + 1] for k in range(6)]\nx = rows[0]\nfor row in rows[1:]:\n"
    "    x = tf.concat([x, tf.layers.dense(row, 1)], axis=AXIS)",
]
LOSS = "loss = tf.reduce_mean(tf.square(x))"
APART = "h = tf.layers.dense(X, 6)\nloss = tf.reduce_mean(tf.square(h))"  # what is grown is only shown then


@pytest.mark.one_in(2)
@pytest.mark.parametrize("grown", GROWN)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("batch", ["per-gpu", "total"])
def test_in_the_towers(grown: str, axis: int, batch: str) -> None:
    for shown in ("loss", "[loss, x]"):
        model = f"{grown}\n{LOSS}".replace("AXIS", str(axis))
        text = SCRIPT.replace("MODEL", model).replace("BEHIND", "").replace("SHOWN", shown)
        done = run(text, batch=batch)
        assert done.status == "converted", done.diagnostics
        # Rows of several batches, one behind the other, cannot be merged; they are shown alone.
        assert {found.code for found in done.diagnostics} <= ({"TMG393"} if shown != "loss" and axis == 0 else set())


@pytest.mark.parametrize("grown", GROWN)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("behind", [True, False])
def test_beside_the_loss(grown: str, axis: int, behind: bool) -> None:
    lines = grown.replace("AXIS", str(axis)).replace("X", "h")
    model = APART if behind else f"{APART.partition(chr(10))[0]}\n{lines}\n{APART.partition(chr(10))[2]}"
    text = SCRIPT.replace("MODEL", model).replace("BEHIND", lines if behind else "").replace("SHOWN", "x")
    done = run(text)
    assert done.status == "converted", done.diagnostics
    assert not done.diagnostics
