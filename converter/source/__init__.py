"""Files in and out: encodings, newlines, atomic writes, and whether a file is Python at all.

What this package offers is loaded when it is first asked for: the look for TensorFlow, which most
files of a project do not pass, must not pay for the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from converter.source.files import InputFile as InputFile
    from converter.source.files import expand as expand
    from converter.source.files import same_file as same_file
    from converter.source.pragmas import skips_file as skips_file
    from converter.source.project.leading import leads_to_tensorflow as leads_to_tensorflow
    from converter.source.project.leading import may_train as may_train
    from converter.source.quick_checks import imported_by as imported_by
    from converter.source.quick_checks import is_pipeline as is_pipeline
    from converter.source.quick_checks import mentions_tensorflow as mentions_tensorflow
    from converter.source.quick_checks import scripts_in as scripts_in
    from converter.source.quick_checks import trains_by_torch as trains_by_torch
    from converter.source.syntax import lost_blank as lost_blank
    from converter.source.syntax import mixed_indents as mixed_indents
    from converter.source.syntax import parse as parse
    from converter.source.syntax import too_deep as too_deep
    from converter.source.text import Source as Source
    from converter.source.text import encode as encode
    from converter.source.text import from_bytes as from_bytes
    from converter.source.text import load as load
    from converter.source.text import read as read
    from converter.source.text import too_long as too_long
    from converter.source.text import whole as whole
    from converter.source.text import with_lines as with_lines
    from converter.source.writing import clear_left_over as clear_left_over
    from converter.source.writing import not_written as not_written
    from converter.source.writing import other_names as other_names
    from converter.source.writing import write as write

# The names that each module defines, as above.
_DEFINES = {
    "files": "InputFile expand same_file",
    "pragmas": "skips_file",
    "project.leading": "leads_to_tensorflow may_train",
    "quick_checks": "imported_by is_pipeline mentions_tensorflow scripts_in trains_by_torch",
    "syntax": "lost_blank mixed_indents parse too_deep",
    "text": "Source encode from_bytes load read too_long whole with_lines",
    "writing": "clear_left_over not_written other_names write",
}
_HOME = {name: module for module, names in _DEFINES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Imports what is asked for from the module that defines it (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
