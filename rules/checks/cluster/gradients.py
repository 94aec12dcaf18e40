"""Training steps that change when each worker computes its part."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.cluster import SCRIPT, changed

RULES = (
    Rule(
        code="TMG260",
        title="workers would compute other updates than one process",
        why="What a worker does to its gradients, it does before they are averaged: a mean of clipped gradients is not "
        "the clipped mean. SyncReplicasOptimizer averages within apply_gradients, so that no statement of the script "
        "ever sees the mean. What it assigns to variables happens once for each worker. SyncReplicasOptimizer "
        "divides each row of a sparse gradient by the number of workers that have the row, not by the number of "
        "workers. The chief applies gradients by itself, when nothing is fed: an optimizer cannot read a "
        "placeholder. And workers whose generators have no seed prepare different batches.",
        before=changed(
            "train_op = tf.train.AdamOptimizer(0.001).minimize(loss)",
            "optimizer = tf.train.AdamOptimizer(0.001)\n"
            "gradients, variables = zip(*optimizer.compute_gradients(loss))\n"
            "gradients, _ = tf.clip_by_global_norm(gradients, 5.0)\n"
            "train_op = optimizer.apply_gradients(zip(gradients, variables))",
        ),
        after=SCRIPT,
        options=("--target", "cluster"),
        references=("tensorflow/core/kernels/sparse_conditional_accumulator.h, 1.15",),
    ),
)
