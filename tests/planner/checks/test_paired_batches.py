"""Two batches of one source that meet in the model: other pairs meet once batches are larger."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 32
A = tf.placeholder(tf.float32, [None, 4])
B = tf.placeholder(tf.float32, [None, 4])
with tf.variable_scope('net'):
    one = tf.layers.dense(A, 3, name='fc')
with tf.variable_scope('net', reuse=True):
    two = tf.layers.dense(B, 3, name='fc')
loss = tf.reduce_mean(tf.square(one - two))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        left, _ = data.next_batch(batch_size)
        right, _ = data.next_batch(batch_size)
        sess.run(train_op, {A: left, B: right})
"""
FOLLOWED = """\
class Data:
    def __init__(self):
        self.rows, self.at = np.load('rows.npy'), 0

    def next_batch(self, n):
        self.at += n
        return self.rows[self.at - n:self.at], n


data = Data()
with tf.Session()"""


@pytest.mark.parametrize(
    ("script", "found"),
    [(SCRIPT, ["TMG340"]), (SCRIPT.replace("with tf.Session()", FOLLOWED), ["TMG339"])],
    ids=["a method that is not seen", "a method of the script"],
)
def test_two_batches_of_one_source_that_meet_are_warned_of(script: str, found: list[str]) -> None:
    """A method that is followed is seen to walk on through its rows in a fixed number of steps: its batches stay."""
    assert codes(script) == found


@pytest.mark.parametrize(
    "script",
    [
        SCRIPT.replace("right, _ = data", "right, _ = others"),
        SCRIPT.replace("one - two)", "one)) + tf.reduce_mean(tf.square(two)"),
        SCRIPT.replace("right, _ = data.next_batch(batch_size)", "right = np.random.rand(batch_size, 4)"),
        SCRIPT.replace("data.next_batch(batch_size)", "np.random.rand(batch_size, 4), 0"),
        SCRIPT.replace("        right, _ = data.next_batch(batch_size)\n", "").replace("B: right", "B: left + 1"),
        SCRIPT.replace(", _ = data.next_batch(batch_size)", " = np.zeros((batch_size, 4))").replace(
            "        sess.run",
            "        for i in range(batch_size):\n            left[i] = right[i] = data.row()\n        sess.run",
        ),
    ],
    ids=["two sources", "rows that do not meet", "noise", "two draws of noise", "one batch", "arrays to be filled"],
)
def test_batches_that_keep_their_partners_are_not(script: str) -> None:
    assert codes(script) == []


def test_batches_that_stay_as_large_are_not() -> None:
    assert codes(SCRIPT, batch="total") == []


GAN = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
Z = tf.placeholder(tf.float32, [None, 2])
with tf.variable_scope('gen'):
    fake = tf.layers.dense(Z, 4)
with tf.variable_scope('dis'):
    score = tf.layers.dense(X, 1, name='fc')
with tf.variable_scope('dis', reuse=True):
    other = tf.layers.dense(fake, 1, name='fc')
d_loss = tf.reduce_mean(tf.nn.softplus(-score)) + tf.reduce_mean(tf.nn.softplus(other))
g_loss = tf.reduce_mean(tf.nn.softplus(-other))
d_op = tf.train.AdamOptimizer(0.1).minimize(d_loss, var_list=tf.trainable_variables('dis'))
g_op = tf.train.AdamOptimizer(0.1).minimize(g_loss, var_list=tf.trainable_variables('gen'))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        real, _ = data.next_batch(batch_size)
        sess.run(d_op, {X: real, Z: noise(batch_size)})
        real, _ = data.next_batch(batch_size)
        sess.run(g_op, {X: real, Z: noise(batch_size)})
"""


def test_the_two_steps_of_a_gan_draw_a_batch_each() -> None:
    assert codes(GAN) == []
