"""A conversion that holds only for the value which a constant of the script has now."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

dropout = True
batch_size = 64
noise = 0.1 / {size}


def build(x, y):
    hidden = tf.layers.dense(x, 64)
    if dropout:
        hidden = tf.nn.dropout(hidden, 0.5)
    else:
        hidden += tf.random_normal(tf.shape(hidden), stddev=noise)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(hidden, 10))
    return tf.train.AdamOptimizer(0.001).minimize(loss)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = build(X, Y)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{X: images, Y: labels}})
"""

RULES = (
    Rule(
        code="TMG343",
        title="the conversion holds for the written value of a constant alone",
        why="A condition on a constant, such as `dropout = True`, is converted with both of its branches, as if the "
        "constant were a flag: whoever edits it in the converted script gets the other branch on several GPUs. Here "
        "the other branch cannot be converted, or only with a batch that the towers share, so the condition was taken "
        "as it is now. With another value the converted script may stop, or give one tower's values for those of the "
        "whole batch. Change the constant in the original and convert that again.",
        before=_SCRIPT.format(size="batch_size"),
        after=_SCRIPT.format(size="64"),
        references=("docs: TMG104, what the branches of a condition leave",),
    ),
)

_HINT = "with another value, convert the original again"

WORDS = {
    Found.ONE_VALUE_REFUSED: Words(
        "TMG343",
        "the conversion holds for `{written}` alone: with both branches of the condition in line {at} it would be "
        "refused ({code}, line {line})",
        _HINT,
    ),
    Found.ONE_VALUE_SHARED: Words(
        "TMG343",
        "the conversion holds for `{written}` alone: with both branches of the condition in line {at} the batch could "
        "not grow with the number of GPUs",
        _HINT,
    ),
}
