"""Converts a script from its text to the converted text: the entry point for the commands and for other programs."""

from __future__ import annotations

from converter.conversion.engine import (
    CallSite,
    Conversion,
    OtherFile,
    commands_of,
    convert,
    unfollowed_calls,
)

__all__ = [
    "CallSite",
    "Conversion",
    "OtherFile",
    "commands_of",
    "convert",
    "unfollowed_calls",
]
