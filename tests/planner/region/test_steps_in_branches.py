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
    assert "tower_gradients" in text or "average_gradients" in text


def test_a_loop_of_steps_is_not_told_to_leave_its_branch() -> None:
    looped = "            for rate in read():\n    " + TAKEN.replace("0.1", "rate")
    assert "same branch" not in run(SCRIPT.format(step=looped)).diagnostics[0].message
