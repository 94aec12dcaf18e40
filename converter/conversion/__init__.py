"""The whole way of a script, from its text to the converted one: what the commands and other programs call."""

from __future__ import annotations

from converter.conversion.engine import (
    CallSite,
    Conversion,
    Part,
    commands_of,
    convert,
    unfollowed_calls,
)

__all__ = [
    "CallSite",
    "Conversion",
    "Part",
    "commands_of",
    "convert",
    "unfollowed_calls",
]
