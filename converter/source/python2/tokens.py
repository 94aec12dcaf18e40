"""The tokens of a Python 2 text: the standard `tokenize` of Python 3 no longer reads backticks, `<>` and octal numbers.

The lexical rules are those of Python 2.7 (Lib/tokenize.py), with two liberties: every operator that no construct of
Python 2 needs whole may come in pieces, and numbers are taken as widely as they can be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, get_args

from converter.dataclass import dataclass

Kind = Literal["name", "number", "string", "operator", "comment", "newline", "blank"]

_OPEN, _CLOSE = "([{", ")]}"
_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\f]+|\\(?:\r\n|\r|\n))
  | (?P<newline>\r\n|\r|\n)
  | (?P<comment>\#[^\r\n]*)
  | (?P<string>[uUbB]?[rR]?(?:'''(?:\\[\s\S]|[^\\])*?'''|\"{3}(?:\\[\s\S]|[^\\])*?\"{3}
      |'(?:\\(?:\r\n|[\s\S])|[^\\'\r\n])*'|"(?:\\(?:\r\n|[\s\S])|[^\\"\r\n])*"))
  | (?P<number>0[xX][0-9a-fA-F]+[lL]?|0[oO][0-7]+[lL]?|0[bB][01]+[lL]?
      |(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[jJlL]?)
  | (?P<name>[^\W\d]\w*)
  | (?P<operator><>|>>=?|<<=?|\*\*=?|//=?|[-+*/%&|^=<>!]=|[\s\S])
    """,
    re.VERBOSE,
)


_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}


@dataclass(frozen=True)
class Token:
    """A token with its place.

    begin: its offset in the text. depth: the brackets open around it; an opening or closing one counts as outside.
    """

    kind: Kind
    text: str
    begin: int
    depth: int

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.begin + len(self.text)


def tokens_of(text: str) -> Iterator[Token]:
    """All tokens, blanks and comments too: joined, they are the text."""
    depth = 0
    for found in _TOKEN.finditer(text):
        part = found[0]
        kind = _KINDS[found.lastgroup or ""]
        if kind == "operator" and part in _CLOSE:
            depth = max(depth - 1, 0)
        yield Token(kind, part, found.start(), depth)
        if kind == "operator" and part in _OPEN:
            depth += 1


def lines_of(text: str) -> Iterator[list[Token]]:
    """The logical lines: tokens up to the line end that ends a statement, without blanks, comments and line ends."""
    line: list[Token] = []
    for token in tokens_of(text):
        if token.kind == "newline" and not token.depth:
            if line:
                yield line
            line = []
        elif token.kind not in ("blank", "comment", "newline"):
            line.append(token)
    if line:
        yield line
