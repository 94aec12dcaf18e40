"""Functions that build the model in several ways, as for training and for evaluation."""

from __future__ import annotations

import pytest

from tests.scripts import codes

HEAD = """\
import tensorflow as tf

batch_size = 32
class Model(object):
    def __init__(self, training):
        self.X = tf.placeholder(tf.float32, [None, 4])
        self.Y = tf.placeholder(tf.float32, [None, 1])
"""
TAIL = """\
with tf.variable_scope('model'):
    model = Model(True)
with tf.variable_scope('model', reuse=True):
    other = Model(OTHER)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(model.train_op, {model.X: xs, model.Y: ys})
"""
LOSS = "tf.reduce_mean(tf.square(prediction - self.Y))"
TRAIN = "self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize({})\n"


def script(*lines: str, other: str = "False") -> str:
    return HEAD + "".join(f"        {line.rstrip()}\n" for line in lines) + TAIL.replace("OTHER", other)


DENSE = "prediction = tf.layers.dense(self.X, 1)"


@pytest.mark.parametrize("name", ["loss", "self.loss"])
def test_a_loss_that_another_call_leaves_out(name: str) -> None:
    lines = (DENSE, "if training:", f"    {name} = {LOSS}", "    " + TRAIN.format(name))
    assert codes(script(*lines)) == ["TMG210"]
    assert codes(script(*lines, other="True")) == []


@pytest.mark.parametrize("name", ["loss", "self.loss"])
def test_only_the_training_step_is_left_out(name: str) -> None:
    lines = (DENSE, f"{name} = {LOSS}", "if not training:", "    return", TRAIN.format(name))
    assert codes(script(*lines)) == []


def test_a_call_that_is_over_before_the_towers() -> None:
    ends = ("if not training:", "    return", DENSE)
    lines = (*ends, "if training:", f"    loss = {LOSS}", "    " + TRAIN.format("loss"))
    assert codes(script(*lines)) == []
