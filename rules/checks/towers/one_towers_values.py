"""An attribute keeps the value of the last tower, and code that is not followed may read it."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64


class Model(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 784])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.p = self.net(self.x)
        self.loss = tf.reduce_mean(tf.square(self.p - self.y))
{after}
    def net(self, x):
        hidden = tf.layers.dense(x, 32)
        {inside}
        return tf.layers.dense(hidden, 1)


def spread_of(model, sess, feed):
    return sess.run(model.spread, feed)


model = Model()
train_op = tf.train.AdamOptimizer(0.001).minimize(model.loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(batch_size)
        sess.run(train_op, {{model.x: x, model.y: y}})
"""
_SPREAD = "self.spread = tf.sqrt(tf.reduce_mean(tf.square({})))"

RULES = (
    Rule(
        code="TMG333",
        title="an attribute holds the last tower's value after the loop, and code that is not followed may read it",
        why="Values of the towers that the script reads later are merged, or the conversion is refused. This attribute "
        "cannot be merged (a root, a maximum, a ratio of the examples), and none of the code that was followed reads "
        "it. But a function that nothing calls, or a branch that is not taken, reads an attribute of this name. If it "
        "is this one, it gets the value of one tower's share of the batch. Compute it after the loss, from tensors "
        "that have one row for each example.",
        before=_SCRIPT.format(inside=_SPREAD.format("hidden"), after=""),
        after=_SCRIPT.format(
            inside="self.hidden = hidden",
            after=f"        {_SPREAD.format('self.hidden')}\n",
        ),
        references=("docs: TMG210, where the code that reads it was followed",),
    ),
)

WORDS = {
    Found.LAST_TOWERS_VALUE: Words(
        "TMG333",
        "{name} holds the last tower's value after the loop: it cannot be merged, and {path}:{line} reads an "
        "attribute of this name in code that is not followed",
        "compute it after the loss, from tensors with one row for each example",
    ),
}
