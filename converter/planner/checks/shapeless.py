"""Inputs without a shape: one value that all towers share, or a row for each example that they must be cut by."""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.arrays.shapes import ARITHMETIC, shape_of
from converter.analysis.facts import Facts, TrainStep
from converter.analysis.inputs.feeds import SIZED, picks_rows
from converter.analysis.traits import Trait, has
from converter.analysis.values import Constant, Count, Host, Input, Number, Tensor, Typed, Value, needed, tensors_in
from converter.planner.writing.findings import refuse

TYPES = ("bool", "string")  # of a switch, or of the handle of an iterator

# Functions that give one number.
NUMBERS = ("min", "max", "abs", "float", "int", "round", "pow", "sum", "len", "mean", "item", "random")


def check_shapeless(facts: Facts, steps: list[TrainStep], shared: Iterable[str]) -> None:
    """A loss must not read an input without a shape of which nothing tells that it is one value for all examples."""
    values = needed(step.loss for step in steps).values()
    for value in values:
        if not isinstance(value, Input) or value.op != "placeholder" or value.shape is not None:
            continue
        if value.batch.kind != "free" or value.dtype in TYPES or value.dims is not None or value.label in shared:
            continue
        fed = [v for run in facts.runs for key, v in run.feeds if key is value]
        objects = {v.kind for v in values if isinstance(v, Typed) and value in v.inputs}
        if (not fed or not all(map(is_one_value, fed))) and not (objects <= {"Cell"} and _is_setting(facts, value)):
            name = value.label or "this input"
            raise refuse(facts, value.node or steps[0].call, "TMG253",
                         f"nothing tells whether {name} is one value or has a row for each example, as other inputs do",
                         f"give it a shape ([] for one value), or say so: --shared {name}, --batch-axis {name}=0",
                         )  # fmt: skip


def is_one_value(value: Value) -> bool:
    """Whether a fed value is seen to be a single number."""
    if isinstance(value, (Number, Count, Constant)) or shape_of(value) == ():
        return True
    if isinstance(value, Tensor) or not isinstance(value, Host):
        return False
    name = value.call.rpartition(".")[2]
    given = value.inputs
    if value.call in ARITHMETIC:
        return all(map(is_one_value, given))
    if value.call.startswith("math.") or name in NUMBERS and value.call.startswith(("builtins.", "numpy.", "random.")):
        return True
    if value.call in NUMBERS:
        return bool(given) and all(map(is_one_value, given))
    if value.call == "[]" and len(given) == 2:  # an entry that is picked at random; one of a loop may be a batch
        return isinstance(given[1], Host) and given[1].call.rpartition(".")[2] in SIZED and not picks_rows(given[1])
    fetched = [v for v in given if isinstance(v, Tensor)]
    return value.call == "run" and bool(fetched) and all(v.batch.kind in ("free", "reduced") for v in fetched)


def _is_setting(facts: Facts, value: Input) -> bool:
    """Whether the model reads an input as one number: a rate of dropout, a weight of means, a condition."""
    made: set[int] = {value.uid}
    for tensor in sorted(facts.tensors, key=lambda t: t.uid):
        given = [v for i in tensor.inputs for v in (i, *tensors_in(i))]
        if tensor.uid in made or not any(v.uid in made for v in given):
            continue
        first = tensor.inputs[0].uid in made
        if has(tensor.op, Trait.SETTING) and not (first and "dropout" in tensor.op):
            continue
        beside = [v for v in given if isinstance(v, Tensor) and v.uid not in made]
        if not has(tensor.op, Trait.OF_ONE_NUMBER) or any(v.batch.kind in ("example", "opaque") for v in beside):
            return False
        if tensor.batch.kind == "free":
            made.add(tensor.uid)
    return True
