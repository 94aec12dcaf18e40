"""Training data that processes cannot share."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG294",
        title="the training data cannot be shared by the processes",
        why="The examples of a DataLoader with a dataset of known length are shared by DistributedSampler. Batches "
        "that the script cuts out of arrays itself, samplers of its own, streams, and arguments that are not written "
        "out are not understood; and any other loop over the training loader would see only one process's share.",
        before=changed("for images, labels in train_loader:", "for images, labels in zip(x.split(64), y.split(64)):"),
        after=SCRIPT,
    ),
)
