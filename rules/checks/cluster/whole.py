"""Batches that go to workers as they are."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.cluster import SCRIPT, changed

RULES = (
    Rule(
        code="TMG376",
        title="a step takes the batches of N runs of the training step",
        why="Where a batch can be cut by rows, the script prepares one for all workers, and each takes its rows. Else "
        "it goes on preparing batches of its own size: worker i keeps the i-th of N, and the N-th run of the training "
        "step makes the step. Runs between return the numbers of the last step; arrays, such as predictions, are those "
        "of the run's own batch, computed before the step. An epoch is an epoch in any case, as each batch is taken "
        "once. A loop over a number of steps makes 1/N of the updates, at the same learning rate: give it N times the "
        "steps if it should make as many as before. The message says why the batch cannot be cut.",
        before=changed("tf.placeholder(tf.float32, [None, 784])", "tf.placeholder(tf.float32, [batch_size, 784])"),
        after=SCRIPT,
        options=("--target", "cluster"),
    ),
)
