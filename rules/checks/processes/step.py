"""Training steps that are not understood."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG292",
        title="the training step is not understood",
        why="The tool converts scripts with one model, one optimizer of torch.optim and one loop over the batches of "
        "a DataLoader, in which gradients are taken and the optimizer steps, in functions that are each called once. "
        "Anything else might train something else in several processes: two models would need two wrappers, a "
        "closure computes the loss several times, and a state that one batch hands to the next belongs to a sequence "
        "that is shared out.",
        before=changed(
            "\n\n\ndef accuracy",
            "\nother = torch.optim.SGD(net.parameters(), 0.1)\n\n\ndef accuracy",
        ),
        after=SCRIPT,
    ),
)
