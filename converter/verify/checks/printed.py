"""Compares what two runs of a script printed: the words must be the same, and the numbers up to rounding."""

from __future__ import annotations

import math
import re

RELATIVE = 1e-4  # as fetched values are compared
ABSOLUTE = 1e-6
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b")


def unlike_lines(one: str, other: str) -> dict[int, tuple[str, str]]:
    """The lines that differ, {number from one: (the one, the other)}; a line that is missing is empty."""
    ours, theirs = one.splitlines(), other.splitlines()
    length = max(len(ours), len(theirs))
    ours, theirs = ours + [""] * (length - len(ours)), theirs + [""] * (length - len(theirs))
    return {number: (a, b) for number, (a, b) in enumerate(zip(ours, theirs, strict=True), 1) if not same_line(a, b)}


def same_line(one: str, other: str) -> bool:
    """True if two lines are the same up to whitespace and the rounding of numbers."""
    if form_of(one) != form_of(other):
        return False
    pairs = list(zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True))
    largest = max((abs(float(b)) for _, b in pairs if math.isfinite(float(b))), default=0.0)
    return all(_close(a, b, largest) for a, b in pairs)


def form_of(line: str) -> tuple[str, ...]:
    """A line's words, with the same one for every number."""
    return tuple(_NUMBER.sub(" 0 ", line).split())


def numbers_in(line: str) -> list[str]:
    """The numbers of a line, as it writes them."""
    return _NUMBER.findall(line)


def _close(one: str, other: str, largest: float) -> bool:
    a, b = float(one), float(other)
    if not (math.isfinite(a) and math.isfinite(b)):
        return one.lstrip("+") == other.lstrip("+")
    whole = re.fullmatch(r"[-+]?\d+", one) and re.fullmatch(r"[-+]?\d+", other)
    return a == b if whole else abs(a - b) <= max(ABSOLUTE, RELATIVE * largest)
