"""A session that is handed to the code that trains keeps its configuration: its maker must allow soft placement."""

from __future__ import annotations

import pytest

from tests.scripts import codes

NET = """\
import tensorflow as tf

batch_size = 64


class Net(object):
    def __init__(self, sess):
        self.sess = sess
        self.x = tf.placeholder(tf.float32, [None, 784])
        self.y = tf.placeholder(tf.int64, [None])
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, tf.layers.dense(self.x, 10))
        self.train_op = tf.train.AdamOptimizer(0.001).minimize(self.loss)

    def train(self):
        for step in range(100):
            images, labels = next_batch(batch_size)
            self.sess.run(self.train_op, {self.x: images, self.y: labels})
"""
GIVEN = "self.sess = sess\n"
RUN = "self.sess.run(self.train_op, {self.x: images, self.y: labels})"


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (NET, True),
        (NET.replace(RUN, RUN.replace("self.sess", "sess")).replace("train(self)", "train(self, sess)"), True),
        (NET.replace(RUN, "self.train_op.run({self.x: images, self.y: labels})"), True),
        (NET.replace(RUN, "pass"), False),
        (NET.replace(RUN, "self.sess.run(self.loss, {self.x: images, self.y: labels})"), False),
        (NET.replace(GIVEN, "self.sess = tf.Session()\n"), False),
        (NET + "\n\nwith tf.Session() as sess:\n    Net(sess).train()\n", False),
    ],
    ids=["kept", "an argument", "the default one", "no run", "an evaluation", "made by the class", "made below"],
)
def test_who_makes_the_session(script: str, told: bool) -> None:
    assert ("TMG351" in codes(script)) == told
