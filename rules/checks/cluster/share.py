"""Results of one worker's share."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.cluster import SCRIPT, changed

RULES = (
    Rule(
        code="TMG361",
        title="a worker's results are computed from its own rows",
        why="Each worker computes the results of a step (the loss, an accuracy) from its own rows, so workers print "
        "different numbers. The weights are updated by the whole batch. For results of a whole batch, run them in "
        "the chief after the loop.",
        before=changed("sess.run(train_op, feed_dict=batch)", "print(sess.run([train_op, loss], feed_dict=batch))"),
        after=SCRIPT,
        options=("--target", "cluster"),
    ),
)
