"""A batch that only some runs of a script change before they feed it is an input behind the branch that changes it."""

from __future__ import annotations

import pytest

from tests.scripts import codes, inputs_cut

SCRIPT = """\
import numpy as np
import tensorflow as tf
tf.flags.DEFINE_string('data', 'digits', '')
FLAGS = tf.flags.FLAGS
batch_size = 8
images = np.random.rand(64, 6).astype('float32')
class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 6])
        {branch}
        {h} = {layer}
        self.loss = tf.reduce_mean(tf.square({h}))
net = Net()
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(net.loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, batch_size):
        sess.run(train_op, {{net.x: images[i:i + batch_size]}})
"""
ALONE = "if FLAGS.data == 'photos':\n            self.x = 2. * self.x - 1."
EITHER = ALONE + "\n        else:\n            self.x = self.x + 1."
LAYER = "\n            h = tf.layers.dense(self.x, 6)"
MODEL = f"{ALONE}{LAYER}\n        else:{LAYER}"
DENSE = "tf.layers.dense(self.x, 6)"


@pytest.mark.parametrize("branch", [ALONE, EITHER, "self.x = 2. * self.x - 1.", "pass"])
def test_what_is_fed_is_cut(branch: str) -> None:
    assert inputs_cut(SCRIPT.format(branch=branch, layer=DENSE, h="h")) == [("self.x",)]


def test_a_model_in_the_same_branches_is_left_to_the_towers() -> None:
    assert "TMG223" in codes(SCRIPT.format(branch=MODEL, layer="h", h="h"))
