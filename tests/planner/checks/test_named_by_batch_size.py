"""Names of checkpoints that hold the batch size: other runs and scripts look for another one."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import os
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer('batch_size', 16, '')
flags.DEFINE_integer('size', 16, '')
FLAGS = flags.FLAGS


class Net(object):
    def __init__(self, sess, batch_size):
        self.sess, self.batch_size = sess, batch_size
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 3)))
        self.op = tf.train.AdamOptimizer(0.1).minimize(self.loss)
        self.saver = tf.train.Saver()

    @property
    def model_dir(self):
        return 'net_{{}}_{{}}'.format(self.batch_size, 3)

    def train(self):
        self.sess.run(tf.global_variables_initializer())
        for i in range(10):
            self.sess.run(self.op, {{self.x: data.next_batch(self.batch_size)}})
        {line}


with tf.Session() as sess:
    Net(sess, FLAGS.batch_size).train()
"""


@pytest.mark.parametrize(
    "line",
    [
        "self.saver.save(self.sess, os.path.join('checkpoint', self.model_dir, 'model'), global_step=i)",
        "self.saver.restore(self.sess, 'c' + str(self.batch_size))",
        "self.saver.save(self.sess, save_path='net-%d' % self.batch_size)",
        "self.saver.save(self.sess, 'net-%d-%s' % (self.batch_size, 'a'))",
        "self.saver.save(self.sess, f'net{{self.batch_size}}')",
        "found = tf.train.get_checkpoint_state(self.model_dir)\n        self.saver.save(self.sess, self.model_dir)",
        "print(tf.train.latest_checkpoint(os.path.join('checkpoint', self.model_dir)))",
    ],
)
def test_a_name_with_the_batch_size(line: str) -> None:
    text = SCRIPT.format(line=line.replace("{{", "{").replace("}}", "}"))
    assert codes(text) == ["TMG388"]
    assert codes(text, batch="total") == []


@pytest.mark.parametrize(
    "line",
    [
        "self.saver.save(self.sess, 'net-%d' % FLAGS.size)",
        "self.saver.save(self.sess, 'net', global_step=i * self.batch_size)",
        "self.saver.save(self.sess, 'net-%d' % (i * self.batch_size))",  # examples, which are as many as before
        "self.saver.save(self.sess, 'net-%d' % FLAGS.batch_size)",  # what the user gives, not what is fed
        "print('net-%d' % self.batch_size)",
        "open(self.model_dir, 'w').close()",
    ],
)
def test_other_names_are_not(line: str) -> None:
    assert codes(SCRIPT.format(line=line)) == []
