"""Imports LibCST in half of the time, by making its classes' methods only when they are used.

Each of LibCST's 170 classes of nodes is a frozen dataclass (libcst/_nodes), of which a script has 30 or so: the others'
methods need not be compiled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from converter.dataclass import record


@contextmanager
def _records() -> Iterator[None]:
    standard = dataclasses.dataclass
    dataclasses.dataclass = record
    try:
        yield
    finally:
        dataclasses.dataclass = standard


with _records():
    import libcst  # noqa: F401
