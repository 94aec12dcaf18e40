"""Variables or gradients are taken one by one from a list."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule
from rules.checks.partitioned.scripts import PARTITIONED, script

_CLIPPED = """\
gradients = optimizer.compute_gradients(loss)
train_op = optimizer.apply_gradients([({clip}, v) for g, v in gradients])"""

RULES = (
    Rule(
        code="TMG245",
        title="variables or gradients are taken one by one from a list",
        why="With --variables partitioned tf.trainable_variables() and compute_gradients() give the slices of "
        "variables that are cut. What adds up over all numbers, or treats every number alike, means the same: weight "
        "decay by l2_loss, clipping by value or by the global norm, lists by parts of names, savers, var_list. A "
        "norm of each gradient, a shape, a summary or a message for each variable, a place in the list do not.",
        before=script(train=_CLIPPED.replace("{clip}", "tf.clip_by_norm(g, 1.0)")),
        after=script(train=_CLIPPED.replace("{clip}", "tf.clip_by_value(g, -1.0, 1.0)")),
        references=("docs: TMG139, what is cut",),
        options=PARTITIONED,
    ),
)

WORDS = {
    Found.TAKEN_FROM_LIST: Words(
        "TMG245",
        "this takes {what} from a list, which would hold slices in place of variables that are cut",
        "use --variables balanced, which leaves variables whole",
    ),
}
