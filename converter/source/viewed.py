"""Reads files as Python 3: Python 2 files are replaced by their views."""

from __future__ import annotations

import ast
import warnings
from contextlib import suppress
from dataclasses import replace

from converter.diagnostics import Refusal
from converter.parsing import parse_text
from converter.source.python2 import readable
from converter.source.text import Source


def viewed(source: Source) -> Source:
    """A source with a text that Python 3 reads, where that can be had; `encode` gives Python 2 back."""
    view = readable(source.text)
    return source if view == source.text else replace(source, text=view, python2=True)


def tree_or_none(data: bytes) -> ast.Module | None:
    """The same as `tree_of`; None for bytes that neither Python 3 nor 2 reads."""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of doubtful escapes, which are the script's business
        return tree_of(data)
    return None


def tree_of(data: bytes) -> ast.Module:
    """The syntax tree of a file's bytes, or of the view of them; it raises what `parse_text` raises."""
    try:
        return parse_text(data)
    except SyntaxError:
        from converter.source.text import from_bytes

        with suppress(Refusal):
            text = from_bytes("", data).text
            if readable(text) != text:
                return parse_text(readable(text))
        raise
