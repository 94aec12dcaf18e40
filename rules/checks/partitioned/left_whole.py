"""Variables that cannot be cut stay whole."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule
from rules.checks.partitioned.scripts import PARTITIONED, script

RULES = (
    Rule(
        code="TMG318",
        title="variables that cannot be cut stay whole",
        why="tf.Variable and the layers of Keras ask no getter, so that --variables partitioned cannot cut what they "
        "make. These variables stay whole and are spread over the GPUs by size, as with --variables balanced: a "
        "large one keeps the GPU that holds it busier than the others. The numbers are the same.",
        before=script("weights = tf.Variable(tf.zeros([784, 10]))\nlogits = tf.matmul(X, weights)"),
        after=script(
            "weights = tf.get_variable('weights', [784, 10], initializer=tf.zeros_initializer())\n"
            "logits = tf.matmul(X, weights)"
        ),
        references=("docs: TMG139, what is cut",),
        options=PARTITIONED,
    ),
)

WORDS = {
    Found.LEFT_WHOLE: Words(
        "TMG318",
        "variables of tf.Variable and of Keras layers stay whole: they are spread over the GPUs by size",
        "make large ones by tf.get_variable or tf.layers, which can cut them",
    ),
}
