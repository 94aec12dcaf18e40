"""A training step in the branch that builds the loss: the condition is opened again behind the loop."""

from __future__ import annotations

import pytest

from tests.scripts import converted, parts, run

SCRIPT = """\
import sys
import tensorflow as tf

batch_size = 32


class Model(object):
    def __init__(self, test):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        out = tf.layers.dense(self.x, 3)
        if test:
            self.out = tf.nn.softmax(out)
        else:
            self.loss = tf.reduce_mean(tf.square(tf.layers.dense(out, 1) - self.y))
{step}


model = Model(len(sys.argv) > 1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(model.op, {{model.x: xs, model.y: ys}})
"""
TAKEN = "            self.op = tf.train.AdamOptimizer(0.1).minimize(self.loss)"


def test_a_step_in_the_branch_of_its_loss() -> None:
    """The other branch of the condition that is opened again does nothing: the towers have done what it does."""
    _, inside, after = parts(SCRIPT.format(step=TAKEN))
    assert any(line.startswith("self.loss = tf.reduce_mean(") for line in inside)
    assert "self.out = tf.nn.softmax(out)" in inside
    begin = after.index("if test:")
    assert after[begin : begin + 3] == ["if test:", "pass", "else:"]
    assert any("apply_gradients(" in line for line in after[begin + 3 :])


@pytest.mark.parametrize(
    ("test", "line"),
    [
        ("read()", "if read():"),  # what it gives may change
        ("self.x is None or (flag := test)", "if self.x is None or (flag := test):"),
    ],
)
def test_a_condition_that_cannot_be_asked_twice_is_not_opened_again(test: str, line: str) -> None:
    """Its branch has a loop of its own, which goes on with the towers of what stands in front of it."""
    _, inside, after = parts(SCRIPT.format(step=TAKEN).replace("if test:", line))
    assert "out = tf.layers.dense(self.x, 3)" in inside and after.count(line) == 1
    assert after.index(line) < after.index("else:") < after.index("out = part_of_tower(out_batch, gpu)")


BRANCHES = """\
import sys
import tensorflow as tf

batch_size = 32
mode = sys.argv[1]
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
h = tf.layers.dense(x, 8)
if mode == 'squares':
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y))
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
{middle}else:
    loss = {loss}
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    train_op = optimizer.minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{x: xs, y: ys}})
"""
ABSOLUTE = "tf.reduce_mean(tf.abs(tf.layers.dense(h, 1) - y))"


def test_branches_that_each_train_share_the_loop() -> None:
    _, inside, after = parts(BRANCHES.format(middle="", loss=ABSOLUTE))
    assert not any("Optimizer" in line for line in inside)
    assert sum("tower_gradients(" in line for line in after) == 2
    assert "loss = None" not in inside


def test_a_branch_without_a_loss_leaves_none() -> None:
    middle = "elif mode == 'none':\n    train_op = tf.no_op()\n"
    _, inside, after = parts(BRANCHES.format(middle=middle, loss=ABSOLUTE))
    assert "loss = None" in inside and "if loss is not None:" in inside
    begin = after.index("elif mode == 'none':")
    assert after[begin + 1 : begin + 3] == ["pass", "else:"]


def test_losses_of_branches_that_are_put_together_otherwise_are_refused() -> None:
    """A sum is added up where the towers share a batch, and a mean is averaged: one list cannot be both."""
    script = BRANCHES.format(middle="", loss=ABSOLUTE.replace("reduce_mean", "reduce_sum"))
    assert "TMG209" in [found.code for found in run(script, batch="total").diagnostics]


def test_a_loop_of_steps_is_not_told_to_leave_its_branch() -> None:
    looped = "            for rate in read():\n    " + TAKEN.replace("0.1", "rate")
    assert all("same branch" not in found.message for found in run(SCRIPT.format(step=looped)).diagnostics)


NET = """\
import tensorflow as tf

batch_size = 32


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.out = tf.layers.dense(self.x, 1)

    def train(self):
        self.loss = tf.reduce_mean(tf.square(self.out - self.y))
        self.op = tf.train.AdamOptimizer(0.1).minimize(self.loss)
"""
CALLS = """

net = Net()
net.train()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(net.op, {net.x: xs, net.y: ys})
"""


def test_a_class_that_nothing_calls_is_named_and_its_caller_is_converted() -> None:
    (found,) = run(NET).diagnostics
    assert (found.code, found.line) == ("TMG204", 8)
    assert found.message.startswith("nothing here calls Net: in which order its methods make this input")
    converted(NET + CALLS)


def test_an_input_in_the_statement_of_the_model_is_still_told_so() -> None:
    model = "def model():\n    x = tf.placeholder(tf.float32, [None, 4])\n    return x, tf.layers.dense(x, 1)\n\n\n"
    text = (
        "import tensorflow as tf\n"
        + model
        + (
            "x, out = model()\ny = tf.placeholder(tf.float32, [None, 1])\nloss = tf.reduce_mean(tf.square(out - y))\n"
            "op = tf.train.AdamOptimizer(0.1).minimize(loss + tf.layers.dense(out, 1))\n"
        )
    )
    assert all("nothing here calls" not in found.message for found in run(text).diagnostics)
