"""A class whose constructor is called in two branches with other arguments: the loop in it serves both models."""

from __future__ import annotations

import pytest

from tests.scripts import parts, run

SCRIPT = """\
import sys
import tensorflow as tf

batch_size = 12


class Net(object):
    def __init__(self, classes=None, width=8):
        self.x = tf.placeholder(tf.float32, [None, 8], name='x')
        if classes:
            self.y = tf.placeholder(tf.float32, [None, classes], name='y')
        else:
            {none}
        self.out = self.layers(self.x, self.y)
        {between}
        self.loss = tf.reduce_mean(tf.square(self.out - self.x))

    def layers(self, x, y):
        if y is not None:
            x = tf.concat([x, y], 1)
        return tf.layers.dense(x, 8)


if len(sys.argv) > 1:
    net = Net(classes=3)
else:
    net = Net()
{step}
with tf.Session() as sess:
    for i in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{net.x: xs, net.y: ys}} if len(sys.argv) > 1 else {{net.x: xs}})
"""
STEP = "train_op = tf.train.AdamOptimizer(0.01).minimize(net.loss)"


def script(none: str = "self.y = None", between: str = "pass", step: str = STEP) -> str:
    return SCRIPT.format(none=none, between=between, step=step)


def test_an_input_that_one_of_the_models_lacks_is_cut_where_it_is() -> None:
    before, inside, after = parts(script())
    assert "x_batch, y_batch = self.x, self.y" in before
    assert inside[inside.index("if y_batch is not None:") + 1].startswith("self.y = shard([y_batch], gpu)")
    assert "self.x, self.y = x_batch, y_batch" in after or "self.y, self.x = y_batch, x_batch" in after


@pytest.mark.parametrize(
    "text",
    [
        script(none="self.y = tf.zeros([1, 3])"),
        script(between="if classes:\n            self.out = self.more = tf.layers.dense(self.out, 8)"),
    ],
    ids=["a tensor in its place", "another attribute"],
)
def test_models_that_leave_other_values_do_not_share_a_loop(text: str) -> None:
    """The towers go around the two calls, and are handed the placeholders."""
    conversion = run(text)
    assert conversion.text is None or "net = Net()" in parts(text)[1]


def test_models_side_by_side_are_built_by_one_loop_around_both() -> None:
    text = script().replace("if len(sys.argv) > 1:\n    net = Net(classes=3)\nelse:\n    net = Net()\n", "")
    two = "net = Net(classes=3)\nother = Net()\n" + STEP + "\ntf.train.AdamOptimizer(0.01).minimize(other.loss)"
    _, inside, after = parts(text.replace(STEP, two).replace("net.y: ys}", "net.y: ys, other.x: xs}"))
    assert {"net = Net(classes=3)", "other = Net()"} <= set(inside)
    assert sum("tower_gradients(" in line for line in after) == 2
