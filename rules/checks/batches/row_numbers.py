"""An example is treated by its row number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import behind_losses
from converter.analysis.reasons import Why
from converter.analysis.tensors.places import RANGES
from converter.analysis.traits import Trait, has
from converter.analysis.values import Tensor, Value
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed, Selected
from converter.planner.checking import check
from converter.planner.region.inputs import uncut_values
from converter.planner.writing.findings import error, warn
from converter.rule import Rule

_ROWS_TOLD_APART = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 10])
rows = tf.range(tf.shape(X)[0])
predicted = tf.layers.dense(X, 10)
error = tf.where(tf.equal(rows % 2, 0), tf.square(predicted - Y), tf.abs(predicted - Y))
loss = tf.reduce_mean(error)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
"""
_EXAMPLES_TOLD_APART = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 10])
even = tf.placeholder(tf.bool, [None])
predicted = tf.layers.dense(X, 10)
error = tf.where(even, tf.square(predicted - Y), tf.abs(predicted - Y))
loss = tf.reduce_mean(error)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels, is_even = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels, even: is_even})
"""

_NUMBERED = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 32, 32, 3])
Y = tf.placeholder(tf.int64, [None])
boxes = tf.placeholder(tf.float32, [None, 4])
{more}crops = tf.image.crop_and_resize(X, boxes, {{number}}, [8, 8])
logits = tf.layers.dense(tf.layers.flatten(tf.reshape(crops, [-1, 8, 8, 3])), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels, b = next_batch(batch_size)
        sess.run(train_op, {{X: images, Y: labels, boxes: b}})
"""

RULES = (
    Rule(
        code="TMG244",
        title="an example is treated by its row number, in a batch that the towers share",
        why="`tf.range` over the batch numbers its rows. As places in the batch (for tf.gather_nd, to pick a value of "
        "each row) such numbers are right in each tower, which counts its own rows. But if they are compared, "
        "taken modulo a number, or looked up in a table, the result for an example depends on its place in the "
        "batch. Each tower counts from 0, so in a batch that the towers share other examples would be chosen than "
        "on one GPU.",
        before=_ROWS_TOLD_APART,
        after=_EXAMPLES_TOLD_APART,
        options=("--batch", "total"),
        references=("docs: TMG317, where each tower has a batch of its own",),
    ),
    Rule(
        code="TMG317",
        title="an example is treated by its row number",
        why="`tf.range` over the batch numbers its rows, and the result for an example depends on this number. Each "
        "tower counts the rows of its own batch from 0, as the script did on one GPU with its batch. Only if the "
        "last batch of an epoch is smaller and shared by the towers, its rows get other numbers than on one GPU.",
        before=_ROWS_TOLD_APART,
        after=_EXAMPLES_TOLD_APART,
        references=("docs: TMG244, where the towers share a batch",),
    ),
    Rule(
        code="TMG249",
        title="rows of the batch are picked by numbers that are fed",
        why="The model picks rows of its batch, or puts values into them, by numbers that come in beside the batch: "
        "tf.gather, tf.nn.embedding_lookup of a batch, tf.gather_nd, tf.scatter_nd, tf.sparse_to_dense, "
        "tf.image.crop_and_resize. The script counts the rows of all that it feeds. A tower has a part of these rows, "
        "and would take others for those that are meant, or none. Rows that the graph numbers itself, by tf.range over "
        "the batch, are right in each tower.",
        before=_NUMBERED.format(more="numbers = tf.placeholder(tf.int32, [None])\n")
        .replace("{number}", "numbers")
        .replace("boxes: b", "boxes: b, numbers: range(len(b))"),
        after=_NUMBERED.format(more="").replace("{number}", "tf.range(tf.shape(X)[0])"),
        references=("tf.image.crop_and_resize (tensorflow/python/ops/image_ops_impl.py, 1.15)",),
    ),
)


@check(Placed)
def told_apart_by_row(case: Placed) -> Iterator[Diagnostic]:
    """Rows that are told apart by their numbers: refused where a tower takes a part of a batch.

    Each tower counts its rows from 0: as the original does on a batch of its own, but not within one batch for all.
    """
    in_towers = [step for group in case.groups if not group.region.exact for step in group.steps]
    numbers: dict[int, Value] = {}
    fractions: set[int] = set()  # those of them that no place in the batch is computed from any more
    for value in sorted(behind_losses(in_towers).values(), key=lambda v: v.uid):
        if not isinstance(value, Tensor):
            continue
        parts = [v for v in value.inputs if isinstance(v, Tensor)]
        counted = [v for v in parts if v.uid in numbers]
        numbered = value.op in RANGES and value.batch.kind == "example"
        weighs = any(v.uid in fractions for v in counted) and any(_is_data(v) for v in parts if v not in counted)
        if not weighs and (numbered or counted and has(value.op, Trait.PASSES_ROW_NUMBERS)):
            numbers[value.uid] = value
            if _becomes_float(value) or any(v.uid in fractions for v in counted):
                fractions.add(value.uid)
        elif weighs or (len(counted) == 1 and has(value.op, Trait.TELLS_ROWS)) or (counted and _looks_up(value)):
            message = "the number of an example's row decides what is computed for it, and each tower counts from 0"
            node = value.node or case.steps[0].call
            if case.options.batch == "total":
                yield error(case.facts, node, "TMG244", message, "distinguish examples by a value that is fed with "
                "them")
            else:
                hint = "check that each GPU may count the rows of a smaller last batch from 0"
                yield warn(case.facts, node, "TMG317", message, hint)
            return


def _becomes_float(value: Tensor) -> bool:
    """Whether numbers become floats: `tf.cast(rows, tf.float32)`, `tf.to_float(rows)`."""
    if has(value.op, Trait.FLOAT32):
        return True
    call = value.node
    given = [*call.args[1:], *(k.value for k in call.keywords)] if isinstance(call, ast.Call) else []
    return has(value.op, Trait.TAKES_DTYPE) and any("float" in ast.unparse(node) for node in given)


def _is_data(value: Tensor) -> bool:
    return value.batch.kind == "example"


def _looks_up(value: Tensor) -> bool:
    """Whether rows are numbers in a table which is no batch."""
    table = value.inputs[0] if value.inputs else None
    return has(value.op, Trait.LOOKS_UP) and (not isinstance(table, Tensor) or table.batch.kind == "free")


@check(Selected)
def numbered_by_the_script(case: Selected) -> Iterator[Diagnostic]:
    """Rows of the batch that are picked by numbers which are fed."""
    yield from uncut_values(
        case.facts,
        case.steps,
        "TMG249",
        {
            Why.PLACES_FED: "number the rows in the graph: tf.range(tf.shape(x)[0]), for a batch x that goes with them"
            "; where the rows are a table that is fed, --shared NAME"
        },
    )
