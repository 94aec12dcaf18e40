"""Entering and leaving `with` blocks."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from converter.analysis.library import contexts
from converter.analysis.python.calling import call_method
from converter.analysis.values import Bound, Instance, Typed, Value

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


def enter_with(walk: Walk, context: Value, node: ast.expr) -> Callable[[], object]:
    """Enters a context of the script or of the library; returns the function that leaves it."""
    if isinstance(context, Instance):
        call_method(walk, context, "__enter__", [], node)
    if isinstance(context, Typed) and (enter := contexts().get(context.kind)):
        return enter(walk, context, node)
    return _leave_nothing


def _leave_nothing() -> None:
    pass


def bind_with(context: Value) -> Value:
    """The value that `with … as name` binds."""
    return context.receiver if isinstance(context, Bound) else context
