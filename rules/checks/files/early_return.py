"""Another script may return early from the function that builds the model."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.questions.statements import returns
from converter.planner.region.region import Region
from converter.planner.writing.findings import at_user
from converter.rule import Rule

_LEFT_EARLY = """\
# --- model.py ---
import tensorflow as tf


def network(x, y, training):
    with tf.variable_scope('net'):
        logits = tf.layers.dense(x, 10)
        probs = tf.nn.softmax(logits)
        if not training:
            return probs
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    return loss


# --- predict.py ---
import tensorflow as tf
from model import network

X = tf.placeholder(tf.float32, [None, 784])
probs = network(X, None, False)
with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    print(sess.run(probs, {X: images}))


# --- train.py ---
import tensorflow as tf
from model import network

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = network(X, Y, True)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

_OF_ITS_OWN = """\
# --- model.py ---
import tensorflow as tf


def network(x):
    with tf.variable_scope('net'):
        return tf.layers.dense(x, 10)


# --- predict.py ---
import tensorflow as tf
from model import network

X = tf.placeholder(tf.float32, [None, 784])
probs = tf.nn.softmax(network(X))
with tf.Session() as sess:
    tf.train.Saver().restore(sess, 'model.ckpt')
    print(sess.run(probs, {X: images}))


# --- train.py ---
import tensorflow as tf
from model import network

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = network(X)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

RULES = (
    Rule(
        code="TMG263",
        title="another script may return early from the function that builds the model",
        why="Other scripts that import a changed file go on building the model for one GPU, by the same statements "
        "as before and in their order (TMG127). Here the function may return between statements that go into the "
        "towers: the loop would stand behind the return, and a script for which the function ends there would find "
        "nothing of what stands above it; or, from the middle of a with block, it would build what follows, too. "
        "Return behind the loss, or build what both scripts need by a function of its own.",
        before=_LEFT_EARLY,
        after=_OF_ITS_OWN,
    ),
)


@check(Shared)
def returns_in_front_of_the_loss(case: Shared) -> Iterator[Diagnostic]:
    """Other scripts that import a model which may return early, before statements that cannot keep their order."""
    ends = [s for region in case.regions for stmts in region.behind.values() for s in stmts if returns(s)]
    ends += [stmt for region in case.regions for stmt in _moved_up(region) if returns(stmt)]
    if ends and case.users:
        where = f"{case.facts.shown(ends[0])}:{ends[0].lineno}"
        yield at_user(
            case.facts,
            case.users[0],
            "TMG263",
            f"it imports the model, which may return at {where}, in front of the loss",
            "return after the loss there, or give this script a function of its own",
        )


def _moved_up(region: Region) -> list[ast.stmt]:
    """Statements that stand in front of the loop, and stood behind some of the towers' statements."""
    return [region.block.body[i] for i in sorted(region.before) if i > min(region.tower)]
