"""Calls of which it is not known what they do N times."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG299",
        title="it is not known what this does in several processes",
        why="Every process runs the whole script. What libraries do then is known for those that compute or read; "
        "packages that are not known, other files of the project that hold more than models, device names that are "
        "computed from a number, and names that the added lines need are refused.",
        before=changed(
            "import torch\n", "import torch\nimport neptune\n", "for epoch in", "run = neptune.init_run()\nfor epoch in"
        ),
        after=SCRIPT,
    ),
)
