"""Losses of models that a branch chooses: each choice carries its towers' losses along."""

from __future__ import annotations

import pytest

from tests.scripts import run

CHOSEN = """\
import sys
import tensorflow as tf

batch_size = 32

class Linear(object):
    def __init__(self):
        self.X = tf.placeholder(tf.float32, [None, 4])
        self.Y = tf.placeholder(tf.float32, [None, 1])
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.X, 1) - self.Y))

class Deep(object):
    def __init__(self):
        self.X = tf.placeholder(tf.float32, [None, 4])
        self.Y = tf.placeholder(tf.float32, [None, 1])
        hidden = tf.layers.dense(self.X, 8, tf.nn.relu)
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - self.Y))

{choice}
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(model.loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{model.X: xs, model.Y: ys}})
"""


@pytest.mark.parametrize(
    "choice",
    [
        "model = Linear() if len(sys.argv) > 1 else Deep()",
        "if len(sys.argv) > 1:\n    model = Linear()\nelse:\n    model = Deep()",
        "model = Linear()",
    ],
)
def test_the_losses_of_each_choice_are_held_against_the_scripts(choice: str) -> None:
    conversion = run(CHOSEN.format(choice=choice))
    assert (conversion.status, conversion.unread) == ("converted", ())
