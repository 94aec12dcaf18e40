"""A tower that has one example squeezes the batch axis away, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.arrays.rows import rows_of
from converter.analysis.arrays.shapes import shape_of
from converter.analysis.values import Input, Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.region.inputs import batch_inputs
from converter.planner.writing.findings import error, warn
from converter.rule import Rule

PAIR = 2  # rows of which a squeeze keeps the axis; the number of towers where the visible GPUs tell it

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

_VALUES = """\
import numpy as np
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 6])
Y = tf.placeholder(tf.float32, [None, 4])
values = {squeezed}
loss = tf.reduce_mean(tf.square(values - Y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        action = np.argmax(sess.run(values, {{X: [state]}}){row})
        states, targets = replay.sample(batch_size)
        sess.run(train_op, {{X: states, Y: targets}})
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
    Rule(
        code="TMG261",
        title="a result is squeezed to a vector for a single example",
        why="No axis of this tensor has length one but that of the batch, when one example is fed: tf.squeeze without "
        "an axis is meant for that example, whose result loses the batch axis. The towers put their results together "
        "along that axis, and take one row for one example: of the vector they would take the first number only. Fetch "
        "the result as it is, and take its first row. Where the towers share a batch of so few rows that one of them "
        "has a single one in each step, no step could be made: say which axis is to be squeezed.",
        before=_VALUES.format(squeezed="tf.squeeze(tf.layers.dense(X, 4))", row=""),
        after=_VALUES.format(squeezed="tf.layers.dense(X, 4)", row="[0]"),
        references=("docs: TMG104, results are put together", "TensorFlow 1.15, squeeze (array_ops.py)"),
    ),
)


@check(Placed)
def squeezed_rows(case: Placed) -> Iterator[Diagnostic]:
    """Squeezes in the towers that name no axis, of tensors with any number of rows."""
    if all(fixed_size(value) is not None for value in batch_inputs(case.steps)):
        return
    gpus = case.options.num_gpus or PAIR
    for tensor in case.facts.tensors:
        call = tensor.node
        if tensor.op != "squeeze" or not isinstance(call, ast.Call) or tensor.batch.kind != "example":
            continue
        named = len(call.args) > 1 or any(k.arg in (None, "axis", "squeeze_dims") for k in call.keywords)
        inside = any(region.in_tower(tensor.site) for region in case.regions)
        if not inside or named:
            continue
        few = _rows_of_steps(case, tensor)
        if few is not None and few < PAIR * gpus:
            yield error(
                case.facts,
                call,
                "TMG261",
                f"each step is fed {few} examples, of which one of {gpus} towers has a single one: there this squeeze "
                "removes the batch axis, along which the towers' results are put together",
                "say which axis is to be squeezed",
            )
        elif _is_for_one_example(case, tensor):
            yield error(
                case.facts,
                call,
                "TMG261",
                "for one example this squeeze removes the batch axis, along which the towers' results are put together",
                "fetch the tensor as it is, and take its first row: sess.run(values, …)[0]",
            )
        else:
            yield warn(
                case.facts,
                call,
                "TMG385",
                "a tower whose share of a batch is one example squeezes the batch axis away, too",
                "say which axis is to be squeezed",
            )


def _rows_of_steps(case: Placed, squeezed: Tensor) -> int | None:
    """How many rows the towers share in a step where the script shows it, None where it does not."""
    trained = {step.result.uid for step in case.steps}
    counts: list[int] = []
    for run in case.facts.runs if case.options.batch == "total" else ():
        for key, value in run.feeds if run.computes(trained) else ():
            if isinstance(key, Input) and key in squeezed.roots:
                shape, axis = shape_of(value), key.batch.axis
                counted = None if axis else rows_of(case.facts, value, run.site)
                rows = shape[axis] if shape and axis < len(shape) else getattr(counted, "value", None)
                counts += [rows] if isinstance(rows, int) else []
    return min(counts, default=None)


def _is_for_one_example(case: Placed, squeezed: Tensor) -> bool:
    """Whether a squeeze changes nothing in a step, and a run without a step fetches what it gives."""
    whole = squeezed.inputs[0] if squeezed.inputs else None
    if not isinstance(whole, Tensor) or whole.dims is None or whole.batch.kind != "example":
        return False
    others = [dim for axis, dim in enumerate(whole.dims) if axis != whole.batch.axis]
    if not others or any(dim in (None, 1) for dim in others):
        return False
    trained = {step.result.uid for step in case.steps}
    return any(squeezed in run.fetches and not run.computes(trained) for run in case.facts.runs)
