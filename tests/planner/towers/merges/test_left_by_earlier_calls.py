"""What only one branch makes, where an earlier call of the function may have left another model's in its place."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted, run

SCRIPT = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--action', default='train')
parser.add_argument('--wide', type=int, default=1)
parser.add_argument('--batch_size', type=int, default=32)
args = parser.parse_args()


class Net(object):
    def __init__(self, wide):
        if wide == 1:
            self.wide = True
        else:
            self.wide = False

    def build(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        hidden = tf.layers.dense(self.x, 4)
        if self.wide:
            self.both = tf.square(hidden)
            hidden = tf.concat([hidden, self.both], 1)
        self.loss = tf.losses.mean_squared_error(self.y, tf.layers.dense(hidden, 1))

    def show(self):
        self.build()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            print(sess.run(self.both, {self.x: next_batch(1)[0]}))

    def train(self):
        self.build()
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(100):
                xs, ys = next_batch(args.batch_size)
                sess.run(self.train_op, {self.x: xs, self.y: ys})
            print(sess.run(self.both, {self.x: xs}))


net = Net(args.wide)
if args.action == 'show':
    net.show()
if args.action == 'train':
    net.train()
"""
LOSS = "        self.loss = tf.losses"
ELSEWISE = SCRIPT.replace("if self.wide:", "if len(next_batch(1)) > 3:")
SET_AGAIN = SCRIPT.replace("    def train(self):\n", "    def train(self):\n        self.wide = next_batch(2)\n")
AGAIN = ELSEWISE.replace("if args.action == 'show'", "for i in (1, 2)")
AS_NONE = SCRIPT.replace("    def build", "        self.both = None\n\n    def build")
FLAG = SCRIPT.replace("if self.wide:", "if args.wide:")


@pytest.mark.parametrize(
    ("script", "test"),
    [
        pytest.param(SCRIPT, "hasattr(self, 'both')", id="an attribute that no call sets again"),
        pytest.param(FLAG, "hasattr(self, 'both')", id="a flag"),
        pytest.param(AS_NONE, "self.both is not None", id="None where it is not made"),
    ],
)
def test_calls_that_take_the_same_branch(script: str, test: str) -> None:
    assert f"        if {test}:\n                    tower_both.append(self.both[:rows])\n" in converted(script)


@pytest.mark.parametrize(
    "script", [ELSEWISE, SET_AGAIN, ELSEWISE.replace("if args.action == 'show'", "for i in (1, 2)")]
)
def test_what_an_earlier_call_left_is_named_as_such(script: str) -> None:
    (found,) = run(script).diagnostics
    assert found.code == "TMG210" and "an earlier call of this function has built" in found.message


def test_the_edit_that_it_tells() -> None:
    assert codes(ELSEWISE.replace(LOSS, "        else:\n            self.both = None\n" + LOSS)) == []
