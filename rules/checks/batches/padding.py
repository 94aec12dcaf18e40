"""Sequences that are padded to the longest of their batch, of which a tower sees a share."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.found import Found
from converter.planner.host.padding import not_cut, uncut_lengths
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG227",
        title="a mask is as wide as the longest sequence of a shard",
        why="tf.sequence_mask without maxlen makes a mask as wide as the longest of the given sequences. If the "
        "lengths are an input of their own, or are computed from an input in a statement of their own, the towers "
        "use the longest of the whole batch. If the model computes them otherwise, only the lengths of the "
        "tower's shard are known, while its sequences are padded for the whole batch. The mask would then be too "
        "narrow: feed the lengths, or give maxlen.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.int32, [None, None])
Y = tf.placeholder(tf.int64, [None, None])
logits = tf.layers.dense(tf.one_hot(X, 100), 10)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y)
loss = tf.reduce_mean(tf.boolean_mask(losses, tf.sequence_mask(tf.reduce_sum(tf.sign(X), 1))))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y = next_batch(batch_size)
        sess.run(train_op, {X: x, Y: y})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.int32, [None, None])
Y = tf.placeholder(tf.int64, [None, None])
lengths = tf.placeholder(tf.int32, [None])
logits = tf.layers.dense(tf.one_hot(X, 100), 10)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y)
mask = tf.sequence_mask(lengths, maxlen=tf.shape(X)[1])
loss = tf.reduce_mean(tf.boolean_mask(losses, mask))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        x, y, n = next_batch(batch_size)
        sess.run(train_op, {X: x, Y: y, lengths: n})
""",
        references=("tf.sequence_mask (tensorflow/python/ops/array_ops.py, 1.15)",),
    ),
)

WORDS = {
    Found.DECODER_OF_SHARD: Words(
        "TMG227",
        "this decoder stops at the longest sequence of a tower's shard, but the batch is padded to the longest of "
        "all",
        "feed the lengths that its helper takes as a separate input",
    ),
    Found.MASK_OF_SHARD: Words(
        "TMG227",
        "this mask is as wide as the longest sequence of a tower's shard, but the batch is as wide as the longest of "
        "all",
        "give it the width of the padded batch: maxlen=tf.shape(x)[1]",
    ),
}


@check(Placed)
def as_wide_as_a_shard(case: Placed) -> Iterator[Diagnostic]:
    """Masks and decoders that end at the longest sequence of a shard, where the batch goes on to that of all shards."""
    for uncut in uncut_lengths(case.facts, case.regions):
        yield not_cut(case.facts, uncut)
