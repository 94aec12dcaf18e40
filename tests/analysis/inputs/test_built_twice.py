"""A placeholder that one function makes for training and for other uses is the batch that training makes it."""

from __future__ import annotations

import pytest

from converter.analysis.values import Tensor
from tests.analysis.readings import batch, facts_of

SCRIPT = """
import numpy as np


class Net(object):
    def build(self, shape, wanted_shape):
        self.x = tf.placeholder(tf.float32, shape)
        self.wanted = tf.placeholder(tf.float32, wanted_shape)
        self.made = tf.layers.dense(self.x, 2)
        self.loss = tf.reduce_mean(tf.abs(self.wanted - self.made))

    def train(self):
        self.build([None, 4], {shape})
        step = tf.train.AdamOptimizer().minimize(self.loss)
        with tf.Session() as sess:
            for i in range(0, 64, 8):
                sess.run(step, {{self.x: data[i:i + 8], self.wanted: wanted[i:i + 8]}})

    def test(self, path):
        image = np.load(path)[np.newaxis, :]
        self.build(image.shape, {unknown})
        with tf.Session() as sess:
            return sess.run(self.made, {{self.x: image / 255.0{fed}}})


data, wanted = np.load('data.npy'), np.load('wanted.npy')
net = Net()
{calls}
"""
CALLS = ["net.train()\nnet.test('a.npy')", "net.test('a.npy')\nnet.train()"]


def fed_in_training(script: str) -> set[tuple[str, ...]]:
    """The batches of what the training step is fed, in each of its runs that are read."""
    facts = facts_of(script)
    trained = {step.result.uid for step in facts.train_steps}
    runs = (run.feeds for run in facts.runs if run.computes(trained))
    return {tuple(batch(key.batch) for key, _ in feeds if isinstance(key, Tensor)) for feeds in runs}


@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("unknown", ["image.shape * np.asarray([1, 2])", "np.load('shape.npy')", "None"])
@pytest.mark.parametrize("fed", ["", ", self.wanted: np.load('other.npy')"])
def test_a_use_that_does_not_tell_leaves_the_batch_of_training(calls: str, unknown: str, fed: str) -> None:
    script = SCRIPT.format(shape="[None, 2]", unknown=unknown, fed=fed, calls=calls)
    assert fed_in_training(script) == {("example 0", "example 0")}


@pytest.mark.parametrize("calls", CALLS)
def test_one_that_is_a_setting_in_each_use_stays_one(calls: str) -> None:
    script = SCRIPT.format(shape="[2]", unknown="[2]", fed=", self.wanted: [0., 1.]", calls=calls)
    script = script.replace("wanted[i:i + 8]", "[0., 1.]")
    assert fed_in_training(script) == {("example 0", "free")}
