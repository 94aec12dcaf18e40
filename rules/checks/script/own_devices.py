"""tf.device inside the model."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.LAYERS_ON_CPU: Words(
        "TMG326",
        "the script computes these layers on the CPU; the towers compute them on their GPUs",
        "put only variables and look-ups there that must stay on the CPU",
    ),
    PlanFault.GPU_AROUND_TOWERS: Words(
        "TMG352",
        "this puts what it holds on {gpu}; the towers are on the first GPUs that the script sees",
        "choose the GPUs when the script is started: CUDA_VISIBLE_DEVICES=2,3 python SCRIPT",
    ),
    PlanFault.DEVICE_OF_ALL_TOWERS: Words(
        "TMG314",
        "the device that is chosen here is the same for all towers",
        "leave it to the towers: tf.device('') keeps the device around it",
    ),
}
