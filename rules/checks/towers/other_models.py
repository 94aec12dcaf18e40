"""Models that the same training step trains, and that are built beside the towers."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.values import Tensor
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.steps import executions, is_run
from converter.planner.writing.findings import error
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64


def fit(logits, X, Y):
    loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
    train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            images, labels = next_batch(batch_size)
            sess.run(train_op, {X: images, Y: labels})
"""
_INPUTS = """\
    tf.reset_default_graph()
    X = tf.placeholder(tf.float32, [None, 784])
    Y = tf.placeholder(tf.int64, [None])
"""
_LAYERS = (
    "logits = tf.layers.dense(X, 10)",
    "hidden = tf.layers.dense(X, 100)",
    "logits = tf.layers.dense(hidden, 10)",
)

RULES = (
    Rule(
        code="TMG277",
        title="one of several models that a function trains would be in no tower",
        why="A function that trains what it is given is called for several models, each built by statements of its "
        "own. The loop of the towers goes around the statements of one of them. The others would take the larger "
        "batch, too, but on one device. Build each model by the same function, or convert a script for each.",
        before=f"""\
{_SCRIPT}

def small():
{_INPUTS}    {_LAYERS[0]}
    fit(logits, X, Y)


def large():
{_INPUTS}    {_LAYERS[1]}
    {_LAYERS[2]}
    fit(logits, X, Y)


small()
large()
""",
        after=f"""\
{_SCRIPT}

def build(sizes):
{_INPUTS}    logits = network(X, sizes)
    fit(logits, X, Y)


def network(hidden, sizes):
    for size in sizes:
        hidden = tf.layers.dense(hidden, size)
    return tf.layers.dense(hidden, 10)


build([])
build([100])
""",
    ),
)


@check(Placed)
def beside_the_towers(case: Placed) -> Iterator[Diagnostic]:
    """Models whose loss no statement of the towers computes a part of."""
    regions = [group.region for group in case.groups]
    run = any(is_run(step) for step in case.steps)
    for step in executions(case.facts, case.steps):
        parts = [v for v in step.behind.values() if isinstance(v, Tensor) and v.site is not None]
        batched = step not in case.steps and step.loss.batch.kind != "free" and is_run(step) >= run
        if not batched or any(r.in_any_tower(v.site) or v.node in r.inline for v in parts if v.site for r in regions):
            continue
        chain = [site.stmt for site in step.site.chain()]
        yield error(
            case.facts,
            chain[1] if len(chain) > 1 else step.call,
            "TMG277",
            "the model that is trained here is built apart from the one that goes into the towers: it would be in none",
            "build both models by one function that is called for each, or write a script for each",
        )
