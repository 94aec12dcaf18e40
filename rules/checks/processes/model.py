"""Uses of the model around its wrapper."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG293",
        title="the model is used around its wrapper, or changes behind it",
        why="DistributedDataParallel averages gradients only for what its own call computes. A layer that the "
        "training loop calls by itself would have a gradient of its own in each process, and the models would "
        "diverge without an error. So would layers that are replaced, or parameters that are frozen, when the "
        "wrapper is made already.",
        before=changed("criterion(net(images.to('cuda'))", "criterion(net[2](net[1](net[0](images.to('cuda'))))"),
        after=SCRIPT,
    ),
)
