"""Calls that lead into code of other packages."""

from __future__ import annotations

import builtins
import sys

from converter.analysis.values import Constant, Host, Mapping, Number, Sequence, ShapeOf, Symbol, Typed, Value

LEADS_ANYWHERE = {"builtins.getattr", "builtins.__import__", "builtins.eval", "builtins.globals"}
BUILTINS = {*dir(builtins), "xrange", "unicode", "long", "basestring", "raw_input", "reduce", "unichr", "cmp"}
FINDS_MODULES = {"importlib", "imp", "pydoc", "runpy"}


def is_foreign(value: Value, known: dict[int, bool] | None = None) -> bool:
    """True if a call leads into a package other than Python's own, or to a target known only at run time.

    known: what was found before, by uid; whoever asks of many values that are made of each other passes the same dict.
    """
    passed: list[int] = []
    known = {} if known is None else known
    while value.uid not in known:
        passed.append(value.uid)
        if (found := _is_foreign_itself(value)) is not None:
            known[value.uid] = found
        elif value.source is not None:
            value = value.source
    known.update(dict.fromkeys(passed, known[value.uid]))
    return known[value.uid]


def _is_foreign_itself(value: Value) -> bool | None:
    """The same for one value; None if what it is made of tells."""
    if isinstance(value, Symbol):
        name = f"{value.library}.{value.name}".strip(".")
        library, _, called = name.partition(".")
        if library == "builtins":  # or a name that is bound nowhere: `from nets import *` may have brought it
            return name in LEADS_ANYWHERE or called.partition(".")[0] not in BUILTINS
        return library not in (*sys.stdlib_module_names - FINDS_MODULES, "numpy")
    if isinstance(value, Host) and value.call.partition(".")[0] in (*FINDS_MODULES, *LEADS_ANYWHERE):
        return True  # a module whose name is computed
    if isinstance(value, Typed) and value.kind == "Object":
        return True  # an object of a class of the library that the rules do not know
    if isinstance(value, (Constant, Number, Sequence, Mapping, ShapeOf)):
        return False  # Python's own methods; those of a shape give numbers
    return True if value.source is None else None
