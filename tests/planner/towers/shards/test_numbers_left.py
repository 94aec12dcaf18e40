"""Numbers that a constructor keeps while a tower is built count the whole batch behind the towers."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer('batch_size', 16, '')
flags.DEFINE_boolean('labelled', True, '')
FLAGS = flags.FLAGS


class Model(object):
    def __init__(self, batch_size, samples, classes=None):
        self.batch_size, self.samples = batch_size, {samples}
        self.data = np.random.RandomState(3).rand(320, 12)
        self.labels = np.eye(10)[np.arange(320) % 10]
        {first}
        self.x = tf.placeholder(tf.float32, [self.batch_size, 12])
        self.h = tf.layers.dense(self.x, 8)
        {second}
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.h, 12) - self.x))

    def train(self):
        train_op = tf.train.AdamOptimizer(0.001).minimize(self.loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(len(self.data) // FLAGS.batch_size):
                rows = slice(i * FLAGS.batch_size, (i + 1) * FLAGS.batch_size)
                if FLAGS.labelled:
                    sess.run(train_op, {{self.x: self.data[rows], self.y: self.labels[rows]}})
                else:
                    sess.run(train_op, {{self.x: self.data[rows]}})
            if FLAGS.labelled:
                print(sess.run(self.loss, {{self.x: self.data[:{read}], self.y: self.labels[:{read}]}}))
            else:
                print(sess.run(self.loss, {{self.x: self.data[:{read}]}}))


if FLAGS.labelled:
    model = Model(FLAGS.batch_size, FLAGS.batch_size, 10)
else:
    model = Model(FLAGS.batch_size, FLAGS.batch_size)
model.train()
"""
LABELS = """\
if classes:
            self.y = tf.placeholder(tf.float32, [self.batch_size, classes], name='y')
            self.h = tf.concat([self.h, self.y], 1)
        else:
            self.y = None"""
LABELS_FIRST = """\
if classes:
            self.y = tf.placeholder(tf.float32, [self.batch_size, classes], name='y')
            self.g = tf.layers.dense(self.y, 4)
        else:
            self.y = None"""
JOINED = """\
if classes:
            self.h = tf.concat([self.h, self.g], 1)"""


def script(samples: str = "samples", read: str = "self.samples", first: str = "pass", second: str = LABELS) -> str:
    return SCRIPT.format(samples=samples, read=read, first=first, second=second)


def test_batch_size_that_the_model_keeps_is_the_whole_behind_the_towers() -> None:
    text = converted(script())
    assert "model.samples = model.samples * FLAGS.num_gpus" in text
    assert "self.data[:self.samples]" in text


def test_total_batch_gives_back_the_number_in_front_of_the_towers() -> None:
    text = converted(script(), batch="total")
    assert "model.samples" in text.partition("# From here on")[2].partition("model.loss")[0]
    assert "* FLAGS.num_gpus" not in text.partition("# From here on")[2]


@pytest.mark.parametrize("samples", ["samples - 1", "320 // samples", "samples ** 2 // 16"])
def test_number_that_is_no_multiple_is_refused(samples: str) -> None:
    assert codes(script(samples)) == ["TMG207"]


def test_number_that_nobody_reads_stays() -> None:
    text = converted(script("samples - 1", read="FLAGS.batch_size"))
    assert "model.samples" not in text


def test_rows_are_counted_by_a_placeholder_that_every_branch_makes() -> None:
    """The object of one branch has None for the labels: a tower has no share of that."""
    text = converted(script(first=LABELS_FIRST, second=JOINED))
    assert "tower_inputs.share(model.x)" in text
    assert "tower_inputs.share(model.y)" not in text
