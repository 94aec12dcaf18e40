"""Inputs that each run takes out of a queue or an iterator."""

from __future__ import annotations

from converter.analysis.facts import RunCall
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Value, tensors_in


def is_taken(value: Input) -> bool:
    """Whether a run takes an input's next value out of a queue or an iterator."""
    return has(value.op, Trait.NEXT_BATCH) or has(value.op, Trait.GIVES_BATCHES)


def is_own_batch(value: Value) -> bool:
    """Whether each tower takes another one in place of this input out of the same queue or iterator."""
    return isinstance(value, Input) and value.is_own and is_taken(value)


def shown_inputs(run: RunCall) -> list[Input]:
    """Such inputs that a run gives to the script, as they are: those of the first tower."""
    fetched = (tensor for value in run.fetches for tensor in tensors_in(value))
    return [tensor for tensor in fetched if isinstance(tensor, Input) and is_own_batch(tensor)]
