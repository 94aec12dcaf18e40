"""Results of one worker's share."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.cluster import SCRIPT, changed

RULES = (
    Rule(
        code="TMG361",
        title="a worker's results are those of its share",
        why="What a step gives beside the training (the loss, an accuracy) each worker computes on its own rows, so "
        "that workers print different numbers. The weights are those of the whole batch. Numbers of the whole "
        "batch: run them in the chief after the loop, on whatever is fed there.",
        before=changed("sess.run(train_op, feed_dict=batch)", "print(sess.run([train_op, loss], feed_dict=batch))"),
        after=SCRIPT,
        options=("--target", "cluster"),
    ),
)
