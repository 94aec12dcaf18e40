"""Values that count as one tensor and may be lists or tuples of several: states of a cell that is not known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from converter.analysis.values import FED, STATES, Host, Input, Mapping, Sequence, Tensor, Value, closure


def may_be_nest(value: Value) -> bool:
    """Whether a value that counts as one tensor may be a list or tuple of several, whichever branch made it."""
    if not isinstance(value, Tensor):
        return False
    through = value.op == "join" or (isinstance(value, Input) and value.op == FED)
    return value.op == STATES or (through and any(map(may_be_nest, value.inputs)))


def part_of(nest: Tensor) -> Tensor:
    """A part of such a value: Python takes it out, so it is made where the whole was, and it may be a nest again."""
    part = Tensor(nest.batch, (nest,), nest.lengths, STATES, nest.node)
    part.site, part.time, part.scopes = nest.site, nest.time, nest.scopes
    return part


def base_of(tensor: Tensor) -> Tensor:
    """The whole that a tensor was taken out of by its place, where that may be a nest; else the tensor itself."""
    while tensor.op in ("subscript", "unstack") and may_be_nest(tensor.inputs[0]):
        assert isinstance(tensor.inputs[0], Tensor)
        tensor = tensor.inputs[0]
    return tensor


def may_hold(value: Value) -> Iterator[Tensor]:
    """The tensors that a value holds; of one that is not followed, those that Python made it of, but for runs."""
    return (base_of(one) for one in closure([value], _held) if isinstance(one, Tensor))


def _held(value: Value) -> Iterable[Value]:
    if isinstance(value, (Sequence, Mapping)):
        return value.parts()
    return value.inputs if isinstance(value, Host) and value.call != "run" else ()
