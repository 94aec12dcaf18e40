"""A model of one of two classes, which an expression chooses: `Small(x) if flag else Large(x)`."""

from __future__ import annotations

import pytest

from tests.scripts import converted

SCRIPT = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--small', action='store_true')
args = parser.parse_args()
batch_size = 32


class Small(object):
    def __init__(self, x, y):
        self.out = tf.layers.dense(x, 1)
        self.loss = tf.reduce_mean(tf.square(self.out - y))


class Large(object):
    def __init__(self, x, y):
        self.out = tf.layers.dense(tf.layers.dense(x, 64), 1)
        self.loss = tf.reduce_mean(tf.square(self.out - y))


X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
{model}
train_op = tf.train.AdamOptimizer(0.01).minimize(model.loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{X: xs, Y: ys}})
"""


@pytest.mark.parametrize(
    "model",
    [
        "model = Small(X, Y) if args.small else Large(X, Y)",
        "model = (Small if args.small else Large)(X, Y)",
        "make = Small if args.small else Large\nmodel = make(X, Y)",
        "if args.small:\n    model = Small(X, Y)\nelse:\n    model = Large(X, Y)",
    ],
)
def test_the_loss_is_that_of_the_model_that_was_chosen(model: str) -> None:
    assert "model.loss = tf.add_n(tower_loss)" in converted(SCRIPT.format(model=model))
