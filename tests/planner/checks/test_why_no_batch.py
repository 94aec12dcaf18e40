"""The reason why no batch is seen: a loop over GPUs of the script's own, a number of rows that a branch sets again."""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

TOWERS = """\
import tensorflow as tf

batch_size = 32
num_gpus = 1
xs = tf.placeholder(tf.float32, [16, 4])
parts = tf.split(xs, num_gpus)
optimizer = tf.train.AdamOptimizer(0.01)
with tf.variable_scope('net'):
    for i in range(num_gpus):
        with tf.device({device}):
            loss = tf.reduce_mean(tf.square(tf.layers.dense(parts[i], 1, name='out')))
            grads = optimizer.compute_gradients(loss)
{behind}train_op = optimizer.apply_gradients(grads)
with tf.Session() as sess:
    for step in range(10):
        sess.run(train_op)
"""

BRANCH = """\
import argparse
import numpy as np
import tensorflow as tf


def train(data, batch_size=4, slow=False):
    if slow:
        {again}
    x = tf.placeholder(tf.float32, (batch_size, 8))
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(0, len(data) - batch_size, batch_size):
            sess.run(train_op, {{x: data[i:i + batch_size]}})


parser = argparse.ArgumentParser()
parser.add_argument('--slow', action='store_true')
args = parser.parse_args()
train(np.zeros((64, 8)), slow=args.slow)
"""


def test_a_loop_over_gpus_that_takes_one_turn_is_the_reason() -> None:
    assert codes(TOWERS.format(device="'/gpu:%d' % i", behind="")) == ["TMG216"]


@pytest.mark.parametrize("device", ["'/gpu:0'", "'/gpu:%d' % (num_gpus - 1)"])
def test_one_gpu_is_not(device: str) -> None:
    assert "TMG216" not in codes(TOWERS.format(device=device, behind=""))


def test_a_loop_over_gpus_beside_the_model_is_not() -> None:
    beside = "for i in range(num_gpus):\n    with tf.device('/gpu:%d' % i):\n        tf.zeros([2])\n"
    assert "TMG216" not in codes(TOWERS.format(device="'/gpu:0'", behind=beside))


def test_a_size_that_a_branch_sets_again_is_the_reason() -> None:
    (found,) = run(BRANCH.format(again="batch_size, data = 1, data[:1]")).diagnostics
    assert found.code == "TMG202" and found.line == 9
    assert "the number of rows of x is set again in a branch (lines 6, 8)" in found.message


def test_another_name_that_a_branch_sets_is_not() -> None:
    assert codes(BRANCH.format(again="data = data[:8]")) == []


BESIDE = """\
import numpy as np
import tensorflow as tf

batch_size = 8
x = tf.placeholder(tf.float32, [None, 4], 'x')
one = tf.placeholder(tf.float32, [{rows}, 4], 'one')
first = tf.reduce_mean(tf.square(tf.layers.dense(x, 1, name='net')))
second = tf.reduce_mean(tf.square(tf.layers.dense(one, 1, name='other')))
steps = [tf.train.AdamOptimizer(0.01).minimize(first), tf.train.AdamOptimizer(0.01).minimize(second)]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        sess.run(steps, {{x: np.zeros((batch_size, 4)), one: np.zeros(({rows}, 4))}})
"""


@pytest.mark.parametrize(
    "rows, said", [(1, "one has one row: each step takes one example"), (3, "no batch of examples goes into the loss")]
)
def test_of_one_of_two_steps(rows: int, said: str) -> None:
    (found,) = run(BESIDE.format(rows=rows)).diagnostics
    assert found.code == "TMG202" and found.message.startswith(said)
