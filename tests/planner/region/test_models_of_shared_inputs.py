"""Models that share nothing but inputs, each built and trained by a function of its own: each has a loop there."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.verify import VerifySettings, verify
from tests.scripts import codes, converted

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 8
drawn = np.random.RandomState(1)


def next_batch(n):
    return drawn.rand(n, 4).astype(np.float32), drawn.rand(n, 1).astype(np.float32)


def critic(x, reuse=None):
    with tf.variable_scope('critic', reuse=reuse):
        return tf.layers.dense(tf.layers.dense(x, 5, tf.nn.relu), 1)


def train_critic(x, y):
    loss = tf.reduce_mean(tf.square(critic(x) - y))
    return tf.train.AdamOptimizer(0.01).minimize(loss), loss


def train_actor(x, {more}):
    with tf.variable_scope('actor'):
        act = tf.layers.dense(x, 4)
    loss = {loss}
    mine = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, 'actor')
    return tf.train.AdamOptimizer(0.01).minimize(loss, var_list=mine), loss


class Agent(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        {head}
        self.q_train, self.q_loss = train_critic({x}, self.y)
        self.p_train, self.p_loss = {actor}


agent = Agent()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        xs, ys = next_batch(batch_size)
        sess.run([agent.q_train, agent.q_loss], {{agent.x: xs, agent.y: ys}})
        sess.run([agent.p_train, agent.p_loss], {{agent.x: xs, agent.y: ys}})
"""


def script(
    loss: str = "-tf.reduce_mean(critic(act, True))",
    more: str = "weight=1.0",
    head: str = "pass",
    x: str = "self.x",
    actor: str = "train_actor(self.x)",
) -> str:
    return SCRIPT.format(loss=loss, more=more, head=head, x=x, actor=actor)


def test_each_function_has_a_loop() -> None:
    found = converted(script())
    assert found.count("for gpu in range(num_gpus):\n        with tf.device(") == 2
    assert "(x, y), rows, tower_weight = shard([x_batch, y_batch], gpu)" in found
    assert "(x,), tower_rows, weight_2 = shard([all_x], gpu)" in found


@pytest.mark.parametrize(
    "near",
    [
        {"head": "self.h = tf.layers.dense(self.x, 4)", "x": "self.h", "actor": "train_actor(self.h)"},
        {"more": "base", "loss": "base - tf.reduce_mean(act)", "actor": "train_actor(self.x, self.q_loss)"},
    ],
    ids=["a common first part", "the first model's loss"],
)
def test_refused_where_the_models_share_a_result(near: dict[str, str]) -> None:
    assert codes(script(**near)) == ["TMG219"]


@pytest.mark.tf1
@pytest.mark.parametrize("gpus", [2, 3])
def test_both_are_proven(gpus: int, tmp_path: Path, tensorflow_python: str) -> None:
    (tmp_path / "single.py").write_text(script())
    (tmp_path / "multi.py").write_text(converted(script()))
    settings = VerifySettings(gpus=gpus, python=tensorflow_python)
    assert verify(tmp_path / "single.py", tmp_path / "multi.py", settings).verdict == "passed"
