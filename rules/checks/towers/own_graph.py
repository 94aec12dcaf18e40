"""A part of the model stands in a block that makes a graph or a session."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
{before}
with tf.Graph().as_default(), tf.Session() as sess:
    Y = tf.placeholder(tf.float32, [None, 10])
    {read}
    loss = tf.reduce_mean(tf.square(tf.layers.dense(features, 10) - Y))
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{{fed}Y: labels}})
"""
_FIRST = """\
with tf.Graph().as_default(), tf.Session() as sess:
    X = tf.placeholder(tf.float32, [None, 784])
    features = sess.run(tf.sqrt(X), {X: photos})
"""
_READ = "X = tf.placeholder(tf.float32, [None, 784])\n    features = tf.sqrt(X)"

RULES = (
    Rule(
        code="TMG276",
        title="a part of the model stands in a block that makes a graph or a session",
        why="The towers would execute a `with` block, or open it once more behind the loop, that makes a new graph "
        "or a new session each time: what is in one graph cannot be read in another. This happens where the loss "
        "reads a result that was computed in an earlier graph. Put all that is computed from a batch into the block "
        "of the training step.",
        before=_SCRIPT.format(before=_FIRST, read="# a whole data set", fed=""),
        after=_SCRIPT.format(before="", read=_READ, fed="X: images, "),
        references=("TensorFlow 1.15, Graph.as_default (ops.py)",),
    ),
)

MADE_ANEW = ("Graph", "Session", "InteractiveSession", "MonitoredTrainingSession", "MonitoredSession")


@check(Placed)
def blocks_of_own_graphs(case: Placed) -> Iterator[Diagnostic]:
    """Blocks among the statements of the towers that make a graph or a session when they are opened."""
    for region in case.regions:
        for block in _blocks(region.block.body[index] for index in sorted(region.tower) if index >= 0):
            if any(map(_makes_anew, block.items)):
                yield error(
                    case.facts,
                    block,
                    "TMG276",
                    "this block makes a graph or a session, and a part of it, or of another one, is the model's",
                    "put the placeholders, the model and the training step into one such block",
                )


def _blocks(statements: Iterable[ast.stmt]) -> Iterator[ast.With]:
    """The `with` blocks among statements, and those inside of each other."""
    for stmt in statements:
        if isinstance(stmt, ast.With):
            yield stmt
            yield from _blocks(stmt.body)


def _makes_anew(item: ast.withitem) -> bool:
    calls = (node.func for node in ast.walk(item.context_expr) if isinstance(node, ast.Call))
    return any(getattr(func, "attr", getattr(func, "id", "")) in MADE_ANEW for func in calls)
