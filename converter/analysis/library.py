"""What is known of calls that are not followed: of TensorFlow's below rules/calls, of Python's in python/standard."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TypeVar

from converter.analysis.call import Context, Handler
from converter.rule import modules_below, rule_modules

Entry = TypeVar("Entry")

STANDARD = f"{__name__.rpartition('.')[0]}.python.standard"  # the package that knows Python's own library


@cache
def handlers() -> Mapping[str, Handler]:
    """What each call means to a batch, by its name in the library ("nn.relu") or by "Type.method"."""
    return merged(*(getattr(module, "CALLS", {}) for module in (*rule_modules("calls"), *modules_below(STANDARD))))


@cache
def contexts() -> Mapping[str, Context]:
    """What `with` does to a walk, by the type of the library's object."""
    return merged(*(getattr(module, "CONTEXTS", {}) for module in rule_modules("calls")))


def merged(*tables: Mapping[str, Entry]) -> Mapping[str, Entry]:
    """Several tables as one.

    Raises:
        ValueError: two of them know one name.
    """
    found: dict[str, Entry] = {}
    for table in tables:
        if twice := found.keys() & table.keys():
            raise ValueError(f"registered twice: {', '.join(sorted(twice))}")
        found.update(table)
    return found
