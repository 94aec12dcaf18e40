"""Losses that are written out where they are minimised, in another function than the model's."""

from __future__ import annotations

import ast

import pytest

from tests.scripts import codes, converted, parts

SCRIPT = """\
import tensorflow as tf

batch_size = 32


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        hidden = tf.layers.dense(self.x, 8)
        self.a = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - self.y))
        self.b = {b}


def train():
    m = Model()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize({loss})
    with tf.Session() as sess:
        for step in range(9):
            xs, ys = next_batch(batch_size)
            sess.run(train_op, {{m.x: xs, m.y: ys}})


train()
"""
MEAN = "tf.reduce_mean(tf.square(hidden))"


@pytest.mark.parametrize(
    "loss", ["m.a + m.b", "m.a + 0.1 * m.b", "m.a - m.b + tf.nn.l2_loss(tf.trainable_variables()[0])"]
)
def test_sums_of_means_are_taken_of_merged_values(loss: str) -> None:
    made = converted(SCRIPT.format(b=MEAN, loss=loss))
    assert "self.a = tf.add_n(tower_a)" in made and "self.b = tf.add_n(tower_b)" in made
    steps = [ast.unparse(stmt) for stmt in ast.walk(ast.parse(made)) if isinstance(stmt, ast.Assign)]
    assert f".minimize({loss}, colocate_gradients_with_ops=True)" in "".join(steps)
    assert codes(SCRIPT.format(b=MEAN, loss=loss)) == []


@pytest.mark.parametrize(
    ("b", "loss"), [("tf.reduce_sum(hidden)", "m.a + m.b"), (MEAN, "tf.sqrt(m.a)"), (MEAN, "m.a * m.b")]
)
def test_others_have_to_be_named(b: str, loss: str) -> None:
    assert codes(SCRIPT.format(b=b, loss=loss)) == ["TMG209"]


def test_a_loss_with_a_name_keeps_the_gradients_of_the_towers() -> None:
    _, _, after = parts(SCRIPT.format(b=MEAN, loss="m.a"))
    assert after[after.index("m = Model()") :][1:3] == [
        "optimizer = tf.train.GradientDescentOptimizer(0.1)",
        "train_op = optimizer.apply_gradients(tower_gradients(optimizer, m.a.tower_losses))",
    ]
