"""Batches of several kinds, one behind the other, that are fed to a loss which is no mean over the examples."""

from __future__ import annotations

import pytest

from tests.scripts import codes

GRAPH = """\
import numpy as np
import tensorflow as tf

batch_size = 8
few = int(np.ceil(batch_size * 0.25))
many = int(np.ceil(batch_size * 0.75))


def batches(kind, size):
    return tf.train.batch([tf.random_uniform([5]), tf.constant(kind)], batch_size=size)


a, kind_a = batches(1.0, few)
b, kind_b = batches(0.0, many)
rows, kinds = {rows}
x = tf.placeholder(tf.float32, [batch_size, 5])
y = tf.placeholder(tf.float32, [batch_size])
out = tf.layers.dense({hidden}, 1)[:, 0]
loss = {loss}
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    tf.train.start_queue_runners(sess)
    for step in range(100):
        xs, ys = sess.run([rows, kinds])
        sess.run(train_op, {{x: xs, y: ys}})
"""
JOINED = "tf.concat([a, b], 0), tf.concat([kind_a, kind_b], 0)"
CHOSEN = "tf.reduce_mean(tf.gather(tf.square(out - 1.0), tf.nn.top_k(y, k=tf.to_int32(tf.reduce_sum(y)))[1]))"
MEAN = "tf.reduce_mean(tf.square(out - y))"
NORM = "tf.layers.batch_normalization(x, training=True)"


@pytest.mark.parametrize(
    ("rows", "hidden", "loss", "refused"),
    [
        (JOINED, "x", CHOSEN, True),
        (JOINED, NORM, MEAN, True),
        (JOINED, "x", MEAN, False),
        ("a, kind_a", "x", CHOSEN, False),
        ("tf.reshape(tf.transpose(a), [-1]), kind_a", "x", CHOSEN, False),
        ("a, kind_a", NORM, MEAN, False),
    ],
    ids=["some of them", "a batch norm", "a mean", "one kind", "in another order", "one kind and a batch norm"],
)
def test_batches_that_the_graph_concatenates(rows: str, hidden: str, loss: str, refused: bool) -> None:
    found = codes(GRAPH.format(rows=rows, hidden=hidden, loss=loss))
    assert ("TMG215" in found) == refused


PYTHON = """\
import numpy as np
import tensorflow as tf

batch_size = 8
x = tf.placeholder(tf.float32, [None, 5])
hidden = tf.layers.batch_normalization(x, training={training})
loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
data = np.load('data.npy')
with tf.Session() as sess:
    for i in range(0, len(data), batch_size):
        real = data[i:i + batch_size]
        made = np.random.rand(batch_size, 5)
        sess.run(train_op, {{x: {fed}}})
"""


@pytest.mark.parametrize(
    ("fed", "training", "refused"),
    [
        ("np.concatenate([real, made])", True, True),
        ("np.concatenate((real, made), axis=0)", True, True),
        ("np.vstack([real, made])", True, True),
        ("np.concatenate([real, made])", False, False),
        ("np.concatenate([real[:, :2], made[:, 2:]], axis=1)", True, False),
        ("np.concatenate([real])", True, False),
        ("real + made", True, False),
    ],
)
def test_batches_that_numpy_concatenates(fed: str, training: bool, refused: bool) -> None:
    assert ("TMG215" in codes(PYTHON.format(fed=fed, training=training))) == refused
