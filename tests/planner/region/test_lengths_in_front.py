"""Lengths that are read off an input in front of the model: they are the same for each tower's rows."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

SCRIPT = """\
import tensorflow as tf

batch_size = 32


def lengths(tensor):
    {given}


class Net(object):
    def __init__(self, x, y):
        self.x, self.y = x, y
        {read}
        self.build()

    def build(self):
        made = tf.layers.dense(self.x, {size})
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(made, 1) - self.y))
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)


X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
net = Net(X, Y)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        xs, ys = next_batch(batch_size)
        sess.run(net.train_op, {{X: xs, Y: ys}})
"""
LIST = "return tensor.get_shape().as_list()"


@pytest.mark.parametrize("given", [LIST, "return [n for n in tensor.get_shape().as_list()]", "return tensor.shape"])
@pytest.mark.parametrize("read", ["_, self.size = lengths(x)", "self.size = lengths(x)[1]"])
def test_they_stay_in_front(given: str, read: str) -> None:
    text = SCRIPT.format(given=given, read=read, size="self.size")
    lines = body(text)
    assert codes(text) == [] and f"        {read}" in lines
    assert "                made = tf.layers.dense(self.x, self.size)" in lines


def test_the_number_of_examples_is_no_such_length() -> None:
    read = "self.size = lengths(x)[0]"
    text = SCRIPT.format(given="return tf.shape(tensor)", read=read, size="8").replace(
        "tf.reduce_mean(tf.square(", "tf.reduce_mean(tf.to_float(self.size) * tf.square("
    )
    found = codes(text)
    assert found or f"        {read}" not in body(text)
