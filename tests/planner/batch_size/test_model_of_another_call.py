"""Two models that the same code builds, of which one reads the batch size where the other does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.options import Options
from tests.proofs import proof_of
from tests.scripts import converted, run

SCRIPT = """\
import numpy as np
import tensorflow as tf

tf.app.flags.DEFINE_integer('batch_size', 16, '')
tf.app.flags.DEFINE_boolean('decode', False, '')
FLAGS = tf.app.flags.FLAGS


class Model(object):
    def __init__(self, batch_size, decodes):
        self.batch_size = batch_size
        self.x = tf.placeholder(tf.float32, [self.batch_size, 4])
        self.y = tf.placeholder(tf.float32, [self.batch_size, 8])
        with tf.variable_scope('net'):
            hidden = tf.layers.dense(self.x, 8)
            with tf.variable_scope('out'):
                if not decodes:
                    self.out = tf.layers.dense(hidden, 8)
                    self.loss = tf.reduce_mean(tf.square(self.out - self.y))
                    self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)
                else:
                    start = tf.convert_to_tensor([1] * {size}, dtype=tf.int32)
                    self.loss = tf.constant({loss})
                    self.out = tf.layers.dense(hidden + tf.one_hot(start, 8), 8)


def rows(width):
    return np.random.rand(FLAGS.batch_size, width)


def main(_):
    model = Model(FLAGS.batch_size, False)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(8):
            sess.run(model.train_op, {{model.x: rows(4), model.y: rows(8)}})


def decode(_):
    model = Model(FLAGS.batch_size, True)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        print(sess.run(model.out, {{model.x: rows(4)}}).shape)


if __name__ == '__main__':
    tf.app.run(decode if FLAGS.decode else main)
"""


@pytest.mark.parametrize(
    ("size", "inside"),
    [
        ("batch_size", "batch_size = shard_size("),
        ("self.batch_size", "self.batch_size = shard_size("),
    ],
)
def test_the_number_is_that_of_a_shard_in_both(size: str, inside: str) -> None:
    assert inside in converted(SCRIPT.format(size=size, loss="0.0"))


def test_a_loss_of_another_type_is_refused() -> None:
    (found,) = run(SCRIPT.format(size="batch_size", loss="0")).diagnostics
    assert found.code == "TMG210" and "is an integer in another call" in found.message


@pytest.mark.tf1
def test_it_is_the_original_s_step(tensorflow_python: str, tmp_path: Path) -> None:
    (tmp_path / "single.py").write_text(SCRIPT.format(size="batch_size", loss="0.0"))
    report = proof_of(tmp_path / "single.py", tensorflow_python, tmp_path, Options())
    assert report.verdict == "passed", report
