"""Texts as a terminal shows them: lines within the window, and colour for codes, carets and verdicts."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import wrap
from typing import TextIO
from unicodedata import east_asian_width

from converter.choices import Color

_NARROWEST = 40
_EXCERPT = re.compile(r" +\d* \| ")  # a line of a script, and the caret below it
_CARET = re.compile(r" +\| +\^")
_COMMAND = re.compile(r": +tf-multigpu ")  # to be copied in one piece
# What stands in front of a text: a topic, a verdict or a mark, or the blanks below one.
_COLUMNS = re.compile(r"(\S[^:]{0,13}: +|[A-Za-z][A-Za-z ]{7} {2,}| {11})(?=\S)")
_RED, _GREEN, _YELLOW, _BOLD = "31", "32", "33", "1"
_VERDICTS = {"PASSED": _GREEN, "FAILED": _RED, "NOT COMPARABLE": _YELLOW}
_MARKED = re.compile(r"^(PASSED|FAILED|NOT COMPARABLE)\b|(?:^|(?<= ))(TMG\d{3})\b|(?<= \| )( *\^)$", re.MULTILINE)
_chosen: list[Color] = ["auto"]  # the last one is in force


@contextmanager
def color(chosen: Color) -> Iterator[None]:
    """Follows a value of --color until the block ends."""
    _chosen.append(chosen)
    try:
        yield
    finally:
        _chosen.pop()


def has_color(stream: TextIO) -> bool:
    """True if a stream gets colour: as --color says; for `auto`, a terminal does unless NO_COLOR or TERM forbids it."""
    if _chosen[-1] != "auto":
        return _chosen[-1] == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def shown(text: str, stream: TextIO | None = None) -> str:
    """A text for people as the stream (default: standard error) shows it: on a terminal its lines fit the window."""
    stream = stream or sys.stderr
    if not stream.isatty():
        return marked(text, stream)
    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    lines = _moved(text.split("\n"), width)
    return marked("\n".join(part for line in lines for part in _fitted(line, width)), stream)


def marked(text: str, stream: TextIO) -> str:
    """A text with codes, carets and verdicts in colour, if the stream gets colour."""
    return _MARKED.sub(_coloured, text) if has_color(stream) else text


def say(text: str) -> None:
    """Prints a text for people on standard error."""
    print(shown(text), file=sys.stderr)


def _moved(lines: list[str], width: int) -> list[str]:
    """The lines; of a script's that is too long for its caret to be seen, the part around the caret."""
    moved = list(lines)
    for at, (line, below) in enumerate(zip(lines, lines[1:], strict=False)):
        head, caret = _EXCERPT.match(line), _CARET.fullmatch(below)
        if head is None or caret is None or len(below) < width or not _is_narrow(line):
            continue
        begin = head.end()
        hidden = len(below) - begin - (width - begin) * 2 // 3  # two thirds of the window stand in front of the caret
        moved[at] = f"{line[:begin]}…{line[begin + hidden + 1 :]}"
        moved[at + 1] = f"{below[:begin]}{below[begin + hidden :]}"
    return moved


def _is_narrow(line: str) -> bool:
    """Whether each letter is one column wide."""
    return all(letter.isprintable() and east_asian_width(letter) not in "WF" for letter in line)


def _fitted(line: str, width: int) -> Iterator[str]:
    """A line broken to the width of the window, continuation lines indented; a script's line is cut off."""
    if len(line) <= width or _COMMAND.search(line):
        yield line
        return
    if _EXCERPT.match(line):
        yield f"{line[: width - 1]}…"
        return
    indent = len(line) - len(line.lstrip())
    column = _COLUMNS.match(line, indent if indent < 11 else 0)
    below = column.end() if column else indent + 4
    yield from wrap(line, width, subsequent_indent=" " * below, break_on_hyphens=False, break_long_words=False)


def _coloured(found: re.Match[str]) -> str:
    verdict, code, caret = found.groups()
    style = f"{_BOLD};{_VERDICTS[verdict]}" if verdict else _BOLD if code else f"{_BOLD};{_GREEN}"
    return f"\x1b[{style}m{verdict or code or caret}\x1b[0m"
