"""A tensor of an object that the files do not show goes into the loss beside inputs that are cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from converter.analysis.facts import behind_losses
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Input, Tensor, Value
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed, Selected
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG275",)

SHAPES = ("shape", "get_shape")  # what only tensors and arrays are asked for


@check(Placed)
def tensors_of_unseen_objects(case: Placed) -> Iterator[Diagnostic]:
    """Refuse operations that combine rows of the batch with a tensor about which nothing is known."""
    values = behind_losses(case.steps).values()
    known, fed = set(_tensors_by_shape(values)), set(_fed_objects(case))
    for value in values if known or fed else ():
        if not isinstance(value, Tensor) or isinstance(value, Input) or value.batch.kind not in ("example", "opaque"):
            continue
        read = [_place(v) for v in value.inputs if isinstance(v, Host) and v.call not in SHAPES]
        if any(place in known or place[:-1] in fed for place in read):
            yield finding(case.facts, value.node or case.steps[0].call, "TMG275 object")


@check(Selected)
def inputs_of_layers_from_unseen_code(case: Selected) -> Iterator[Diagnostic]:
    """Refuse layers beside inputs that are cut, of a tensor that nothing here hands over: a batch has rows."""
    for value in behind_losses(case.steps).values():
        if not isinstance(value, Tensor) or not (has(value.op, Trait.LAYER) or has(value.op, Trait.PRODUCT)):
            continue
        if value.inputs and _place(value.inputs[0]):
            yield finding(case.facts, value.node or case.steps[0].call, "TMG275 argument")


def _tensors_by_shape(values: Iterable[Value]) -> Iterator[tuple[object, ...]]:
    """Arguments that no call gives, and attributes of them, of which the script asks the shape."""
    for value in values:
        if isinstance(value, Host) and value.call in SHAPES and value.inputs:
            place = _place(value.inputs[0])
            if place:
                yield place


def _fed_objects(case: Placed) -> Iterator[tuple[object, ...]]:
    """Arguments that no call gives, and attributes of them, one of whose attributes a training step feeds: models."""
    for run in case.facts.runs_of(case.steps):
        for key, _ in run.feeds:
            place = _place(key)
            if len(place) > 1:
                yield place[:-1]


def _place(value: Value) -> tuple[object, ...]:
    """An argument that no call gives, and the attributes of it that lead to a value; () for anything else."""
    if not isinstance(value, Host) or value.roots:
        return ()
    if value.call == "parameter":
        return (value.uid,)
    inner = _place(value.inputs[0]) if value.call.isidentifier() and len(value.inputs) == 1 else ()
    return (*inner, value.call) if inner else ()
