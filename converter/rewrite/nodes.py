"""Imports LibCST in less time: `import libcst` takes nearly half of a short conversion.

Each of LibCST's 170 classes of nodes brings `__repr__`, `__eq__` and `__hash__` of its own (libcst/_nodes/base.py,
CSTNode.__init_subclass__), for which `dataclass` compiles methods all the same, and drops them. Where a class has its
own, asking for none makes the same class (dataclasses: "If the class already defines __repr__(), this parameter is
ignored"), and spares an eighth of the import.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

_dataclass: Any = dataclasses.dataclass


def _lean(cls: Any = None, /, **asked: Any) -> Any:
    """`dataclass` that does not compile what the class has already."""
    if cls is None:
        return partial(_lean, **asked)
    own = vars(cls)
    if "__repr__" in own:
        asked["repr"] = False
    if "__eq__" in own and "__hash__" in own:
        asked["eq"] = False
    return _dataclass(cls, **asked)


@contextmanager
def _lean_dataclasses() -> Iterator[None]:
    dataclasses.dataclass = _lean
    try:
        yield
    finally:
        dataclasses.dataclass = _dataclass


with _lean_dataclasses():
    import libcst  # noqa: F401
