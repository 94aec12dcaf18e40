"""Functions and objects of the library of which a flag chooses one: each is called."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import argparse
import functools
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--kind', default='mean')
args = parser.parse_args()
batch_size = 8
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
out = tf.layers.dense(x, 1)
error = tf.square(out - y)
{}
train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{x: images, y: labels}})
"""
BRANCHES = "if args.kind == 'mean':\n    reduce = {}\nelse:\n    reduce = {}\nloss = reduce(error)"


@pytest.mark.parametrize(
    "chosen",
    [
        BRANCHES.format("tf.reduce_mean", "tf.reduce_sum"),
        BRANCHES.format("tf.reduce_sum", "tf.reduce_mean"),
        BRANCHES.format("tf.reduce_mean", "lambda t: tf.reduce_sum(t)"),
        BRANCHES.format("functools.partial(tf.reduce_sum, axis=None)", "tf.reduce_mean"),
        "reduce = tf.reduce_mean if args.kind == 'mean' else tf.reduce_sum\nloss = reduce(error)",
        "loss = (tf.reduce_mean if args.kind == 'mean' else tf.reduce_sum)(error)",
        "loss = {'mean': tf.reduce_mean, 'sum': tf.reduce_sum}[args.kind](error)",
        "loss = {'mean': tf.reduce_mean}.get(args.kind, tf.reduce_sum)(error)",
        "loss = [tf.reduce_mean, tf.reduce_sum][int(args.kind == 'sum')](error)",
    ],
)
def test_a_mean_or_a_sum(chosen: str) -> None:
    assert codes(SCRIPT.format(chosen)) == ["TMG302"]


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        (BRANCHES.format("tf.reduce_mean", "tf.reduce_mean"), []),
        (BRANCHES.format("tf.reduce_sum", "tf.reduce_sum"), ["TMG301"]),
        ("act = tf.nn.relu if args.kind == 'mean' else tf.nn.tanh\nloss = tf.reduce_mean(act(error))", []),
        ("layer = tf.layers.Dense(4) if args.kind else tf.layers.Dense(8)\nloss = tf.reduce_mean(layer(error))", []),
    ],
)
def test_choices_that_come_to_the_same(chosen: str, found: list[str]) -> None:
    assert codes(SCRIPT.format(chosen)) == found


def test_a_layer_that_mixes_examples_is_one_of_two() -> None:
    layer = "layer = tf.layers.Dense(4) if args.kind else tf.keras.layers.Lambda(lambda t: tf.nn.softmax(t, 0))\n"
    assert codes(SCRIPT.format(layer + "loss = tf.reduce_mean(layer(error))")) == ["TMG302"]
