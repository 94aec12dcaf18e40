"""A training step in the branch that builds the loss: refused with the condition's line, and what to do works."""

from __future__ import annotations

from tests.scripts import converted, run

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
    (found,) = run(SCRIPT.format(step=TAKEN)).diagnostics
    assert (found.code, found.line) == ("TMG219", 16)
    assert found.message == "the training step stands in the same branch as the loss, of the condition in line 12"


def test_the_named_edit_helps() -> None:
    text = converted(SCRIPT.format(step="        if not test:\n" + TAKEN))
    assert "                self.loss = tf.reduce_mean(" in text
    assert "tower_gradients" in text or "sum_gradients" in text


def test_a_loop_of_steps_is_not_told_to_leave_its_branch() -> None:
    looped = "            for rate in read():\n    " + TAKEN.replace("0.1", "rate")
    assert "same branch" not in run(SCRIPT.format(step=looped)).diagnostics[0].message


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
    text = "import tensorflow as tf\n" + model + (
        "x, out = model()\ny = tf.placeholder(tf.float32, [None, 1])\nloss = tf.reduce_mean(tf.square(out - y))\n"
        "op = tf.train.AdamOptimizer(0.1).minimize(loss + tf.layers.dense(out, 1))\n"
    )
    assert all("nothing here calls" not in found.message for found in run(text).diagnostics)
