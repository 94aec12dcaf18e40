"""Decorators: those of the script are called, others are known by what they may do to the arguments of a function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from converter.analysis.library import handlers, naming
from converter.analysis.python.calling import call_value
from converter.analysis.values import KEPT_PROPERTY, Class, Function, Instance, Symbol, Typed, Value, needed

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

# Modules whose decorators give a function no arguments that its caller does not give.
PLAIN = frozenset(
    ("abc", "attr", "atexit", "builtins", "contextlib", "dataclasses", "enum", "functools", "numba", "numpy", "six")
    + ("line_profiler", "memory_profiler", "profile", "pytest", "unittest", "typing", "warnings")
)
# Properties of Python's library and of packages that are computed when they are first read, and kept by the object.
CACHED = frozenset(("functools.cached_property", "cached_property.cached_property", "lazy.lazy"))


def decorate(walk: Walk, decorator: ast.expr, function: Value) -> Value:
    """Calls decorators of the script; of others only properties, staticmethod and classmethod count."""
    name = decorator.id if isinstance(decorator, ast.Name) else getattr(decorator, "attr", "")
    if name in ("property", "staticmethod", "classmethod") and isinstance(function, Function):
        return Typed(name, name, [function], {}, None)
    value = walk.evaluate(decorator)
    if isinstance(value, Symbol) and f"{value.library}.{value.name}" in CACHED and isinstance(function, Function):
        return Typed(KEPT_PROPERTY, name, [function], {}, None)
    if isinstance(value, (Function, Class)):
        result = call_value(walk, value, [function], {}, ast.copy_location(_call_of(decorator), decorator))
        return result if isinstance(result, (Function, Typed, Instance)) else function
    known = isinstance(value, Symbol) and value.library == naming().library and value.name in handlers()
    if known and isinstance(function, Function):
        made = call_value(walk, value, [function], {}, ast.copy_location(_call_of(decorator), decorator))
        if isinstance(made, Typed) and not isinstance(walk.frame.node, ast.ClassDef):
            return made
    if isinstance(function, Function) and may_give_arguments(value):
        function.injected = True
    return function


def _call_of(decorator: ast.expr) -> ast.Call:
    return ast.Call(decorator, [], [])


def may_give_arguments(decorator: Value) -> bool:
    """Whether a decorator is not followed, and may give arguments in place of defaults: `@gin.configurable`."""
    behind = [v for v in needed([decorator]).values() if isinstance(v, Symbol)]
    roots = {root for v in behind for root in (v.library, v.name.partition(".")[0])}
    return bool(behind) and roots.isdisjoint((naming().library, *PLAIN))
