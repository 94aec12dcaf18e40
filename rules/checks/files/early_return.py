"""Another script may return early from the function that builds the model."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.questions.statements import returns
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

RULES = (
    Rule(
        code="TMG263",
        title="another script may return early from the function that builds the model",
        why="Other scripts that import a changed file go on building the model for one GPU, by the same statements "
        "as before and in their order (TMG127). Here the towers' statements stand on both sides of a with block's "
        "return: behind the loop the block is opened once more for it, and a script for which the function ends "
        "there would build what follows, too. Return behind the loss, or build what the other script needs by a "
        "function of its own. The example is converted in place.",
        before=_LEFT_EARLY,
        after=_LEFT_EARLY.replace("        if not training:\n            return probs\n", "").replace(
            "    loss =", "    if not training:\n        return probs\n    loss ="
        ),
    ),
)


@check(Shared)
def returns_in_front_of_the_loss(case: Shared) -> Iterator[Diagnostic]:
    """Other scripts that import a model which may return early, before statements that cannot keep their order."""
    ends = [s for region in case.regions for stmts in region.behind.values() for s in stmts if returns(s)]
    if ends and case.users:
        where = f"{case.facts.shown(ends[0])}:{ends[0].lineno}"
        yield at_user(
            case.facts,
            case.users[0],
            "TMG263",
            f"it imports the model, which may return at {where}, in front of the loss",
            "return after the loss there, or give this script a function of its own",
        )
