"""--scale-steps asks for fewer steps, and the script's numbers of steps are not all seen."""

from __future__ import annotations

from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.host.step_numbers import step_numbers
from converter.planner.writing.findings import warn
from converter.rule import Rule

_SCRIPT = """\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 10)))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
{loop}
"""
_STEP = "sess.run(train_op, {X: next_batch(batch_size)})"

RULES = (
    Rule(
        code="TMG362",
        title="a number that may count training steps is left as it is by --scale-steps",
        why="--scale-steps divides the numbers that are known to count training steps. This one may count steps or "
        "something else: two loops of the same length around the training step may be epochs and steps, and a schedule "
        "may depend on a number of epochs. Where no number of steps is found at all, the option changes nothing.",
        options=("--scale-steps", "divide"),
        before=_SCRIPT.format(
            loop=f"    for epoch in range(100):\n        for step in range(100):\n            {_STEP}",
        ),
        after=_SCRIPT.format(loop=f"    for step in range(10000):\n        {_STEP}"),
        references=("docs: TMG119, --scale-steps",),
    ),
)


@check(Placed)
def step_numbers_left(case: Placed) -> Iterator[Diagnostic]:
    """Numbers that --scale-steps would have to divide if they count steps, or that there are none."""
    if case.options.scale_steps == "keep":
        return
    found = step_numbers(case.facts, case.options, case.regions, case.steps, case.size.scaled)
    for node in found.left:
        yield warn(
            case.facts,
            node,
            "TMG362",
            "cannot tell whether this number counts training steps, so --scale-steps leaves it as it is",
            "divide it by the number of GPUs yourself if it does",
        )
    if not found.counts and not found.left and case.steps:
        yield warn(
            case.facts,
            case.steps[0].call,
            "TMG362",
            "--scale-steps changes nothing: no fixed number of training steps was found"
            if case.options.batch == "per-gpu"
            else "--scale-steps changes nothing: with --batch total a step trains on as many examples as before",
            "leave --scale-steps out",
        )
