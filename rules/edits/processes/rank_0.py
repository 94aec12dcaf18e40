"""What rank 0 does for all."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG179",
        title="rank 0 evaluates on all of the data",
        why="Loops over loaders that are not the training data's go through all of their examples, with the model "
        "itself, on rank 0. The other processes wait and get the results, so that early stopping, the best "
        "checkpoint and schedules that look at a figure are decided alike everywhere. A function that evaluates "
        "is called by on_rank_0(); behind a loop in the code that trains, the names that it binds are sent to "
        "all.",
        before=SCRIPT,
        after="""\
    print(epoch, on_rank_0(accuracy, net, test_loader))
""",
    ),
    Rule(
        code="TMG180",
        title="rank 0 writes files",
        why="Statements that write files, summaries or figures stand under if rank == 0. After torch.save the "
        "processes wait for each other, so that all find the checkpoint where the script loads it again.",
        before=SCRIPT,
        after="""\
if rank == 0:
    torch.save(net.state_dict(), 'net.pt')
dist.barrier()
""",
    ),
    Rule(
        code="TMG183",
        title="rank 0 downloads data",
        why="A dataset that may download itself is made by rank 0 first. The other processes wait, and find the "
        "files.",
        before=changed(
            "import torch\n",
            "import torch\nimport torchvision\n",
            "TensorDataset(x[:5000], y[:5000])",
            "torchvision.datasets.MNIST('data', download=True)",
        ),
        after="""\
if rank > 0:
    dist.barrier()  # rank 0 downloads it
train_set = torchvision.datasets.MNIST('data', download=True)
if rank == 0:
    dist.barrier()
""",
    ),
)
