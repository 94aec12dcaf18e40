"""Python 2 as Python 3: makes a view of a text that Python 3 can parse line by line, and converts it back.

Everything behind this package reads, plans and edits views; `restored` makes Python 2 of what is given out.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

from converter.dataclass import dataclass
from converter.parsing import parse_text
from converter.source.python2.marks import column_in, is_view, restored

__all__ = ["Unread", "is_view", "original_place", "readable", "restored", "view_or_why"]

_LINE_END = re.compile(r"\r\n|\n|\r")
_KEPT = 256  # texts, so that each of a project is looked at once


@dataclass(frozen=True)
class Unread:
    """The reason why Python 3 can read neither a text nor a view of it.

    line, column: from 1, in the text. message: what is wrong there. hint: what to do if the text is Python 2 except for
    constructs without a view, or that only Python 3 has; else "".
    """

    line: int
    column: int
    message: str
    hint: str = ""


@lru_cache(_KEPT)
def view_or_why(text: str) -> str | Unread:
    """The text if Python 3 reads it, the view if Python 2 does, else the reason why neither does."""
    error = _error_in(text)
    if error is None:
        return text
    from converter.source.python2.constructs import construct  # which a run without Python 2 is spared
    from converter.source.python2.only_3 import first_new
    from converter.source.python2.view import NoView, view_of

    try:
        view = view_of(text)
    except NoView as problem:
        line, column = _place(text, problem.offset)
        return Unread(line, column, f"Python 2 syntax: {problem.what}", problem.hint)
    line, column = error.lineno or 0, max(error.offset or 1, 1)
    old = construct(next(iter(_lines(text)[line - 1 : line]), ""), column, error.msg)
    left, new = _error_in(view), None
    if left is not None and old:
        at = original_place(text, view, left.lineno or 0, max(left.offset or 1, 1))
        return Unread(*at, left.msg)
    if left is None:
        new = first_new(parse_text(view))
        if new is None:
            return view
    if old is None or new is None:
        return Unread(line, column, error.msg)
    both = f"Python 2 syntax: {old}; and {new.what}, line {new.line}, is Python 3's"
    return Unread(line, column, both, "no Python runs both: write the file for one of them")


def readable(text: str) -> str:
    """The text as Python 3 reads it, itself or its view; unchanged if neither can be read."""
    found = view_or_why(text)
    return found if isinstance(found, str) else text


def original_place(text: str, view: str, line: int, column: int) -> tuple[int, int]:
    """The place in a text of a place in its view; lines and columns from 1, line 0 for the whole file."""
    rows = _lines(view)
    if not 0 < line <= len(rows):
        return line, column
    return line, min(column_in(rows[line - 1], column), len(_lines(text)[line - 1]) + 1)


def _error_in(text: str) -> SyntaxError | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of doubtful escapes, which are the script's business
        try:
            parse_text(text)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError):
            return None  # for whoever parses it next to say
    return None


def _place(text: str, offset: int) -> tuple[int, int]:
    before = _lines(text[:offset])
    return len(before), len(before[-1]) + 1


def _lines(text: str) -> list[str]:
    return _LINE_END.split(text)
