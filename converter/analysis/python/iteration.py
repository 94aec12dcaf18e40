"""What a loop goes over, if that is an object of the script: its class says what it gives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from converter.analysis.python.calling import call_method
from converter.analysis.values import Constant, Instance, Number, Sequence, Value

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

NEXT = ("__next__", "next")  # Python 2 calls the second


def iterated(walk: Walk, value: Value, node: ast.AST) -> Value:
    """The elements of a value, as a list of any number of them if an object's methods give them; else the value."""
    if not isinstance(value, Instance):
        return value
    over = call_method(walk, value, "__iter__", [], node)
    if isinstance(over, Instance):
        element = next_of(walk, over, node)
    elif over is not None:
        return over  # a generator, or another thing that can be iterated over
    else:
        element = call_method(walk, value, "__getitem__", [Number(None)], node)
    if element is None or isinstance(element, Constant):
        return value
    return walk.stamp(Sequence([element], many=True), node)


def next_of(walk: Walk, iterator: Instance, node: ast.AST) -> Value | None:
    """What an iterator's own method gives next; None if its class has none."""
    for name in NEXT:
        element = call_method(walk, iterator, name, [], node)
        if element is not None:
            return element
    return None
