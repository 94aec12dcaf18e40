"""Steps that take other pieces of the data than the original's: more rows of a series, batches that overlap."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.batch_size.overlapping import overlapping
from converter.planner.batch_size.streams import streams
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 20
steps = 35
words = np.load('words.npy')
{cut}
X = tf.placeholder(tf.int32, [None, steps])
Y = tf.placeholder(tf.int32, [None, steps])
table = tf.get_variable('table', [10000, 200])
scores = tf.layers.dense(tf.nn.embedding_lookup(table, X), 10000)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=Y, logits=scores))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
{loop}
"""
_BEFORE = """\
length = len(words) // batch_size
data = np.reshape(words[:batch_size * length], [batch_size, length])"""
_BEFORE_LOOP = """\
    for begin in range(0, length - steps, steps):
        sess.run(train_op, {X: data[:, begin:begin + steps], Y: data[:, begin + 1:begin + steps + 1]})"""
_AFTER = """\
count = (len(words) - 1) // steps
data, following = words[:count * steps].reshape([-1, steps]), words[1:count * steps + 1].reshape([-1, steps])"""
_AFTER_LOOP = """\
    for begin in range(0, count, batch_size):
        sess.run(train_op, {X: data[begin:begin + batch_size], Y: following[begin:begin + batch_size]})"""

RULES = (
    Rule(
        code="TMG344",
        title="a larger batch takes other rows than the original's batches together",
        why="A text, or another long series, is cut into batch_size rows, and each step takes the next pieces of all "
        "rows. The batch of N GPUs has N times the rows, each a part of the length: an epoch still goes through all of "
        "the data once, but a step takes pieces from other places than N steps of the original do. For a "
        "recurrent net that carries a state from step to step there is no other way, as each row continues one state. "
        "Where no state is carried it makes no difference which pieces stand side by side; pieces that are made "
        "first and then taken by batches come in the original's order. The same is true of batches that begin at every "
        "row, or at every tenth, and not one behind the other (`x[i:i + batch_size]` in `for i in range(n)`): a larger "
        "batch reaches further, so that two of them share more rows. `verify` lists the data as a difference.",
        before=_SCRIPT.format(cut=_BEFORE, loop=_BEFORE_LOOP),
        after=_SCRIPT.format(cut=_AFTER, loop=_AFTER_LOOP),
        references=("docs: TMG110, the batch size",),
    ),
)


@check(Placed)
def cut_into_rows(case: Placed) -> Iterator[Diagnostic]:
    """Data whose rows are as many as a batch has, if the batch grows."""
    for node in streams(case.facts, case.size.scaled) if case.options.batch == "per-gpu" else ():
        yield warn(
            case.facts,
            node,
            "TMG344",
            "the data is cut into as many rows as a batch has, and a larger batch has more and shorter ones: steps "
            "take pieces from other places than the original's",
            "cut the data into pieces first and take batches of these, if their order matters",
        )


@check(Placed)
def taken_in_windows(case: Placed) -> Iterator[Diagnostic]:
    """Batches that do not begin where the one before ends, if the batch grows. Says so once."""
    if case.options.batch != "per-gpu":
        return
    for node in overlapping(case.facts, case.steps, case.size.scaled):
        yield warn(
            case.facts,
            node,
            "TMG344",
            "batches begin here at numbers that do not go on by the batch size: the larger batch takes other rows than "
            "the original's batches together",
            "let the loop go on by the batch size, or take windows of a fixed length and batches of these",
        )
        return
