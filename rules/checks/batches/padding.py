"""Sequences that are padded to the longest of their batch, of which a tower sees a share."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.found import Found
from converter.planner.host.padded_widths import depends_on_width, padded_inputs
from converter.planner.host.padding import not_cut, uncut_lengths
from converter.planner.wording import Words
from converter.planner.writing.findings import warn
from converter.rule import Rule

_PADDED = """\
import numpy as np
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.int32, [None, None])
Y = tf.placeholder(tf.int64, [None, None])
lengths = tf.placeholder(tf.int32, [None])
table = tf.get_variable('table', [10000, 50])
cell = tf.nn.rnn_cell.GRUCell(64)
outputs, _ = tf.nn.dynamic_rnn(cell, tf.nn.embedding_lookup(table, X), lengths, dtype=tf.float32)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=tf.layers.dense(outputs, 10), labels=Y)
{loss}
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)


def pad(rows):
    longest = max(map(len, rows))
    return np.array([row + [0] * (longest - len(row)) for row in rows])


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, len(sentences), batch_size):
        x, y = sentences[begin:begin + batch_size], tags[begin:begin + batch_size]
        sess.run(train_op, {{X: pad(x), Y: pad(y), lengths: [len(row) for row in x]}})
"""

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
    Rule(
        code="TMG349",
        title="a larger batch is padded further, and the loss depends on the padding",
        why="Each batch is padded to the longest of its sequences: by the script, by tf.data's padded_batch, or by a "
        "queue with dynamic_pad. The batch of N GPUs is as wide as the longest of N batches, so that sequences of the "
        "others get more padding than in the original. A loss that leaves the padding out does not change. One that is "
        "a mean over all positions does, and so does a net that reads the padding as if it were data: a step is then "
        "not that of the original on the N batches. Nothing is wrong with the conversion as such (one GPU with the "
        "larger batch computes the same), but the loss is another number. `verify` compares losses on the "
        "conversion's own rows, as wide as they are there, and leaves the padding out where it compares the data. With "
        "--batch total the batch is the original's.",
        before=_PADDED.format(loss="loss = tf.reduce_mean(losses)"),
        after=_PADDED.format(
            loss="mask = tf.sequence_mask(lengths, tf.shape(X)[1], tf.float32)\n"
            "loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)"
        ),
        references=("docs: TMG117, masked means are weighed", "docs: TMG138, the longest sequence of the whole batch"),
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


@check(Placed)
def padded_further(case: Placed) -> Iterator[Diagnostic]:
    """Batches that are as wide as their longest sequence, where the loss depends on it and the batch grows."""
    if case.options.batch != "per-gpu":
        return
    padded = padded_inputs(case.facts, case.steps, case.size.scaled)
    wider = [step for step in case.steps if depends_on_width(case.facts, step, padded.keys())]
    for node in dict.fromkeys(node for i, node in padded.items() if any(i in step.behind.values() for step in wider)):
        yield warn(
            case.facts,
            node,
            "TMG349",
            "each batch is padded here to its longest sequence, and the loss depends on the padding: the larger batch "
            "pads most sequences further than the original's batches do",
            "leave the padding out of the loss by a mask of the lengths, or pad all batches to one length",
        )
