"""A class that two branches make, each with arguments of its own: one run has one of the models."""

from __future__ import annotations

from tests.scripts import converted

SCRIPT = """\
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer('batch_size', 16, '')
flags.DEFINE_boolean('labelled', True, '')
FLAGS = flags.FLAGS


class Model(object):
    def __init__(self, classes=None):
        if classes:
            self.y = tf.placeholder(tf.float32, [None, classes])
        else:
            self.y = None
        self.x = tf.placeholder(tf.float32, [None, 12])
        with tf.variable_scope('net'):
            if self.y is not None:
                self.h = tf.layers.dense(tf.concat([self.x, self.y], 1), 8)
            else:
                self.first = tf.layers.dense(self.x, 8)
                self.h = tf.layers.dense(self.first, 8)
            self.out = tf.layers.dense(self.h, 12)
        self.loss = tf.reduce_mean(tf.square(self.out - self.x))
        self.variables = [v for v in tf.trainable_variables() if 'net' in v.name]
{more}

    def train(self):
        train_op = tf.train.AdamOptimizer(0.001).minimize(self.loss, var_list=self.variables)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(100):
                x, y = next_batch(FLAGS.batch_size)
                if FLAGS.labelled:
                    sess.run(train_op, {{self.x: x, self.y: y}})
                else:
                    sess.run(train_op, {{self.x: x}})
            print(sess.run({shown}, {{self.x: x}}))


if FLAGS.labelled:
    model = Model(10)
else:
    model = Model()
model.train()
"""


def test_list_of_variables_is_whole_though_the_other_branch_makes_more() -> None:
    text = converted(SCRIPT.format(more="", shown="self.out"))
    assert "of_first_tower" not in text
    assert text.count("for gpu in range(") == 1
    assert "var_list=self.variables" in text


def test_values_that_only_one_model_has_and_nobody_reads_do_not_part_them() -> None:
    text = converted(SCRIPT.format(more="", shown="self.out"))
    assert "self.first" not in text.partition("# From here on")[2].partition("def train")[0]


def test_list_before_more_variables_of_the_same_model_is_kept_from_the_first_tower() -> None:
    more = "        self.loss += tf.reduce_mean(tf.square(tf.layers.dense(self.out, 3)))"
    assert "for v in of_first_tower(tf.trainable_variables())" in converted(SCRIPT.format(more=more, shown="self.out"))
