"""The same model is built for one example at a time."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG316",
        title="the same model is built for one example at a time",
        why="A script that trains a model and then writes texts with it often builds it twice: with the batch size "
        "for training, and with a batch of one example in which each step is read from what the step before "
        "gave. That one is not multiplied. One example has no shards: the first tower computes it, the others "
        "compute on a copy of it that is left out of the results. These are right, and come no faster. Let a "
        "script of its own build the model for one example, and restore the checkpoint there.",
        before="""\
import tensorflow as tf


class Model(object):
    def __init__(self, batch_size, writes=False):
        if writes:
            batch_size = 1
        self.X = tf.placeholder(tf.int32, [batch_size, 20])
        self.Y = tf.placeholder(tf.int32, [batch_size, 20])
        table = tf.get_variable('table', [50, 16])
        logits = tf.layers.dense(tf.nn.embedding_lookup(table, self.X), 50, name='logits')
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.Y, logits)
        if not writes:
            self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


model = Model(32)
with tf.variable_scope(tf.get_variable_scope(), reuse=True):
    writer = Model(32, writes=True)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(32)
        sess.run(model.train_op, {model.X: x, model.Y: y})
""",
        after="""\
import tensorflow as tf


class Model(object):
    def __init__(self, batch_size):
        self.X = tf.placeholder(tf.int32, [batch_size, 20])
        self.Y = tf.placeholder(tf.int32, [batch_size, 20])
        table = tf.get_variable('table', [50, 16])
        logits = tf.layers.dense(tf.nn.embedding_lookup(table, self.X), 50, name='logits')
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.Y, logits)
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


model = Model(32)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(32)
        sess.run(model.train_op, {model.X: x, model.Y: y})
""",
        references=("docs: TMG110, how the number is followed",),
    ),
)

WORDS = {
    Found.DATA_SET_OF_ONE_EXAMPLE: Words(
        "TMG316",
        "this data set gives one example at a time, which has no shards: all towers but the first compute on a copy "
        "that is left out",
        "let it give larger batches; one that is read in training should give the script's batch size",
    ),
    Found.MODEL_OF_ONE_EXAMPLE: Words(
        "TMG316",
        "the same model is built for one example at a time, which has no shards: all towers but the first "
        "compute on a copy that is left out",
        "build that model in a script of its own, and restore the checkpoint there",
    ),
}
