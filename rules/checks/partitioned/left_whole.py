"""Variables that cannot be cut stay whole."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.LEFT_WHOLE: Words(
        "TMG318",
        "variables of tf.Variable and of Keras layers stay whole: they are spread over the GPUs by size",
        "make large ones by tf.get_variable or tf.layers, which can cut them",
    ),
}
