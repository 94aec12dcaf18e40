"""Batch normalisation in several processes."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG371",
        title="batch normalisation takes its statistics from one process",
        why="Each process normalises with the mean and variance of its own batch, as the original does with its "
        "batch; the moving averages that are evaluated and saved are those of rank 0. With --batch total the "
        "batches are smaller, and the weights differ from the original's. torch.nn.SyncBatchNorm takes the "
        "statistics of all processes, on GPUs only.",
        before=changed("nn.ReLU(),", "nn.BatchNorm1d(64), nn.ReLU(),"),
        after=SCRIPT,
    ),
)
