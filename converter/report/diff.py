"""Two texts as a unified diff that `patch` and `git apply` take."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_UNFINISHED = "\n\\ No newline at end of file\n"


def unified(before: str, after: str, path: str, to_path: str | None = None) -> str:
    """The unified diff from one text to another, empty where they are equal.

    Only newlines end a line, as for `patch`: a carriage return or a form feed stays part of its line.
    """
    lines = difflib.unified_diff(lines_of(before), lines_of(after), path, to_path or path)
    return "".join(line if line.endswith("\n") else line + _UNFINISHED for line in lines)


def coloured(diff: str) -> str:
    """A diff with ANSI colours: additions green, removals red, file names bold."""
    return "".join(_paint(line, number) for number, line in enumerate(lines_of(diff)))


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends; only newlines end one."""
    return list(_split(text))


def _split(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _paint(line: str, number: int) -> str:
    colour = _BOLD if number < 2 else _COLOURS.get(line[:1])
    body = line.rstrip("\r\n")
    return f"{colour}{body}{_RESET}{line[len(body) :]}" if colour else line
