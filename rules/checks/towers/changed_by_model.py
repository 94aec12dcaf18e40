"""The model changes a value that the loop cannot reset."""

from __future__ import annotations

from converter.planner.plan_faults import PlanFault
from converter.planner.wording import Words

WORDS = {
    PlanFault.LISTS_VARIABLES_SO_FAR: Words(
        "TMG231",
        "the model lists the variables made so far and makes more: the second tower would see all",
        "list them after the model, or give the list a name where the model is built",
    ),
    PlanFault.SCOPE_AROUND_REUSED: Words(
        "TMG231",
        "the model sets a scope around the loop to be reused, and each tower has one of its own",
        "call tf.get_variable_scope().reuse_variables() there",
    ),
    PlanFault.SCOPE_REUSED_INSIDE: Words(
        "TMG231",
        "this sets the scope around the model to be reused, and layers behind the loss need that: each tower has a "
        "scope of its own",
        "call it in a statement of its own, beside those that build the model",
    ),
    PlanFault.ITERATOR_READ: Words(
        "TMG231",
        "the model reads the iterator {name} to its end: the second tower would find it empty",
        "make a list of it where it is made: list(...)",
    ),
    PlanFault.GENERATOR_READ: Words(
        "TMG231",
        "the model takes values of the generator {name}: each tower would take the next ones",
        "take them before the model, next({name}), and let the model read their names; feed what is a batch",
    ),
    PlanFault.CELL_COPIED: Words(
        "TMG231",
        "{name} makes a copy of this cell, which only a cell that is not built yet allows: the second tower would fail",
        "make the cell in front of that call, in the same function",
    ),
    PlanFault.ARRAY_BEFORE_TOWERS: Words(
        "TMG231",
        "the tensor array {name} is made in front of the model, and its entries can be written and read once: the "
        "second tower would fail",
        "make the array in the function that builds the model",
    ),
    PlanFault.CHANGED_AND_READ_AGAIN: Words(
        "TMG231",
        "the model changes {name} and reads it again: each tower would go on from the previous tower's value",
        "keep it in a variable of the function that builds the model",
    ),
    PlanFault.MODULE_CHANGED_AND_READ_AGAIN: Words(
        "TMG231",
        "the model changes {name} of the module {module} and reads it again: each tower would go on from the previous "
        "tower's value",
        "import the module at the top of {file}, where the towers are built: import {module}",
    ),
}
