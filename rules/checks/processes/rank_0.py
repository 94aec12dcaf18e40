"""What rank 0 cannot do alone."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import changed

RULES = (
    Rule(
        code="TMG296",
        title="rank 0 cannot do this alone",
        why="An evaluation is run by rank 0, and its results are sent to the others. It must not change what all "
        "processes have: the mode of the model, lists that the script goes on with, weights. Nor can a file be "
        "written in the middle of an expression that all need.",
        before=changed("    right, count = 0, 0\n", "    net.eval()\n    right, count = 0, 0\n"),
        after=changed(
            "    right, count = 0, 0\n",
            "    net.eval()\n    right, count = 0, 0\n",
            "    for images, labels in train_loader:",
            "    net.train()\n    for images, labels in train_loader:",
        ),
    ),
)
