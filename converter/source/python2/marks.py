"""Marks in a view that record the Python 2 characters in a view's place, and the way back.

A view is a text that Python 3 reads, with as many lines as the Python 2 text it stands for. Where they differ, a mark
stands beside the view's own characters. A mark is made of blanks and form feeds, which Python takes between any two
tokens and which LibCST keeps: wherever a statement is moved, indented or copied to, its marks go with it. So a
changed view becomes Python 2 again without a memory of what stood where.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from converter.source.python2.tokens import Token, lines_of

_EDGE = "\f\t\f"
_BEHIND, _AHEAD, _INDENT = " ", "\t", "\f"  # the view's characters stand behind the reader, ahead, or begin the line
_BITS = 7  # for each character: all of them are ASCII
_MARK = re.compile(rf"{_EDGE}([ \t\f])((?:[ \t]{{{_BITS}}})*)\f((?:[ \t]{{{_BITS}}})*){_EDGE}")
TAB = 8  # columns, as Python 2 counts them (Parser/tokenizer.c)


def behind(view: str, original: str = "") -> str:
    """Characters of the view, followed by a mark that records the original's."""
    return view + _mark(_BEHIND, view, original)


def ahead(view: str, original: str = "") -> str:
    """The view's characters with a mark in front of them."""
    return _mark(_AHEAD, view, original) + view


def indented(view: str, original: str) -> str:
    """The mark behind the first token of a line that the original indents by other blanks than the view."""
    return _mark(_INDENT, view, original)


def is_view(text: str) -> bool:
    """True if a text contains marks, so that it is a view of a Python 2 text."""
    return _EDGE in text


def restored(view: str) -> str:
    """The Python 2 text that a view, changed or not, stands for.

    A mark whose characters have been replaced by an edit has nothing more to say, and is left out.
    """
    if _EDGE not in view:
        return view
    text = "".join(_restored_parts(view))
    return "".join(_with_indents(text)) if _EDGE in text else text


def column_in(view_line: str, column: int) -> int:
    """The column in the Python 2 line of a column in the view's line, both from 1."""
    if _EDGE not in view_line:
        return column
    before = view_line[: column - 1]
    for found in _MARK.finditer(view_line):
        if found.start() <= column - 1 < found.end():
            before = view_line[: found.start()]
    return max(len(restored(before)), 0) + 1


def _mark(where: str, view: str, original: str) -> str:
    return f"{_EDGE}{where}{_bits(view)}\f{_bits(original)}{_EDGE}"


def _bits(text: str) -> str:
    return "".join(f"{ord(letter):0{_BITS}b}" for letter in text).replace("0", " ").replace("1", "\t")


def _text(bits: str) -> str:
    digits = bits.replace(" ", "0").replace("\t", "1")
    return "".join(chr(int(digits[at : at + _BITS], 2)) for at in range(0, len(digits), _BITS))


def _restored_parts(view: str) -> Iterator[str]:
    """The parts of the text; marks of indents stay in it."""
    part, at = "", 0
    for found in _MARK.finditer(view):
        if found[1] == _INDENT:
            continue
        part += view[at : found.start()]
        at = max(at, found.end())
        held, original = _text(found[2]), _text(found[3])
        if found[1] == _BEHIND and part.endswith(held):
            part = part.removesuffix(held) + original
        elif found[1] == _AHEAD:
            yield part
            part = ""
            if view.startswith(held, at):
                part, at = original, at + len(held)
    yield part + view[at:]


def _with_indents(text: str) -> Iterator[str]:
    """The parts of a text with the original's blanks at the beginning of lines that are indented as in the view.

    Other lines are indented by tabs if most of the marked ones are.
    """
    marks = [_text(found[3]) for found in _MARK.finditer(text)]
    tabs = sum(lead.startswith("\t") for lead in marks) > len(marks) / 2
    begins = _line_begins(text)
    at = 0
    for line in lines_of(text):
        first = line[0]
        begin = begins[bisect_right(begins, first.begin) - 1]
        lead = text[begin : first.begin]
        found = _MARK.match(text, first.end)
        yield text[at:begin]
        if found and _text(found[2]) == lead:
            yield _text(found[3])
        else:
            yield _by_tabs(lead) if tabs else lead
        yield first.text
        at = found.end() if found else first.end
    yield text[at:]


def _by_tabs(lead: str) -> str:
    columns = len(lead.expandtabs(TAB))
    return "\t" * (columns // TAB) + " " * (columns % TAB)


def _line_begins(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer(r"\r\n|\n|\r", text))]


def reindented(text: str) -> list[tuple[Token, str, str]]:
    """First tokens of lines with the blanks in front of them as they are, and as Python 3 and LibCST take them.

    Empty if all lines are indented alike. Python 2 takes a tab for the blanks up to the next of its stops, every eight
    columns; a form feed begins the line anew.
    """
    begins = _line_begins(text)
    found = []
    for line in lines_of(text):
        begin = begins[bisect_right(begins, line[0].begin) - 1]
        found.append((line[0], text[begin : line[0].begin]))
    if len({blank for _, lead in found for blank in lead}) < 2:
        return []
    return [(token, lead, lead.rpartition("\f")[2].expandtabs(TAB)) for token, lead in found]
