"""Files in and out: encodings, newlines, atomic writes, and whether a file is Python at all.

What this package offers is loaded when it is first asked for: the look for TensorFlow, which most
files of a project do not pass, must not pay for the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from converter.source.files import InputFile, expand, same_file
    from converter.source.pragmas import skips_file
    from converter.source.project.leading import leads_to_tensorflow, may_train
    from converter.source.quick_checks import (
        imported_by,
        is_pipeline,
        mentions_tensorflow,
        scripts_in,
        trains_by_torch,
    )
    from converter.source.syntax import lost_blank, mixed_indents, parse, too_deep
    from converter.source.text import Source, encode, from_bytes, load, read, too_long, whole, with_lines
    from converter.source.writing import clear_left_over, not_written, other_names, write

__all__ = [
    "InputFile",
    "Source",
    "clear_left_over",
    "encode",
    "expand",
    "from_bytes",
    "imported_by",
    "is_pipeline",
    "leads_to_tensorflow",
    "load",
    "may_train",
    "mentions_tensorflow",
    "lost_blank",
    "mixed_indents",
    "not_written",
    "other_names",
    "parse",
    "read",
    "same_file",
    "skips_file",
    "scripts_in",
    "too_deep",
    "too_long",
    "trains_by_torch",
    "whole",
    "with_lines",
    "write",
]

_HOME = {
    "clear_left_over": "writing",
    "not_written": "writing",
    "other_names": "writing",
    "InputFile": "files",
    "Source": "text",
    "encode": "text",
    "expand": "files",
    "from_bytes": "text",
    "imported_by": "quick_checks",
    "is_pipeline": "quick_checks",
    "leads_to_tensorflow": "project.leading",
    "load": "text",
    "may_train": "project.leading",
    "mentions_tensorflow": "quick_checks",
    "lost_blank": "syntax",
    "mixed_indents": "syntax",
    "parse": "syntax",
    "read": "text",
    "same_file": "files",
    "skips_file": "pragmas",
    "scripts_in": "quick_checks",
    "too_deep": "syntax",
    "too_long": "text",
    "trains_by_torch": "quick_checks",
    "whole": "text",
    "with_lines": "text",
    "write": "writing",
}


def __getattr__(name: str) -> object:
    """Imports what is asked for from the module that defines it (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
