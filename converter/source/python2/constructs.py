"""Finds the construct of Python 2 behind a syntax error of Python 3.

Python's parser names the statements that it knows from its past; for the rest, the text at the place
of the error tells. The messages are those of CPython 3.10 to 3.13 (Grammar/python.gram).
"""

from __future__ import annotations

import re
from collections.abc import Callable

_STRING = re.compile(r"""('''|\"{3}|'|")(?:\\.|(?!\1).)*\1""")
_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_CAUGHT = rf"(?:{_NAME}|\([^()]*\))"
_EXCEPT = re.compile(rf"\s*{_CAUGHT}\s*,\s*{_CAUGHT}\s*:")
_RAISE = re.compile(r"(?:^|[:;])\s*raise\s(?!.*\sfrom\s)[^:;]*$")
_OCTAL = re.compile(r"0[0-7]+[lL]?(?!\w)")
_LONG = re.compile(r"(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|\d+)[lL](?!\w)")
_RAW_UNICODE = re.compile(r"(?<!\w)[uU][rR]$")
_DEF = re.compile(r"\bdef\s+\w+\s*\([^)]*$")
_LAMBDA = re.compile(r"\blambda\b[^:()]*$")


def construct(line: str, column: int, message: str) -> str | None:
    """Names the Python 2 construct that causes a syntax error, None where there is none.

    line: the line of the error, whole. column: the error's, from one. message: the parser's.
    """
    masked = _STRING.sub(lambda found: "s" * len(found[0]), line)
    at = column - 1
    for start, name in _BY_MESSAGE:
        if message.lower().startswith(start):
            return name(line, masked, at)
    return None


def _statement(name: str) -> Callable[[str, str, int], str | None]:
    return lambda line, masked, at: f"the {name} statement"


def _except(line: str, masked: str, at: int) -> str | None:
    return "`except X, e` (now `except X as e`)" if _EXCEPT.match(masked, at) else None


def _octal(line: str, masked: str, at: int) -> str | None:
    found = _OCTAL.match(line, at)
    return f"the octal number {found[0]} (now 0o{found[0][1:].rstrip('lL')})" if found else None


def _long(line: str, masked: str, at: int) -> str | None:
    # The parser points at the last digit, not at the first.
    for found in _LONG.finditer(line):
        if found.start() <= at <= found.end():
            return f"the long integer {found[0]} (now without the {found[0][-1]})"
    return None


def _parameters(line: str, masked: str, at: int) -> str | None:
    return "a tuple among the parameters (now unpacked in the body)"


def _by_place(line: str, masked: str, at: int) -> str | None:
    """The construct behind the message that does not name one: `invalid syntax`."""
    before, here = masked[:at], line[at:]
    if here.startswith("`") and not line.lstrip().startswith("```"):
        return "backticks (now repr())"
    if here.startswith("<>"):
        return "`<>` (now `!=`)"
    if here[:1] in ("'", '"') and _RAW_UNICODE.search(line[:at]):
        return "the string prefix ur (now r)"
    if here.startswith(",") and _RAISE.search(before):
        return "`raise E, x` (now `raise E(x)`)"
    if here.startswith("(") and (_DEF.search(before) or _LAMBDA.search(before)):
        return _parameters(line, masked, at)
    return None


_BY_MESSAGE = (
    ("missing parentheses in call to 'print'", _statement("print")),
    ("missing parentheses in call to 'exec'", _statement("exec")),
    ("multiple exception types must be parenthesized", _except),
    ("leading zeros in decimal integer literals", _octal),
    ("invalid decimal literal", _long),
    ("invalid hexadecimal literal", _long),
    ("invalid octal literal", _long),
    ("invalid binary literal", _long),
    ("function parameters cannot be parenthesized", _parameters),
    ("lambda expression parameters cannot be parenthesized", _parameters),
    ("invalid syntax", _by_place),
)
