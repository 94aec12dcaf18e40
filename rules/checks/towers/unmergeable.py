"""A value of the towers is read after the loss and cannot be merged."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from converter.analysis.traits import Trait, has
from converter.analysis.values import Number, Tensor, Value
from converter.diagnostics import Diagnostic
from converter.planner.cases import Leaving
from converter.planner.checking import check
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.other_calls import bound_by_other_calls
from converter.planner.wording import Words
from converter.planner.writing.findings import error

CODES = ("TMG210",)

WORDS = {
    PlanFault.MADE_BY_ONE_BRANCH: Words(
        "TMG210",
        "{name} is read after the loss, and only one branch of a condition makes it",
        "let the other branch put None there",
    ),
    PlanFault.PART_MADE_BY_ONE_BRANCH: Words(
        "TMG210",
        "{name} is read after the loss, and only one branch of a condition makes it",
        "give it a name of its own, and None in the other branch",
    ),
    PlanFault.LEFT_BY_EARLIER_CALL: Words(
        "TMG210",
        "{name} is read after the loss, and only one branch of a condition makes it: where that is not taken, it is "
        "that of a model which an earlier call of this function has built",
        "let the other branch put None there",
    ),
    PlanFault.FUNCTION_KEEPS_SHARD: Words(
        "TMG210",
        "{name} is called after the loss, too, with the argument that it keeps from line {line}: each tower keeps its "
        "own part of the batch there",
        "pass this argument where the function is called",
    ),
    PlanFault.NOT_MERGEABLE: Words(
        "TMG210",
        "{name} is read after the loss, and the towers' parts of it cannot be merged: {reason}",
        "compute it from tensors that have one row for each example, after the loss",
    ),
}


@check(Leaving)
def made_by_one_call_alone(case: Leaving) -> Iterator[Diagnostic]:
    """Values that leave the towers in one call of a function, where another call goes through them without making it.

    Functions that build the model in several ways, as for training and for evaluation, have such calls.
    """
    facts, region = case.facts, case.region
    block = region.block
    if any(isinstance(n, ast.Return) for s in block.body[: min(region.tower)] for n in ast.walk(s)):
        return  # another call may be over by then
    calls = bound_by_other_calls(facts, region.block.frame, region.stmts)
    constants = {key: value for bound in calls for key, held in bound.items() for value in held if _is_integer(value)}
    own = {a.place.key for i, a in block.accesses() if i in region.tower and a.write}
    for part, node in case.wanted.values():
        key = (part.root or part.text).rpartition(".")[2]
        if key in own and any(key not in bound for bound in calls):
            yield error(
                facts,
                node,
                "TMG210",
                f"{part.text} is made by one call of the function that builds the model, and not by another: "
                "the towers of that one would miss it",
                "build the model without its loss in a function of its own",
            )
        elif key in own and part.value.roots and key in constants:
            yield error(
                facts,
                constants[key].node or node,
                "TMG210",
                f"{part.text} is an integer in another call of the function that builds the model: "
                "the towers' parts of it cannot be weighted",
                "make it a float: tf.constant(0.0)",
            )


def _is_integer(value: Value) -> TypeGuard[Tensor]:
    """Whether a value is a constant of the graph that is made of an integer, which gives it its type."""
    if not isinstance(value, Tensor) or not has(value.op, Trait.TAKES_ARRAY) or len(value.inputs) != 1:
        return False
    number = value.inputs[0]
    return isinstance(number, Number) and isinstance(number.value, int)
