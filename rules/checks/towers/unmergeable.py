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
from converter.planner.region.executions import lacked_in_other_calls
from converter.planner.wording import finding

CODES = ("TMG210",)


@check(Leaving)
def made_by_one_call_alone(case: Leaving) -> Iterator[Diagnostic]:
    """Values that leave the towers in one call of a function, where another call goes through them without making it.

    Functions that build the model in several ways, as for training and for evaluation, have such calls.
    """
    facts, region = case.facts, case.region
    block = region.block
    if any(isinstance(n, ast.Return) for s in block.body[: min(region.tower)] for n in ast.walk(s)):
        return  # another call may be over by then
    calls = region.other_calls.values()
    constants = {key: value for bound in calls for key, held in bound.items() for value in held if _is_integer(value)}
    own = {place.key for place in region.written}
    losses = {step.loss.uid for step in facts.train_steps}  # without it a call may lack its inputs, too
    for part, node in case.wanted.values():
        key = (part.root or part.text).rpartition(".")[2]
        left_out = key in own and any(key not in bound for bound in calls)
        kept = part.whole is None and part.value.uid not in losses and lacked_in_other_calls(region, part.text)
        if left_out and not kept:
            yield finding(facts, node, "TMG210 made_by_one_call", text=part.text)
        elif key in own and part.value.roots and key in constants:
            yield finding(facts, constants[key].node or node, "TMG210 integer_in_one_call", text=part.text)


def _is_integer(value: Value) -> TypeGuard[Tensor]:
    """Whether a value is a constant of the graph that is made of an integer, which gives it its type."""
    if not isinstance(value, Tensor) or not has(value.op, Trait.TAKES_ARRAY) or len(value.inputs) != 1:
        return False
    number = value.inputs[0]
    return isinstance(number, Number) and isinstance(number.value, int)
