"""Evaluations through a batch norm that takes the statistics of what is fed, shared by the towers (TMG353)."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 64
images, tests = np.load('images.npy'), np.load('tests.npy')
queue = tf.train.batch([tf.constant(tests)], batch_size, enqueue_many=True)
x = tf.placeholder(tf.float32, [None, 8])
training = tf.placeholder(tf.bool, [])
hidden = tf.layers.dense(x, 4)
normed = {norm}
loss = tf.reduce_mean(tf.square(tf.layers.dense(normed, 8) - x))
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, len(images), batch_size):
        sess.run(train_op, {{x: images[i:i + batch_size], training: True}})
    {run}
"""
ALWAYS = "tf.layers.batch_normalization(hidden, training=True)"
SLIM = "tf.contrib.layers.batch_norm(hidden, updates_collections=None)"
SWITCHED = "tf.layers.batch_normalization(hidden, training=training)"
FOUND, NONE = ["TMG353"], list[str]()


@pytest.mark.parametrize(
    ("norm", "run", "expected"),
    [
        (ALWAYS, "print(sess.run(loss, {x: tests}))", FOUND),
        (ALWAYS, "print(sess.run(normed, {x: tests[:10]}))", FOUND),
        (SLIM, "print(sess.run(loss, {x: tests}))", FOUND),
        (SWITCHED, "print(sess.run(loss, {x: tests, training: True}))", FOUND),
        (SWITCHED, "print(sess.run(loss, {x: tests, training: False}))", NONE),
        ("tf.layers.batch_normalization(hidden)", "print(sess.run(loss, {x: tests}))", NONE),
        ("hidden", "print(sess.run(loss, {x: tests}))", NONE),
        (ALWAYS, "print(sess.run(hidden, {x: tests}))", NONE),  # in front of the batch norm
        (ALWAYS, "print(sess.run(loss, {x: images[:batch_size]}))", NONE),  # as many rows for each tower as before
        (ALWAYS, "print(sess.run(normed, {x: tests[:1]}))", NONE),  # the first tower's
        (ALWAYS, "print(sess.run(normed, {x: sess.run(queue)}))", NONE),  # a pipeline's batches may grow, too
        (ALWAYS, "print(loss.name)", NONE),
    ],
)
def test_rows_that_the_towers_share(norm: str, run: str, expected: list[str]) -> None:
    assert codes(SCRIPT.format(norm=norm, run=run)) == expected


def test_the_towers_of_a_shared_batch_are_warned_of_elsewhere() -> None:
    text = SCRIPT.format(norm=ALWAYS, run="print(sess.run(loss, {x: tests}))")
    assert "TMG353" not in codes(text, batch="total")
