"""Another file of the project would have to change."""

from __future__ import annotations

import os
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.rule import Rule

MODEL = """\
# --- model.py ---
import tensorflow as tf


def train_step(x, y):
    logits = tf.layers.dense(x, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    return tf.train.AdamOptimizer(0.001).minimize(loss)


# --- train.py ---
import tensorflow as tf
from model import train_step

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
train_op = train_step(X, Y)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""

RULES = (
    Rule(
        code="TMG221",
        title="another file of the project would have to change",
        why="The model, the gradients or the batch size stand in a file that the script imports, and that "
        "file has to change with it. With -o FILE, and on standard output, only one file is written. "
        "--output-dir DIR writes the script, the files that change with it and the module of their helpers; "
        "--in-place changes them where they are. Or let the other file define the parts and this one put "
        "them together: build the model and minimise its loss here.",
        before=MODEL,
        after="""\
# --- model.py ---
import tensorflow as tf


def loss_of(x, y):
    logits = tf.layers.dense(x, 10)
    return tf.losses.sparse_softmax_cross_entropy(y, logits)


# --- train.py ---
import tensorflow as tf
from model import loss_of

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
loss = loss_of(X, Y)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)


@check(Shared)
def other_files_must_change(case: Shared) -> Iterator[Diagnostic]:
    """Other files of the project that must change, where only the script's conversion is written."""
    if len(case.plans) < 2 or case.sources.several:
        return
    facts = case.facts
    first = next(at for plan in case.plans for at in plan.places() if at.path)
    here = os.path.dirname(os.path.abspath(facts.path))
    names = sorted({os.path.relpath(plan.path, here) for plan in case.plans[1:]})
    yield Diagnostic(
        "TMG221",
        facts.shown(facts.modules[first.path].tree.body[0]),
        first.line,
        first.column + 1,
        message=f"{' and '.join(names)} must change with the script",
        hint="write all of them: --output-dir DIR, or --in-place",
    )
