"""The check of the variables' initial values, made from the figures of child/tmgprobe/session/initial.py."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from converter.verify.checks.figures import finite, listing, number
from converter.verify.data import CheckResult

TOLERANCE = 1e-5
FEW = 100  # with fewer drawn numbers mean and deviation say little
FAR = 8.0  # standard errors by which two draws of one distribution may differ

_NAME = "initial values"
_PARTS = ("size", "different numbers", "mean", "deviation", "least number", "largest number")

Figures = Sequence[Any]
Row = Mapping[str, Any]


def check_initial(mine: Mapping[str, Row], theirs: Mapping[str, Row]) -> list[CheckResult]:
    """Variables of the same name start from the same: initialisers, and values at the first training step."""
    both, left = sorted(set(mine) & set(theirs)), []
    for name in both:
        own, other = mine[name], theirs[name]
        fault = _initialiser(own, other) or _start(own, other)
        if fault:
            return [CheckResult(_NAME, "failed", f"{name} {fault}")]
        if not _compared(own, other):
            left.append(name)
    checks = []
    if len(both) > len(left):
        which = "1 variable starts" if len(both) == len(left) + 1 else f"{len(both) - len(left)} variables start"
        checks.append(CheckResult(_NAME, "passed", f"{which} from the same"))
    if left:
        why = "set before the first step to values that the scripts need not share, or that cannot be computed again"
        checks.append(CheckResult(_NAME, "skipped", f"{listing(left)}: {why}"))
    return checks


def _compared(own: Row, other: Row) -> bool:
    """True if the initial values were compared, or both variables start from the same initialiser."""
    if own["reads"] and own["reads"] == other["reads"]:
        return True
    if own["held"] is not None and other["held"] is not None:
        return _untouched(own) or _difference(own["start"], other["start"]) is None
    return own["start"] is not None and other["start"] is not None and _difference(own["start"], other["start"]) is None


def _initialiser(own: Row, other: Row) -> str:
    """What differs between two initialisers."""
    if own["random"] != other["random"]:
        drawn, wanted = (" and ".join(row["random"]) or "nothing" for row in (other, own))
        return f"is initialised with {drawn} drawn instead of {wanted}"
    if own["seeds"] != other["seeds"]:
        return f"is drawn with the seeds {other['seeds']} instead of {own['seeds']}"
    if own["reads"] != other["reads"]:
        read, wanted = (listing(row["reads"]) or "no variable" for row in (other, own))
        return f"is initialised from {read} instead of {wanted}"
    if own["held"] is None or other["held"] is None:
        return ""
    part = _difference(own["held"], other["held"])
    if part is None:
        return ""
    if own["random"]:
        return "is drawn from another distribution: the parameters of its initialiser differ"
    return f"is initialised with another value: {_words(part, other['held'], own['held'])}"


def _start(own: Row, other: Row) -> str:
    """The difference between the values at the first training step."""
    if own["start"] is not None and other["start"] is None:
        return "has no value when training starts"
    if own["start"] is None or own["reads"] or not _untouched(own):
        return ""
    if not own["random"]:
        part = _difference(own["start"], other["start"])
        return f"has another value when training starts: {_words(part, other['start'], own['start'])}" if part else ""
    if _drawn_alike(own["start"], other["start"]):
        return ""
    return f"has other values when training starts: {_words('deviation', other['start'], own['start'])}"


def _untouched(row: Row) -> bool:
    """Whether a variable starts from its initialiser, as far as can be told of values that are drawn."""
    return bool(row["random"]) or row["held"] is None or _difference(row["held"], row["start"]) is None


def _difference(own: Figures | None, other: Figures | None) -> str | None:
    """The statistic in which two arrays differ, None if they are alike."""
    if own is None or other is None:
        return None if own is other else "size"
    size = max((abs(number(value)) for value in (*own[2:], *other[2:]) if finite(value)), default=0.0)
    for part, one, two in zip(_PARTS, own, other, strict=True):
        one, two = number(one), number(two)
        same = one == two or (one != one and two != two)
        if not same and not (finite(one) and finite(two) and abs(one - two) <= TOLERANCE * max(size, 1e-30)):
            return part
    return None


def _drawn_alike(own: Figures, other: Figures) -> bool:
    """Whether two draws may be of one distribution: mean and deviation lie within a few standard errors."""
    count = min(int(own[1]), int(other[1]))
    values = [number(value) for value in (*own[2:4], *other[2:4])]
    if count < FEW or not all(math.isfinite(value) for value in values):
        return True
    mean, deviation, mean_of_other, deviation_of_other = values
    error = FAR * max(deviation, deviation_of_other) / math.sqrt(count)
    return abs(mean - mean_of_other) <= error and abs(deviation - deviation_of_other) <= error


def _words(part: str, theirs: Figures | None, own: Figures | None) -> str:
    if theirs is None or own is None:
        return "no number"
    place = _PARTS.index(part)
    return f"{part} {number(theirs[place]):.6g} instead of {number(own[place]):.6g}"
