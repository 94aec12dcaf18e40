"""Losses that are sums."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG372",
        title="the loss is a sum over the examples",
        why="DistributedDataParallel takes the mean of the processes' gradients. For a loss that is a sum over the "
        "examples of a batch one step then takes the mean of the sums of N batches: as large as the step of one "
        "batch, not of the batch of all.",
        before=changed("nn.CrossEntropyLoss()", "nn.CrossEntropyLoss(reduction='sum')"),
        after=SCRIPT,
    ),
)
