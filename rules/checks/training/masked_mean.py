"""A masked mean of a batch that one GPU cannot take N times as large."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

_MASKED = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [batch_size, 20, 16])
Y = tf.placeholder(tf.int64, [batch_size, 20])
mask = tf.placeholder(tf.float32, [batch_size, 20])
logits = tf.layers.dense(X, 10)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y)
loss = {loss}
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y, m = next_batch(batch_size)
        sess.run(train_op, {{X: x, Y: y, mask: m}})
"""

RULES = (
    Rule(
        code="TMG322",
        title="a masked mean of a batch that one GPU cannot take N times as large",
        why="A masked mean is weighted by the number of unmasked entries of each tower (TMG117), so that the loss is "
        "the mean over the whole batch. With a batch of a fixed size, or with a batch norm that takes statistics "
        "of a tower's examples, the original cannot take a step on that whole batch. The plain mean of its "
        "gradients on the towers' batches is a different step: there a batch of short sequences counts as much as "
        "a batch of long ones. `verify` weights the original's runs on the shards in the same way. Divide by the "
        "number of examples if all towers are to count alike. With --batch total this question does not arise for "
        "a fixed size.",
        before=_MASKED.format(loss="tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)"),
        after=_MASKED.format(loss="tf.reduce_mean(tf.reduce_sum(losses * mask, 1))"),
        references=("docs: TMG117, masked means are weighed",),
    ),
)

WORDS = {
    Found.MASKED_MEAN_OF_FIXED_SIZE: Words(
        "TMG322",
        "this loss is a masked mean, and its batch has a fixed size: each tower is weighted by its number of "
        "unmasked entries, so a step is not the plain mean of N steps of one GPU",
        "to give all towers the same weight, divide by the number of examples instead",
    ),
    Found.MASKED_MEAN_AND_BATCH_NORM: Words(
        "TMG322",
        "this loss is a masked mean, and a batch norm takes statistics of each tower's examples: each tower is "
        "weighted by its number of unmasked entries, so a step is not the plain mean of N steps of one GPU",
        "to give all towers the same weight, divide by the number of examples instead",
    ),
}
