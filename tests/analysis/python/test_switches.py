"""A switch that only a run knows is as it was in all branches that it chooses: in functions that these call, too."""

from __future__ import annotations

import pytest

from tests.scripts import case_of, codes

SCRIPT = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--wide', type=int, default=1)
parser.add_argument('--batch_size', type=int, default=32)
args = parser.parse_args()


class Net(object):
    def __init__(self, wide):
        if wide == 1:
            self.wide = True
        else:
            self.wide = False

    def head(self, given):
        if {inner}:
            return tf.layers.dense(self.both, 1)
        return tf.layers.dense(given, 1)

    def build(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        hidden = tf.layers.dense(self.x, 4)
        if {outer}:
            self.both = tf.concat([hidden, tf.square(hidden)], 1)
            self.out = self.head(self.both)
        else:
            self.out = self.head(hidden)
        self.loss = tf.losses.mean_squared_error(self.y, self.out)
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)


net = Net(args.wide)
net.build()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(args.batch_size)
        sess.run(net.train_op, {{net.x: xs, net.y: ys}})
"""


def heads(inner: str, outer: str) -> int:
    """How many layers of one unit the walk makes: one in each outer branch, if it follows the switch."""
    made = case_of(SCRIPT.format(inner=inner, outer=outer)).facts.tensors
    return sum(tensor.op == "layers.dense" for tensor in made) - 1  # the hidden one


@pytest.mark.parametrize(
    ("inner", "outer", "number"),
    [
        ("self.wide", "self.wide", 2),
        ("args.wide", "args.wide", 2),
        ("self.wide", "not self.wide", 2),
        ("args.batch_size", "args.wide", 4),  # another flag
        ("self.wide", "args.wide", 4),  # only a run knows that they are the same
        ("args.wide > 1", "args.wide", 4),
    ],
)
def test_inner_branches_of_a_switch(inner: str, outer: str, number: int) -> None:
    assert heads(inner, outer) == number


def test_a_switch_that_is_set_in_between_is_open_again() -> None:
    text = SCRIPT.format(inner="self.wide", outer="self.wide")
    again = text.replace(
        "            self.out = self.head(hidden)",
        "            self.wide = args.batch_size > 8\n            self.out = self.head(hidden)",
    )
    made = case_of(again).facts.tensors
    assert sum(tensor.op == "layers.dense" for tensor in made) - 1 == 3


def test_scripts_with_such_switches_are_converted() -> None:
    assert codes(SCRIPT.format(inner="self.wide", outer="self.wide")) == []
