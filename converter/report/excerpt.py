"""The line of a script that a finding is about, with a caret below its column."""

from __future__ import annotations

from unicodedata import east_asian_width

from converter.diagnostics import Diagnostic

WIDEST = 100  # characters of a line that are shown
_BEFORE = 60  # how many of them stand in front of the column


def excerpt(finding: Diagnostic) -> list[str]:
    """Two lines, the script's and one with the caret; none where the line is not known or blank."""
    if not finding.text.strip():
        return []
    at = character(finding) - 1
    first = max(0, at - _BEFORE) if len(finding.text) > WIDEST else 0
    shown = finding.text[first : first + WIDEST]
    left, right = "…" * bool(first), "…" * (first + WIDEST < len(finding.text))
    number = str(finding.line)
    text = f"    {number} | {left}{_printable(shown)}{right}"
    caret = f"    {' ' * len(number)} | {' ' * len(left)}{''.join(map(_blank, shown[: at - first]))}^"
    return [text.rstrip(), caret]


def character(finding: Diagnostic) -> int:
    """The column in characters, from one: findings count the bytes of UTF-8, as `ast` does."""
    head = finding.text.encode("utf-8", "surrogatepass")[: finding.column - 1]
    return len(head.decode("utf-8", "ignore")) + 1 if finding.text else max(finding.column, 1)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() or letter == "\t" else " " for letter in text)


def _blank(letter: str) -> str:
    """As many spaces as the letter is wide on a terminal."""
    return "\t" if letter == "\t" else "  " if east_asian_width(letter) in "WF" else " "
