"""A value of the towers is read after the loss and cannot be merged."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from converter.analysis.traits import Trait, has
from converter.analysis.values import Number, Tensor, Value
from converter.diagnostics import Diagnostic
from converter.planner.cases import Leaving
from converter.planner.checking import check
from converter.planner.found import Found
from converter.planner.questions.other_calls import bound_by_other_calls
from converter.planner.wording import Words
from converter.planner.writing.findings import error
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG210",
        title="a value of the towers is read after the loss and cannot be merged",
        why="The towers' values can be merged exactly in three cases: the value has a row for each example, it is a "
        "mean, or it is a sum. The maximum, the variance, a ratio of two sums, a rank or an F1 score of the whole "
        "batch cannot be computed from the towers' own, so a merge would give a wrong number. Where the script only "
        "shows it, that is warned of (TMG393); here it may decide something. If the statement "
        "that computes the value does nothing else, it is repeated after the loop; this one also makes variables, "
        "draws random numbers, or stands in a function or a loop of its own. Compute the value in a statement of "
        "its own, from tensors that have one row for each example: these are merged exactly. A loss that one call "
        "of a class or function makes and another call leaves out (`if training:`) cannot be merged either: the "
        "towers of the other call have none. A function that is called behind the loss, too, must not keep a batch as "
        "the default of an argument: pass it at each call.",
        before="""\
import tensorflow as tf

batch_size = 64


def layer(x):
    x = tf.layers.dense(x, 64)
    mean, variance = tf.nn.moments(x, [0])
    return (x - mean) / tf.sqrt(variance + 0.001), variance


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
hidden, variance = layer(X)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        _, spread = sess.run([train_op, variance], {X: images, Y: labels})
        if spread.max() > 100.0:
            break
""",
        after="""\
import tensorflow as tf

batch_size = 64


def normalised(x):
    mean, variance = tf.nn.moments(x, [0])
    return (x - mean) / tf.sqrt(variance + 0.001), variance


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
dense = tf.layers.dense(X, 64)
hidden, variance = normalised(dense)
logits = tf.layers.dense(hidden, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        _, spread = sess.run([train_op, variance], {X: images, Y: labels})
        if spread.max() > 100.0:
            break
""",
        references=("docs: TMG104, what is merged and how", "docs: TMG116, what is computed once more"),
    ),
)

WORDS = {
    Found.MADE_BY_ONE_BRANCH: Words(
        "TMG210",
        "{name} is read after the loss, and only one branch of a condition makes it",
        "let the other branch put None there",
    ),
    Found.PART_MADE_BY_ONE_BRANCH: Words(
        "TMG210",
        "{name} is read after the loss, and only one branch of a condition makes it",
        "give it a name of its own, and None in the other branch",
    ),
    Found.LEFT_BY_EARLIER_CALL: Words(
        "TMG210",
        "{name} is read after the loss, and only one branch of a condition makes it: where that is not taken, it is "
        "that of a model which an earlier call of this function has built",
        "let the other branch put None there",
    ),
    Found.FUNCTION_KEEPS_SHARD: Words(
        "TMG210",
        "{name} is called after the loss, too, with the argument that it keeps from line {line}: each tower keeps its "
        "own part of the batch there",
        "pass this argument where the function is called",
    ),
    Found.NOT_MERGEABLE: Words(
        "TMG210",
        "{name} is read after the loss, and the towers' parts of it cannot be merged: {reason}",
        "compute it from tensors that have one row for each example, after the loss",
    ),
}


@check(Leaving)
def made_by_one_call_alone(case: Leaving) -> Iterator[Diagnostic]:
    """Values that leave the towers in one call of a function, where another call goes through them without making it.

    Functions that build the model in several ways, as for training and for evaluation, have such calls.
    """
    facts, region = case.facts, case.region
    block = region.block
    if any(isinstance(n, ast.Return) for s in block.body[: min(region.tower)] for n in ast.walk(s)):
        return  # another call may be over by then
    calls = bound_by_other_calls(facts, region.block.frame, region.stmts)
    constants = {key: value for bound in calls for key, held in bound.items() for value in held if _is_integer(value)}
    own = {a.place.key for i, a in block.accesses() if i in region.tower and a.write}
    for part, node in case.wanted.values():
        key = (part.root or part.text).rpartition(".")[2]
        if key in own and any(key not in bound for bound in calls):
            yield error(
                facts,
                node,
                "TMG210",
                f"{part.text} is made by one call of the function that builds the model, and not by another: "
                "the towers of that one would miss it",
                "build the model without its loss in a function of its own",
            )
        elif key in own and part.value.roots and key in constants:
            yield error(
                facts,
                constants[key].node or node,
                "TMG210",
                f"{part.text} is an integer in another call of the function that builds the model: "
                "the towers' parts of it cannot be weighted",
                "make it a float: tf.constant(0.0)",
            )


def _is_integer(value: Value) -> TypeGuard[Tensor]:
    """Whether a value is a constant of the graph that is made of an integer, which gives it its type."""
    if not isinstance(value, Tensor) or not has(value.op, Trait.TAKES_ARRAY) or len(value.inputs) != 1:
        return False
    number = value.inputs[0]
    return isinstance(number, Number) and isinstance(number.value, int)
