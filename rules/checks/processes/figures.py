"""Figures of one process."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG370",
        title="a printed value is computed from the examples of rank 0 only",
        why="What the loop over the training batches prints is computed from the batches of rank 0. On average it "
        "equals the value of all processes; sums that are read after the loop are averaged (TMG182).",
        before=changed("        optimizer.step()\n", "        optimizer.step()\n        print(loss.item())\n"),
        after=SCRIPT,
    ),
)
