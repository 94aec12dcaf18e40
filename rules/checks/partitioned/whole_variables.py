"""Something treats each variable as a whole."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.COMPUTED_NAME: Words(
        "TMG246",
        "this uses a variable as a whole, and its name is computed: the tool cannot exempt it from being cut",
        "give the variable a constant name, or use --variables balanced",
    ),
    PlanFault.KNOWS_VARIABLES: Words(
        "TMG246",
        "{name} knows variables one by one, and slices would count as variables of their own",
        "use --variables balanced, which leaves variables whole",
    ),
    PlanFault.WORKS_ON_VARIABLES: Words(
        "TMG246",
        "{name} works on each variable as a whole, and slices would count as variables of their own",
        "use --variables balanced, which leaves variables whole",
    ),
    PlanFault.OWN_OPTIMIZER: Words(
        "TMG246",
        "this optimizer may treat each variable as a whole, and slices would count as variables of their own",
        "use --variables balanced, which leaves variables whole",
    ),
    PlanFault.READ_BEHIND_UPDATE: Words(
        "TMG246",
        "what is built here reads variables behind an update, and the model has put their slices together before it",
        "use --variables balanced, which leaves variables whole",
    ),
    PlanFault.AVERAGE_OF_VARIABLE: Words(
        "TMG246",
        "the moving average of a variable is asked for, and slices would count as variables of their own",
        "use --variables balanced, which leaves variables whole",
    ),
    PlanFault.REGULARIZER_OF_VARIABLE: Words(
        "TMG246",
        "this regularizer is computed of each variable, and slices would count as variables of their own",
        "use --variables balanced, which leaves variables whole",
    ),
    PlanFault.MAKES_ITS_TABLE: Words(
        "TMG246",
        "{name} looks up rows of a variable that it makes itself: slices would give other rows",
        "make the table by tf.get_variable, or use --variables balanced",
    ),
}
