"""A variable is found by its name, or in another scope."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule
from rules.checks.partitioned.scripts import PARTITIONED, script

_LOOKED_UP = """\
logits = tf.layers.dense(X, 1024)
kernel = tf.get_default_graph().get_tensor_by_name('dense/kernel:0')
logits = tf.layers.dense(logits, 10) + 0.01 * tf.reduce_sum(kernel)"""

RULES = (
    Rule(
        code="TMG247",
        title="a variable is found by its name, or in another scope",
        why="With --variables partitioned the graph holds slices, kernel/part_0 and on, and no operation reads the "
        "whole variable under its name but in the towers. A model that is built again finds the slices by the custom "
        "getter of the scope around the loop; outside of that scope TensorFlow stops. An optimizer that stands in a "
        "variable scope would have its slots of slices saved under names that the original does not know.",
        before=script(_LOOKED_UP),
        after=script(),
        references=("tf.VariableScope.set_custom_getter (tensorflow/python/ops/variable_scope.py, 1.15)",),
        options=PARTITIONED,
    ),
)

WORDS = {
    Found.LOOKED_UP_BY_NAME: Words(
        "TMG247",
        "what is looked up here by its name may be a variable that is cut, or a value read from it",
        "keep it in a Python variable, or use --variables balanced",
    ),
    Found.SLOTS_IN_SCOPE: Words(
        "TMG247",
        "the optimizer stands in a variable scope, where the slots of slices would be saved under other names",
        "apply the gradients outside of the scope",
    ),
    Found.ASKED_FOR_OUTSIDE_SCOPE: Words(
        "TMG247",
        "variables are asked for again outside the scope in which the towers make them, where nothing tells "
        "that they are cut",
        "build the model in functions that are called at one level, or use --variables balanced",
    ),
}
