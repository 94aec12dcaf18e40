"""Calls of which it is not known what they do N times."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG299",
        title="it is not known what this does in several processes",
        why="Every process runs the whole script. What libraries do then is known for those that compute or read; "
        "packages that are not known, device names that are computed from a number, what other files of the "
        "project do beside defining models, datasets, functions that only compute and constants, and names that the "
        "added lines need are refused.",
        before=changed(
            "import torch\n", "import torch\nimport neptune\n", "for epoch in", "run = neptune.init_run()\nfor epoch in"
        ),
        after=SCRIPT,
    ),
)
