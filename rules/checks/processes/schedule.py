"""Learning rates that change with each batch."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import changed

RULES = (
    Rule(
        code="TMG373",
        title="a schedule counts batches, of which an epoch has fewer",
        why="N processes take N batches in one step, so an epoch has N times fewer steps. A schedule that takes a "
        "step for each batch reaches its end later, unless its length comes from len(loader).",
        before=changed(
            "\n\ndef accuracy",
            "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1000)\n\n\ndef accuracy",
            "        optimizer.step()\n",
            "        optimizer.step()\n        schedule.step()\n",
        ),
        after=changed(
            "\n\ndef accuracy",
            "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)\n\n\ndef accuracy",
            "    print(epoch,",
            "    schedule.step()\n    print(epoch,",
        ),
    ),
)
