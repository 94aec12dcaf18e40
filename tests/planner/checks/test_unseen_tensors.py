"""Tensors of objects that no file makes, beside inputs that are cut."""

from __future__ import annotations

import pytest

from tests.scripts import codes

MODEL = """\
import tensorflow as tf


class Trainer(object):
    def __init__(self, policy, scale):
        self.policy = policy
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 3])
        p = tf.layers.dense(self.x, 3)
        {model}
        loss = tf.reduce_mean(tf.square(p - self.y))
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(loss)

    def train(self, sess, x, y):
        sess.run(self.train_op, {{self.x: x, self.y: y}})
"""


@pytest.mark.parametrize(
    "model",
    [
        "p = p * self.policy.probs + tf.zeros([policy.probs.shape[1]])",
        "p += policy.probs * tf.one_hot(tf.argmax(self.y, 1), self.policy.probs.get_shape()[1])",
        "p = tf.where(p > 0., p, scale) + tf.zeros([scale.shape[1]])",
    ],
)
def test_tensors_whose_shapes_are_asked_for(model: str) -> None:
    assert "TMG275" in codes(MODEL.format(model=model))


@pytest.mark.parametrize(
    "model",
    [
        "p = p * scale",
        "p = tf.maximum(policy.margin - p, 0.)",
        "p += tf.zeros([policy.probs.shape[1]]) * policy.margin",
        "p = p * policy.margin + tf.get_variable('b', [policy.table.shape[1]])",
    ],
)
def test_settings_of_such_objects(model: str) -> None:
    assert codes(MODEL.format(model=model)) == ["TMG351", "TMG303"]


FED = """\
import tensorflow as tf


class Agent(object):
    def __init__(self, sess, network, config):
        self.sess, self.network, self.config = sess, network, config
        self.targets = tf.placeholder(tf.float32, [None])
        self.actions = tf.placeholder(tf.int32, [None])
        q = {}
        self.loss = tf.reduce_mean(tf.square(self.targets - q))
        self.train_op = tf.train.RMSPropOptimizer(0.1).minimize(self.loss)

    def learn(self, states, targets, actions):
        self.sess.run(self.train_op, {{self.network.inputs: states, self.targets: targets, self.actions: actions}})
"""


def test_tensors_of_an_object_of_which_the_training_step_feeds_another() -> None:
    taken = FED.format("tf.reduce_sum(self.network.outputs * tf.one_hot(self.actions, 4), 1)")
    assert codes(taken) == ["TMG275"]


@pytest.mark.parametrize("factor", ["self.config.scale", "config.network.scale"])
def test_settings_of_another_object(factor: str) -> None:
    assert codes(FED.format(f"tf.reduce_sum(tf.one_hot(self.actions, 4), 1) * {factor}")) == ["TMG351", "TMG303"]


@pytest.mark.parametrize(
    "model",
    [
        "p += tf.layers.dense(scale, 3)",
        "p += tf.layers.dense(policy.features, 3)",
        "p += tf.matmul(scale, tf.get_variable('w', [5, 3]))",
    ],
)
def test_inputs_of_layers(model: str) -> None:
    assert codes(MODEL.format(model=model)) == ["TMG275"]


@pytest.mark.parametrize(
    "model",
    [
        "p = tf.layers.dense(p, policy.width)",
        "p = tf.matmul(p, tf.get_variable('w', [3, 3]) * scale)",
        "p = tf.layers.dense(p * scale, 3)",
    ],
)
def test_settings_of_layers(model: str) -> None:
    assert codes(MODEL.format(model=model)) == ["TMG351", "TMG303"]
