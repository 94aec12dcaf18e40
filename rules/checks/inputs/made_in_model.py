"""An input is made by the same statement as the model that reads it."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.FED_IN_PLACE_OF_RESULT: Words(
        "TMG204",
        "this is computed by the model, and this run feeds a value in its place",
        "build what follows it once more on a placeholder, with reuse=True, and feed that",
    ),
    PlanFault.DEFAULT_OF_BATCH: Words(
        "TMG204",
        "the default of this input is computed from the batch by the model",
        "compute it before the statements that build the model",
    ),
    PlanFault.INPUT_OF_UNCALLED_CODE: Words(
        "TMG204",
        "nothing here calls {name}: in which order its methods make this input, the model and the loss is not seen",
        "convert the script that calls it: this file changes with it (--output-dir)",
    ),
    PlanFault.INPUT_BY_STATEMENT_OF_MODEL: Words(
        "TMG204",
        "this input is made by the same statement as the model that reads it, {line}",
        "make it in a statement of its own before the model: a placeholder, or what get_next() gives",
    ),
}
