"""Whole batches that are stacked along the batch axis, as many as the command line or a file says: attention heads."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import argparse
import numpy as np
import tensorflow as tf
parser = argparse.ArgumentParser()
parser.add_argument('--heads', default=2, type=int)
parser.add_argument('--pieces', default=2, type=int)
args = parser.parse_args()
heads, pieces = args.heads, args.pieces
batch_size = 16
x = tf.placeholder(tf.float32, [None, 5, 8])
y = tf.placeholder(tf.float32, [None])
{model}
loss = tf.reduce_mean(tf.square(tf.reduce_mean(out, [1, 2]) - y))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        xs, ys = next_batch(batch_size)
        sess.run(train, {{x: xs, y: ys}})
"""
FILE = "import json\ncfg = json.load(open('settings.json'))\nheads, pieces = cfg['heads'], int(cfg['pieces'])"
STACKED = "many = tf.concat(tf.split(tf.layers.dense(x, 8), heads, axis=2), axis=0)\n"
WEIGHTS = "weights = tf.nn.softmax(tf.matmul(many, tf.transpose(many, [0, 2, 1])))\n"
MASKED = "weights *= tf.tile(tf.expand_dims(tf.sign(tf.abs(x[:, :, 0])), 1), [heads, 5, 1])\n"
JOINED = "many = tf.concat(parts, axis=0)\n"
BACK = "out = tf.concat(tf.split(tf.matmul(weights, many), heads, axis=0), axis=2)"


@pytest.mark.parametrize(
    "model",
    [
        STACKED + WEIGHTS + BACK,
        STACKED + WEIGHTS + MASKED + BACK,
        STACKED + "out = tf.concat(tf.split(many, heads, axis=0), axis=2)",
        "out = tf.concat(tf.split(tf.tile(x, [heads, 1, 1]), heads, axis=0), axis=2)",
    ],
)
def test_as_many_are_stacked_as_are_split(model: str) -> None:
    assert codes(SCRIPT.format(model=model)) == []
    assert codes(SCRIPT.format(model=model).replace("heads, pieces = args.heads, args.pieces", FILE)) == []


@pytest.mark.parametrize(
    "model",
    [
        STACKED + WEIGHTS + BACK.replace("heads, axis=0", "pieces, axis=0"),
        STACKED + WEIGHTS + BACK.replace("heads, axis=0", "heads + 1, axis=0"),
        "out = tf.concat(tf.split(tf.layers.dense(x, 8), heads, axis=0), axis=2)",
        STACKED.replace("axis=2), axis=0", "axis=2)[1:], axis=0") + WEIGHTS + BACK,
        "parts = tf.split(x, heads, axis=2)\nparts.append(parts[0])\n" + JOINED + WEIGHTS + BACK,
    ],
)
def test_other_pieces_are_no_whole_batches(model: str) -> None:
    assert codes(SCRIPT.format(model=model)) == ["TMG215"]
    assert codes(SCRIPT.format(model=model).replace("heads, pieces = args.heads, args.pieces", FILE)) == ["TMG302"]


SERIES = """\
import argparse
import numpy as np
import tensorflow as tf
data, labels = np.load('x.npy'), np.load('y.npy')
parser = argparse.ArgumentParser()
parser.add_argument('--steps', type=int, default=5)
parser.add_argument('--batch_size', type=int, default=8)
args = parser.parse_args()
{steps}
batch_size = args.batch_size
x = tf.placeholder(tf.float32, [None, steps, 3])
y = tf.placeholder(tf.float32, [None])
flat = tf.reshape(tf.transpose(x, [1, 0, 2]), [-1, 3])
parts = {split}
loss = tf.reduce_mean(tf.square(tf.layers.dense(parts[-1], 1)[:, 0] - y))
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        i = np.random.randint(0, len(data), batch_size)
        sess.run(train, {{x: data[i], y: labels[i]}})
"""
STEPS = ["steps = len(data[0])", "steps = args.steps", "steps = 5"]


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("split", ["tf.split(flat, steps, 0)", "tf.split(tf.nn.relu(flat), steps)"])
def test_each_step_of_a_series_has_a_batch(steps: str, split: str) -> None:
    """The length of an axis and the number of pieces are one number, however it enters the script."""
    assert codes(SERIES.format(steps=steps, split=split)) == []


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize(
    "split", ["tf.split(flat, steps + 1, 0)", "tf.split(flat, 2 * steps)", "tf.split(tf.reshape(x, [-1, 3]), steps)"]
)
def test_other_numbers_of_pieces_have_no_batches(steps: str, split: str) -> None:
    assert codes(SERIES.format(steps=steps, split=split)) == ["TMG215"]
