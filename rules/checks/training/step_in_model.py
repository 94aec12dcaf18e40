"""The training step stands among the statements of the model."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.STEP_AMONG_MODEL: Words(
        "TMG219",
        "the training step stands in the block of {line}, among the statements of the model",
        "end that block after the loss, and take the gradients in another one of the same kind behind it",
    ),
    PlanFault.COLOCATION_GIVEN: Words(
        "TMG219",
        "the loss is computed from the towers' results, and its gradients where these are, which `{written}` may "
        "not say",
        "write colocate_gradients_with_ops=True among the arguments of the call",
    ),
    PlanFault.STEP_IN_BRANCH_OF_MODEL: Words(
        "TMG219",
        "the training step stands in the same branch as the loss, of the condition in {line}",
        "end that condition after the loss, and take the gradients in another one of the same kind behind it",
    ),
    PlanFault.STEP_IN_LOOP_OF_MODEL: Words(
        "TMG219",
        "the training step stands in the same loop as a part of the model, in {line}: every tower "
        "executes the whole loop",
        "put the losses into a list in that loop, and take the step for each of the list in a second loop, behind it",
    ),
    PlanFault.STEP_IN_STATEMENT_OF_MODEL: Words(
        "TMG219",
        "the training step stands in the same statement as the model, in {line}",
        "let that statement end with the loss, and take the gradients in another one behind it",
    ),
    PlanFault.LOSS_COULD_BE_COMPUTED_ONCE: Words(
        "TMG219",
        "the loss and the training step stand in one statement, apart from the model",
        "--loss global computes this loss once, from the results of all towers; for one loss in each tower: {hint}",
    ),
    PlanFault.NOT_HANDED_ON: Words(
        "TMG219",
        "the loss and the training step stand in one statement, apart from {name}, of which each tower cannot be "
        "handed its own part",
        "build the loss in a statement of its own, and take the gradients in another one behind it",
    ),
    PlanFault.MODEL_GOES_ON_BEHIND_STEP: Words(
        "TMG219",
        "the model of the same inputs goes on behind this training step, in {line}",
        "take the gradients behind that line, where all losses are there, and give each loss a name of its own",
    ),
}
