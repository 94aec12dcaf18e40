"""The script counts by a number that is as large as the batch size, or by a fixed number of batches."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.batch_size.counts import counted_again, divided_apart, fixed_strides, fixed_turns, other_sizes
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf
{head}
X = tf.placeholder(tf.float32, [None, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 10)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in {steps}:
{body}
"""
_NEXT = """\
        sess.run(train_op, {X: next_batch(%s)})
        print('examples seen:', (step + 1) * %s)"""
_SLICE = """\
        sess.run(train_op, {X: images[step * batch_size:(step + 1) * batch_size]})"""
_NAMED = "\nbatch_size = 64"
_EPOCH = "range(len(images) // batch_size)"

RULES = (
    Rule(
        code="TMG338",
        title="a count of steps is multiplied by a number that equals the batch size",
        why="The batch size is written as a plain number where batches are made, and grows with the number of GPUs "
        "there. The same number stands beside a count of steps, or it is 100 and stands beside a share of all "
        "examples. If it counts examples, it has to grow too; if it makes a percentage, or is a number of steps, it "
        "must not. The tool does not guess, and leaves it as it is.",
        before=_SCRIPT.format(head="", steps="range(100)", body=_NEXT % ("64", "64")),
        after=_SCRIPT.format(head=_NAMED, steps="range(100)", body=_NEXT % ("batch_size", "batch_size")),
        references=("docs: TMG110, how the number is followed",),
    ),
    Rule(
        code="TMG339",
        title="a loop with a fixed number of iterations slices batches out of a data set",
        why="Each iteration takes the rows from its number times the batch size on. With N times as many rows in a "
        "batch, the same number of iterations reaches N times as far, and batches past the end of the data are "
        "empty. No computation of the number of iterations from the batch size was found.",
        before=_SCRIPT.format(head=_NAMED, steps="range(10)", body=_SLICE),
        after=_SCRIPT.format(head=_NAMED, steps=_EPOCH, body=_SLICE),
        references=("docs: TMG110, how the number is followed",),
    ),
    Rule(
        code="TMG399",
        title="the steps are counted by another number than the batch size",
        why="The batches are made by one number, and the loop around the training steps counts them by another one, "
        "which is named as a batch size, too. The first grows with the number of GPUs. The second may be as large by "
        "chance or by intention, and may count other things. It stays: as many steps take N times the examples, and "
        "what is computed from it, such as the steps of a decay, stays as well.",
        before=_SCRIPT.format(head=_NAMED, steps=_EPOCH, body="        sess.run(train_op, {X: next_batch(64)})"),
        after=_SCRIPT.format(head=_NAMED, steps=_EPOCH, body="        sess.run(train_op, {X: next_batch(batch_size)})"),
        references=("docs: TMG110, how the number is followed",),
    ),
)


@check(Placed)
def counted_apart(case: Placed) -> Iterator[Diagnostic]:
    """Numbers beside a count of steps that are as large as a batch size that grows."""
    if case.options.batch != "per-gpu":
        return
    doubtful = counted_again(case.facts, case.steps, case.size.scaled).doubtful
    for node in doubtful:
        yield warn(
            case.facts,
            node,
            "TMG338",
            "this number equals the batch size, and was left unchanged: if it counts examples, the count is now too "
            "small",
            "give the batch size a name, and use the name wherever examples are counted",
        )
    for node in (n for n in divided_apart(case.facts, case.size.scaled) if n not in doubtful):
        yield warn(
            case.facts,
            node,
            "TMG338",
            "this number equals the batch size, and was left unchanged: if a number of examples is divided by it, the "
            "number of steps is now N times too large",
            "give the batch size a name, and divide by that",
        )


@check(Placed)
def turns_that_stay(case: Placed) -> Iterator[Diagnostic]:
    """Loops that walk through rows by the batch size, as often as before. Says so once."""
    if case.options.batch != "per-gpu":
        return
    for node in fixed_turns(case.facts, case.steps, case.size.scaled):
        yield warn(
            case.facts,
            node,
            "TMG339",
            "this loop has a fixed number of iterations, and each takes the rows at its number times the batch size: "
            "the batches now reach N times as far, perhaps past the last row",
            "compute the number of iterations from the batch size: len(data) // batch_size",
        )
        return
    for node in fixed_strides(case.facts, case.steps, case.size.scaled):
        yield warn(
            case.facts,
            node,
            "TMG339",
            "this loop has a fixed number of iterations, and each moves on by the batch size: the batches now reach N "
            "times as far, perhaps past the last row",
            "compute the number of iterations from the batch size: len(data) // batch_size",
        )
        return


@check(Placed)
def counted_by_another(case: Placed) -> Iterator[Diagnostic]:
    """Loops around the training steps that are counted by another batch size than the one that grows. Says so once."""
    if case.options.batch != "per-gpu":
        return
    for node, name in other_sizes(case.facts, case.steps, case.size.scaled):
        yield warn(
            case.facts,
            node,
            "TMG399",
            f"the training steps are counted by this {name}, and the batches are made by another number: that one "
            "grows, and as many steps take N times the examples",
            "make the batches, and count them, by one number",
        )
        return
