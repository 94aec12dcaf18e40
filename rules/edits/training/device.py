"""tf.device inside the model."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.script.own_devices import SCRIPT

RULES = (
    Rule(
        code="TMG137",
        title="a GPU that the model names gives way to the tower's",
        why="The innermost tf.device counts. Where the model names a GPU itself, all towers would compute on "
        "that one: the numbers would be right, and nothing would be faster. An empty device keeps the one "
        "around it: in a tower that is the tower's, elsewhere the first GPU, where TensorFlow puts what has "
        "no device. Variables and look-ups that the model puts on the CPU stay there. A function around the model "
        "that chooses a device for each operation has the last word, so that it gives way, too.",
        before=SCRIPT.replace("{device}", "'/gpu:0'"),
        after="    with tf.device(''):\n",
        references=("tf.device, merging of device specifications (tensorflow/python/framework/device.py, 1.15)",),
    ),
)
