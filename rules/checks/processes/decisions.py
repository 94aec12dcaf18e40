"""Decisions that part the processes."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG295",
        title="processes would decide differently",
        why="Each process has its own examples, and so its own loss. If one leaves a loop or skips a step because of "
        "it, the others wait for its gradients for ever. Decide by what is the same everywhere: the number of "
        "the epoch, sums that are read behind the loop (TMG182), or what an evaluation returns (TMG179).",
        before=changed(
            "        optimizer.zero_grad()\n",
            "        if loss.item() < 0.01:\n            break\n        optimizer.zero_grad()\n",
        ),
        after=SCRIPT,
    ),
)
