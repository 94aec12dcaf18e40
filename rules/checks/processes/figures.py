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
    Rule(
        code="TMG375",
        title="a sum over the training batches counts the examples of one process",
        why="Each of N processes goes through its share of the training data. A sum of losses, of hits or of examples "
        "that the loop adds up becomes the mean of the processes' sums (TMG182): a ratio of two of them, or of one and "
        "len(train_loader), is what one GPU would print. A sum that is printed by itself is 1/N of that.",
        before=changed(
            "    for images, labels in train_loader:\n",
            "    total = 0.0\n    for images, labels in train_loader:\n",
            "        optimizer.step()\n",
            "        optimizer.step()\n        total += loss.item()\n    print(total)\n",
        ),
        after=changed(
            "    for images, labels in train_loader:\n",
            "    total = 0.0\n    for images, labels in train_loader:\n",
            "        optimizer.step()\n",
            "        optimizer.step()\n        total += loss.item()\n    print(total / len(train_loader))\n",
        ),
    ),
)
