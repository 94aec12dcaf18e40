"""Batches that processes cannot share."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG298",
        title="the batch cannot be shared by the processes",
        why="With --batch total each process takes its part of the script's batch, and the steps stay the "
        "original's. That needs a batch size that the number of processes divides, that is used for nothing "
        "else, and a loss that is seen to be a mean over the examples.",
        before=changed("batch_size=64", "batch_size=65"),
        after=SCRIPT,
        options=("--batch", "total"),
    ),
)
