"""A tower that has one example squeezes the batch axis away, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.region.inputs import batch_inputs
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None])
prediction = tf.squeeze(tf.layers.dense(X, 1){axis})
loss = tf.reduce_mean(tf.square(prediction - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{X: images, Y: labels}})
"""

RULES = (
    Rule(
        code="TMG385",
        title="a tower that has one example squeezes the batch axis away",
        why="tf.squeeze without an axis removes all axes of length one. Where a tower's share of a batch is one "
        "example, as with the last batch of an epoch or with very small ones, the batch axis has length one, too: "
        "this tower's result has one axis less than the others', and cannot be concatenated with them. Say which "
        "axis is meant.",
        before=_SCRIPT.format(axis=""),
        after=_SCRIPT.format(axis=", 1"),
        references=("TensorFlow 1.15, squeeze (array_ops.py)",),
    ),
)


@check(Placed)
def squeezed_rows(case: Placed) -> Iterator[Diagnostic]:
    """Squeezes in the towers that name no axis, of tensors with any number of rows."""
    if all(fixed_size(value) is not None for value in batch_inputs(case.steps)):
        return
    for tensor in case.facts.tensors:
        call = tensor.node
        if tensor.op != "squeeze" or not isinstance(call, ast.Call) or tensor.batch.kind != "example":
            continue
        named = len(call.args) > 1 or any(k.arg in (None, "axis", "squeeze_dims") for k in call.keywords)
        inside = any(region.in_tower(tensor.site) for region in case.regions)
        if inside and not named:
            yield warn(
                case.facts,
                call,
                "TMG385",
                "a tower whose share of a batch is one example squeezes the batch axis away, too",
                "say which axis is to be squeezed",
            )
