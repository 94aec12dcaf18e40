"""Labels that are fed as one long row, although the towers cut sequences."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.arrays.shapes import arguments_of
from converter.analysis.facts import TrainStep
from converter.analysis.values import Host, Input, Number, Sequence, Tensor, Value
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule

FLATTENS = ("flatten", "ravel", "numpy.ravel")
RESHAPES = {"reshape": 0, "numpy.reshape": 1}
_SCRIPT = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.int32, [None, None])
Y = {labels}
hidden, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(64), tf.one_hot(X, 100), dtype=tf.float32)
logits = tf.layers.dense(tf.reshape(hidden, [-1, 64]), 100)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels={read}, logits=logits))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        words, following = next_batch(batch_size)
        sess.run(train_op, {{X: words, Y: following{fed}}})
"""

RULES = (
    Rule(
        code="TMG257",
        title="an input is fed as one long row, with several entries for each example",
        why="The script flattens the labels of a batch before it feeds them, so that this input has as many entries as "
        "all sequences have steps, and the other inputs one row for each sequence. Each tower gets some of the "
        "sequences; the labels cannot be cut by the same rows. Feed them as they are, one row for each example, and "
        "flatten them in the model.",
        before=_SCRIPT.format(labels="tf.placeholder(tf.int32, [None])", read="Y", fed=".flatten()"),
        after=_SCRIPT.format(labels="tf.placeholder(tf.int32, [None, None])", read="tf.reshape(Y, [-1])", fed=""),
        references=("docs: TMG103, inputs are cut into shards",),
    ),
)


@check(Placed)
def flattened_inputs(case: Placed) -> Iterator[Diagnostic]:
    """Inputs that are fed flattened, and in the model meet several rows for each example."""
    met = {key.uid: step for step in case.steps for key in _beside_packed(step)}
    for run in case.facts.runs:
        for key, fed in run.feeds:
            if key.uid in met and run.computes({met[key.uid].result.uid}) and _is_flattened(fed):
                yield error(
                    case.facts,
                    run.feed_node or run.call,
                    "TMG257",
                    "an input is fed here as one long row, with several entries for each example of the others",
                    "feed it with one row for each example, and flatten it in the model: tf.reshape(labels, [-1])",
                )
                return


def _beside_packed(step: TrainStep) -> Iterator[Input]:
    """Inputs that are computed with a tensor of several rows for each example, and themselves have one axis."""
    for tensor in step.behind.values():
        parts = [v for v in tensor.inputs if isinstance(v, Tensor)] if isinstance(tensor, Tensor) else []
        if any(part.batch.kind == "example" and part.batch.packed for part in parts):
            plain = [part for part in parts if part.batch.kind == "example" and not part.batch.packed]
            yield from (root for part in plain for root in part.roots if isinstance(root, Input))


def _is_flattened(fed: Value) -> bool:
    """Whether a fed array is `rows.flatten()`, or the like."""
    if not isinstance(fed, Host) or not isinstance(fed.node, ast.Call):
        return False
    if fed.call not in RESHAPES:
        return fed.call in FLATTENS
    given = arguments_of(fed, fed.node)
    if given is None or len(given.positions) > RESHAPES[fed.call] + 1:
        return False
    shape = given.get(RESHAPES[fed.call], "newshape", "shape")
    return isinstance(shape, Number) or (isinstance(shape, Sequence) and len(shape.elements) == 1 and not shape.many)
