"""Tensors that stand for the results of several branches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from converter.analysis.values import Absent, Constant, Input, Tensor, Value, Variable


def leaves(value: Value) -> list[Value]:
    """The inputs among which branches choose; the value itself if it is no such choice."""
    if not _is_choice(value):
        return [value]
    found = [part for part in _joined(value, beyond=False) if not (_is_choice(part) and part.inputs)]
    return found if found and all(isinstance(leaf, Input) for leaf in found) else [value]


def choices(loss: Tensor) -> list[Tensor]:
    """The tensors among which branches choose."""
    if not _is_choice(loss):
        return [loss]
    return [part for part in _joined(loss, beyond=False) if isinstance(part, Tensor) and not _is_choice(part)]


def is_input(value: Value) -> bool:
    """Whether a value is an input, in each branch that leaves one."""
    return all(isinstance(leaf, Input) for leaf in leaves(value))


def is_variable(value: Value) -> bool:
    """Whether a value is a variable in each branch that leaves one."""
    if not _is_choice(value):
        return isinstance(value, Variable)
    parts = chain(value.inputs, _joined(value, beyond=False))  # most that are none show it at once
    return all(_is_choice(part) or isinstance(part, (Absent, Variable)) for part in parts)


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


def _is_choice(value: Value) -> bool:
    return isinstance(value, Tensor) and not isinstance(value, Input) and value.op == "join"


def _joined(value: Value, beyond: bool = True) -> Iterator[Value]:
    """All that was joined, in order, each once: a name that every turn of a loop may set is joined with itself again.

    beyond: also what was joined to an input.
    """
    seen, todo = set[int](), [value]
    while todo:
        other = todo.pop()
        if id(other) in seen:
            continue
        seen.add(id(other))
        if other is not value:
            yield other
        if _is_choice(other) or beyond and isinstance(other, Tensor) and other.op == "join":
            todo += reversed(other.inputs)
