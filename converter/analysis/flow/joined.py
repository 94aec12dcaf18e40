"""Tensors that stand for the results of several branches."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.values import Absent, Constant, Input, Tensor, Value, Variable


def leaves(value: Value) -> list[Value]:
    """The inputs among which branches choose; the value itself if it is no such choice."""
    if not isinstance(value, Tensor) or isinstance(value, Input) or value.op != "join":
        return [value]
    found = [leaf for part in value.inputs for leaf in leaves(part)]
    return found if found and all(isinstance(leaf, Input) for leaf in found) else [value]


def choices(loss: Tensor) -> list[Tensor]:
    """The tensors among which branches choose."""
    if loss.op != "join" or isinstance(loss, Input):
        return [loss]
    return [leaf for part in loss.inputs if isinstance(part, Tensor) for leaf in choices(part)]


def is_variable(value: Value) -> bool:
    """Whether a value is a variable in each branch that leaves one."""
    if isinstance(value, Tensor) and value.op == "join" and not isinstance(value, Input):
        return all(is_variable(part) or isinstance(part, Absent) for part in value.inputs)
    return isinstance(value, Variable)


def left_out(value: Value) -> tuple[bool, bool, bool]:
    """Whether a branch leaves nothing, None, or a value that is no tensor, in place of this one."""
    unset = none = plain = False
    for other in _joined(value):
        is_none = isinstance(other, Constant) and other.value is None
        unset, none = unset or isinstance(other, Absent), none or is_none
        plain = plain or not (is_none or isinstance(other, (Absent, Tensor)))
    return unset, none, plain


def is_unheld(value: Value) -> bool:
    """Whether a branch leaves None in place of the dict that has this value in other branches."""
    return any(isinstance(other, Absent) and other.unheld for other in _joined(value))


def _joined(value: Value) -> Iterator[Value]:
    todo = list(value.inputs) if isinstance(value, Tensor) and value.op == "join" else []
    while todo:
        other = todo.pop()
        yield other
        todo += other.inputs if isinstance(other, Tensor) and other.op == "join" else ()
