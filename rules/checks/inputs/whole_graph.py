"""Methods that take a whole graph in each step: its nodes have no shards."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.facts import behind_losses
from converter.analysis.reasons import Why
from converter.analysis.values import Tensor, Variable
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected
from converter.planner.checking import check
from converter.planner.writing.findings import error
from converter.rule import Rule
from rules.checks.batches.variable_of_batch_size import FED_STATE

RULES = (
    Rule(
        code="TMG233",
        title="the batch is multiplied with a matrix over all of its examples",
        why="A matrix that says how each example goes into each other one (the adjacency matrix of a graph "
        "beside its nodes, a kernel) has a row and a column for every example. A tower that holds some of "
        "the rows would need all of the columns, and the features of all nodes: cutting both along the "
        "batch gives products of other nodes, or none at all. Train on sampled batches of nodes, each with "
        "its own neighbours. Variables with a row for each example that is fed (a factorised matrix) fit no "
        "shard either. Where the examples are the columns of what is fed, say so: --batch-axis NAME=1.",
        before="""\
import tensorflow as tf

features = tf.placeholder(tf.float32, [None, 16])
adjacency = tf.placeholder(tf.float32, [None, None])
Y = tf.placeholder(tf.int64, [None])
logits = tf.matmul(adjacency, tf.layers.dense(features, 10))
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {features: load_nodes(), adjacency: load_graph(), Y: load_labels()})
""",
        after="""\
import tensorflow as tf

batch_size = 64
features = tf.placeholder(tf.float32, [None, 16])
neighbours = tf.placeholder(tf.float32, [None, 10, 16])
Y = tf.placeholder(tf.int64, [None])
mean = tf.reduce_mean(neighbours, 1)
logits = tf.layers.dense(features, 10) + tf.layers.dense(mean, 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        nodes, around, labels = next_batch(batch_size)
        sess.run(train_op, {features: nodes, neighbours: around, Y: labels})
""",
    ),
)

IN_COLUMNS = "for examples in columns, --batch-axis NAME=1"


@check(Selected)
def multiplied_over_all_examples(case: Selected) -> Iterator[Diagnostic]:
    """Batches that meet a matrix over all of their examples, or variables with a row for each of them."""
    for value in behind_losses(case.steps).values():
        if not isinstance(value, Tensor):
            continue
        if value.batch.why is Why.WHOLE_GRAPH and value.op == "matmul":
            fed, hint = ", as for a graph and its nodes", f"train on sampled batches of nodes; {IN_COLUMNS}"
        elif value.batch.why is Why.MEETS_VARIABLES:
            fed, hint = _of_variables(value)
        else:
            continue
        yield error(
            case.facts,
            value.node or case.steps[0].call,
            "TMG233",
            f"{value.batch.reason}{fed}: they cannot be cut into shards",
            hint,
        )
        return


def _of_variables(value: Tensor) -> tuple[str, str]:
    """What variables with a row for each example are, and what to write in their place."""
    rows = [v for v in value.inputs if isinstance(v, Variable)]
    if rows and not any(variable.trainable for variable in rows):
        return f" ({rows[0].label or 'not trained'})", FED_STATE
    return ", as where a matrix is factorised", f"feed the numbers of some rows, and tf.gather these; {IN_COLUMNS}"
