"""Something treats each variable as a whole."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.partitioned.scripts import PARTITIONED, script

RULES = (
    Rule(
        code="TMG246",
        title="something treats each variable as a whole",
        why="With --variables partitioned a slice is a variable of its own to TensorFlow. Libraries that look up rows "
        "of tables that they make themselves would take rows of slices by other numbers; constraints, optimizers "
        "with a norm for each variable (LARS), moving averages that are restored by name and regularizers that are "
        "no sum over the numbers of a variable would come to other values.",
        before=script("logits = tf.layers.dense(X, 10, kernel_constraint=lambda w: w / tf.norm(w))"),
        after=script("logits = tf.layers.dense(X, 10)"),
        references=("tf.nn.embedding_lookup: rows of slices by `mod` (embedding_ops.py, 1.15)",),
        options=PARTITIONED,
    ),
)
