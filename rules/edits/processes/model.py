"""The model under DistributedDataParallel."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT

RULES = (
    Rule(
        code="TMG177",
        title="the model is wrapped in DistributedDataParallel",
        why="The wrapper gives all processes the weights of rank 0 and, during backward(), the mean of the gradients "
        "of all processes, so that the models stay the same. It is made right before the statement that begins "
        "the training, when the model is complete. In the loop over the training batches the wrapper is called "
        "in place of the model; everywhere else the script goes on with the model itself, so that checkpoints "
        "have the original's keys, without the prefix module. Behind the wrapper each process draws other random "
        "numbers, for dropout.",
        before=SCRIPT,
        after="""\
ddp_net = DistributedDataParallel(net)
for epoch in range(10):
        loss = criterion(ddp_net(images.to('cuda')), labels.to('cuda'))
""",
        references=("DistributedDataParallel (torch/nn/parallel/distributed.py, PyTorch 2.13)",),
    ),
)
