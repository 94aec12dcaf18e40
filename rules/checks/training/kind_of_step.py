"""The training step is made by a call that cannot be split into gradients and update."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.KIND_OF_STEP: Words(
        "TMG213",
        "a training step made by {kind} is not converted yet",
        "use optimizer.minimize, or compute_gradients and apply_gradients, with the arguments written out",
    ),
}
