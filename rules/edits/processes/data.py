"""Which examples each process takes."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG178",
        title="each process takes its share of the training data",
        why="DistributedSampler gives each process every N-th example of an order that set_epoch() makes anew for "
        "each epoch, the same in all processes. A step of all processes so takes N consecutive batches of that "
        "order. Where the examples do not divide by N, the first ones are taken twice, so that all shares have "
        "one size: by design this differs from one GPU. len(loader.dataset) in the training function, which "
        "counts the examples that its loop has seen, becomes the length of the share.",
        before=SCRIPT,
        after="""\
train_loader = DataLoader(train_set, batch_size=64, sampler=DistributedSampler(train_set))
    train_loader.sampler.set_epoch(epoch)
""",
        references=("DistributedSampler (torch/utils/data/distributed.py, PyTorch 2.13)",),
    ),
    Rule(
        code="TMG182",
        title="sums of the training loop become means over the processes",
        why="A sum that the loop over the training batches adds up, and that is read after it, is one process's sum "
        "over its own share. The mean over the processes replaces it. Divided by the number of batches or examples "
        "of a share, or by another sum that is replaced so, it gives the value for all examples; and as all "
        "processes then have the same value, the script may decide by it.",
        before=changed(
            "    for images, labels in train_loader:\n",
            "    total = 0.0\n    for images, labels in train_loader:\n",
            "        optimizer.step()\n",
            "        optimizer.step()\n        total += loss.item()\n",
            "print(epoch,",
            "print(total / len(train_loader),",
        ),
        after="""\
    [total] = mean_of_ranks(total)
    print(total / len(train_loader), on_rank_0(accuracy, net, test_loader))
""",
    ),
)
