"""Models that one call trains with labels, and another builds with None in their place."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

SCRIPT = """\
import sys

import numpy as np
import tensorflow as tf

data = np.load('data.npy')
batch_size = 16


class Net(object):
    def __init__(self, x, y, wide=False):
        self.out = tf.layers.dense({x}, 4, name='out')
        self.y = y
        if sys.argv[1] == 'train':
            self.loss = tf.reduce_mean(tf.square(self.out - y))


def train():
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 4])
    net = Net(x, y)
    train_op = tf.train.AdamOptimizer(0.01).minimize(net.loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(0, 640, batch_size):
            rows = data[i:i + batch_size]
            sess.run(train_op, {{x: rows, y: rows}})


def show():
    x = tf.placeholder(tf.float32, [None, 4])
    net = Net({shown})
    with tf.Session() as sess:
        for i in range(0, 640, batch_size):
            print(sess.run(net.out, {{x: data[i:i + batch_size]}}))


if sys.argv[1] == 'train':
    train()
else:
    show()
"""


def script(x: str = "x", shown: str = "x, None") -> str:
    return SCRIPT.format(x=x, shown=shown)


@pytest.mark.parametrize("shown", ["x, None", "x=x, y=None", "x, None, wide=True"])
def test_labels_that_another_call_lacks_are_cut_where_they_are(shown: str) -> None:
    lines = body(script(shown=shown))
    assert "                (x,), tower_rows, weight = shard([x_batch], gpu)" in lines
    at = lines.index("                if y_batch is not None:")
    assert lines[at + 1] == "                    y = shard([y_batch], gpu)[0][0]"
    assert codes(script(shown=shown)) == []


def test_labels_that_each_call_has_are_cut_together() -> None:
    other = script(shown="x, y").replace("    net = Net(x, y)\n    with", "    y, net = x, Net(x, x)\n    with")
    assert "(x, y), tower_rows, weight = shard([x_batch, y_batch], gpu)" in " ".join(body(other))


def test_a_model_without_an_input_that_is_always_there_is_refused() -> None:
    both = script(x="x if x is not None else y").replace("net = Net(x, None)", "net = Net(x, None)\n    Net(None, x)")
    assert codes(both) == ["TMG205"]


TWICE = "        if y is None:\n            return None\n        return y * 2\n"


def test_what_is_made_of_missing_labels_is_merged_where_it_is() -> None:
    made = (
        script()
        .replace("self.y = y", "self.y = self.twice(y)")
        .replace("\n\ndef train", f"\n    def twice(self, y):\n{TWICE}\n\ndef train")
    )
    made = made.replace("self.out - y)", "self.out - self.y)")
    read = made.replace(
        "            sess.run(train_op, {x",
        "            np.save('y.npy', sess.run(net.y, {y: rows}))\n            sess.run(train_op, {x",
    )
    lines = body(read)
    at = lines.index("                if self.y is not None:")
    assert lines[at + 1] == "                    tower_y.append(self.y[:tower_rows])"
