"""Forms of a program: functions that call themselves, properties that build."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG133",
        title="the end of a loss is computed after the towers, from their merged results",
        why="Properties that build their part of the graph when they are first read often build the end of the loss "
        "and the train op together. The towers then compute everything before that, and the loss is computed from "
        "their merged results: for a mean over the examples that is the same number. With "
        "colocate_gradients_with_ops=True the backward pass of each tower stays on its own GPU. Values that an "
        "earlier tower has cached are removed first. A sum of losses that is written in another function than the "
        "model's is handled in the same way: minimize(model.a + model.b).",
        before="""\
import functools

import tensorflow as tf

batch_size = 64


def lazy_property(function):
    attribute = '_' + function.__name__

    @property
    @functools.wraps(function)
    def wrapper(self):
        if not hasattr(self, attribute):
            setattr(self, attribute, function(self))
        return getattr(self, attribute)

    return wrapper


class Model(object):
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.logits
        self.train_op

    @lazy_property
    def logits(self):
        return tf.layers.dense(self.x, 10)

    @lazy_property
    def train_op(self):
        loss = tf.losses.sparse_softmax_cross_entropy(self.y, self.logits)
        return tf.train.AdamOptimizer(0.001).minimize(loss)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
model = Model(X, Y)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(model.train_op, {X: images, Y: labels})
""",
        after="""\
                (self.x,), rows, weight = shard([x_batch], gpu)
                self.__dict__.pop('_logits', None)  # each tower makes its own
                self.logits
        self._logits = tf.concat(tower_logits, 0)
        self.train_op
        return tf.train.AdamOptimizer(0.001).minimize(loss, colocate_gradients_with_ops=True)
""",
        references=("tf.gradients, colocate_gradients_with_ops (tensorflow/python/ops/gradients_impl.py, 1.15)",),
    ),
)
