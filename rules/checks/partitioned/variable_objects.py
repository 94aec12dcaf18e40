"""A variable that the script takes as an object stays whole."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule
from rules.checks.partitioned.scripts import PARTITIONED, script

RULES = (
    Rule(
        code="TMG319",
        title="a variable that the script takes as an object stays whole",
        why="With --variables partitioned a variable of tf.get_variable that is assigned to, listed, averaged or asked "
        "for its name stays whole, so that all of this means what it did; it is spread over the GPUs by size.",
        before=script(
            "weights = tf.get_variable('weights', [784, 10])\nlogits = tf.matmul(X, weights)",
            "train_op = optimizer.minimize(loss, var_list=[weights])",
        ),
        after=script("weights = tf.get_variable('weights', [784, 10])\nlogits = tf.matmul(X, weights)"),
        references=("docs: TMG139, what is cut",),
        options=PARTITIONED,
    ),
)

WORDS = {
    Found.TAKEN_FOR_ONE_OBJECT: Words(
        "TMG319",
        "{name!r} is used as one object here: it stays whole, on one GPU",
        "without this use, slices of it would be spread over the GPUs",
    ),
}
