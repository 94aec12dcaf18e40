"""A model compares examples of two batches that one source gives one after the other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from converter.analysis.arrays.shapes import SHAPED
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.values import Tensor, Value, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.region.inputs import batch_inputs
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
A = tf.placeholder(tf.float32, [None, 784])
B = tf.placeholder(tf.float32, [None, 784])
near = tf.placeholder(tf.float32, [None])
distance = tf.reduce_sum(tf.square(tf.layers.dense(A - B, 8)), 1)
loss = tf.reduce_mean(near * distance + (1 - near) * tf.maximum(0., 1 - distance))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
{draw}
"""

RULES = (
    Rule(
        code="TMG340",
        title="two batches from one source are compared with each other",
        why="Each step draws two batches from one source, one after the other, and the model compares the first "
        "example of one with the first of the other. With N GPUs each of the two batches is N times as large, so the "
        "second begins N times as far behind the first: other pairs of examples meet than in the original. Where the "
        "source gives examples at random that makes no difference; where their order tells which belong together (left "
        "and right images in turn), the pairs are wrong. Draw pairs, or use --batch total.",
        before=_SCRIPT.format(
            draw="        left, left_labels = data.next_batch(batch_size)\n"
            "        right, right_labels = data.next_batch(batch_size)\n"
            "        sess.run(train_op, {A: left, B: right, near: left_labels == right_labels})"
        ),
        after=_SCRIPT.format(
            draw="        left, right, alike = data.next_pairs(batch_size)\n"
            "        sess.run(train_op, {A: left, B: right, near: alike})"
        ),
        references=("docs: TMG110, how the batch size is followed",),
    ),
)


@check(Placed)
def paired_batches(case: Placed) -> Iterator[Diagnostic]:
    """Runs of training steps whose inputs meet in the model and are drawn by the same call, written twice."""
    if case.options.batch != "per-gpu" or not case.size.scaled:
        return
    cut = set(batch_inputs(case.steps))
    for run in case.facts.runs:
        meeting = [step for step in case.steps if run.computes({step.result.uid})]
        drawn = [(key, call) for key, fed in run.feeds if key in cut and (call := _drawn(case.facts, run, fed))]
        for (one, first), (two, second) in combinations(drawn, 2):
            again = first is not second and ast.dump(first) == ast.dump(second)
            if again and any(_meet(step, one, two) for step in meeting):
                yield warn(
                    case.facts,
                    second,
                    "TMG340",
                    "each step draws two batches from this source, and the model compares their examples pair by "
                    "pair: with larger batches the pairs differ from the original's",
                    "draw pairs, or keep the batch's size with --batch total, if the order of the examples matters",
                )


def _drawn(facts: Facts, run: RunCall, fed: Value) -> ast.Call | None:
    """The call of a method, beside the run, that gives what is fed; None for random numbers and for new arrays."""
    name = getattr(fed, "call", "")
    if "random" in name or name.removeprefix("numpy.") in SHAPED:
        return None
    chain = fed.site.chain() if fed.site is not None else ()
    made = next((s.stmt for s in chain if s.frame is run.site.frame and s.stmt is not run.site.stmt), None)
    call = made.value if isinstance(made, ast.Assign) else None
    return call if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None


def _meet(step: TrainStep, one: Value, two: Value) -> bool:
    """Whether rows of two inputs are computed with each other for a loss."""
    rows = (v for v in needed([step.loss]).values() if isinstance(v, Tensor) and v.batch.kind == "example")
    return any(one in value.roots and two in value.roots for value in rows)
