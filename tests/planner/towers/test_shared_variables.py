"""Which helper hands raw variables to the towers: that of one model, or that of several in one graph."""

from __future__ import annotations

import pytest

from tests.scripts import converted

NET = """\
import numpy as np
import tensorflow as tf

batch_size = 8


class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 5])
        self.y = tf.placeholder(tf.float32, [None, 2])
        with tf.name_scope('net'):
            w = {made}
            out = tf.matmul(self.x, w)
        self.loss = tf.reduce_mean(tf.square(out - self.y))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss, var_list=[w])


{nets}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = np.random.rand(batch_size, 5), np.random.rand(batch_size, 2)
        for net in nets:
            sess.run(net.train_op, {{net.x: xs, net.y: ys}})
"""
RAW, FOUND = "tf.Variable(tf.zeros([5, 2]), name='w')", "tf.get_variable('w', [5, 2])"


@pytest.mark.parametrize(
    ("made", "nets", "wanted"),
    [
        (RAW, "nets = [Net()]", "SharedVariables"),
        (RAW, "nets = [Net(), Net()]", "SharedVariablesOfModels"),
        (RAW, "nets = [Net() for _ in range(2)]", "SharedVariablesOfModels"),
        (FOUND, "nets = [Net()]", None),
    ],
)
def test_scopes_are_numbered_where_several_models_have_them(made: str, nets: str, wanted: str | None) -> None:
    text = converted(NET.format(made=made, nets=nets))
    assert (f"shared_variables = {wanted}()\n" in text) is bool(wanted)
    assert ("class SharedVariablesOfModels(" in text) is (wanted == "SharedVariablesOfModels")
