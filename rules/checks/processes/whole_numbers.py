"""Means that are formatted as whole numbers."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import changed

RULES = (
    Rule(
        code="TMG297",
        title="a mean over the processes is formatted as a whole number",
        why="A sum over the training batches that is read behind the loop becomes the mean of the processes' sums "
        "(TMG182), which need not be whole: Python formats it by {:d} only with an error. Write {:.0f}.",
        before=changed(
            "    for images, labels in train_loader:\n",
            "    seen = 0\n    for images, labels in train_loader:\n        seen += (labels > 4).sum().item()\n",
            "    print(epoch, accuracy(net, test_loader))\n",
            "    print('{:d} of {:d}'.format(seen, len(train_set)), accuracy(net, test_loader))\n",
        ),
        after=changed(
            "    for images, labels in train_loader:\n",
            "    seen = 0\n    for images, labels in train_loader:\n        seen += (labels > 4).sum().item()\n",
            "    print(epoch, accuracy(net, test_loader))\n",
            "    print('{:.2f} in a batch'.format(seen / len(train_loader)), accuracy(net, test_loader))\n",
        ),
    ),
)
