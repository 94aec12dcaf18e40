"""Runs in which nothing trains: what both scripts print and fetch from their beginnings to their ends.

Pure: from the texts and numbers of such runs to verdicts. An evaluation may take batches of all GPUs; then what is
printed for each batch is printed fewer times, and numbers of batches are smaller: that is no fault, and no proof.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from converter.dataclass import dataclass
from converter.verify.data import CheckResult

PRINTED, FETCHED, ENDS = "printed lines", "fetched values", "end of the run"
_WHOLE = re.compile(r"[-+]?\d+")
Lines = Mapping[tuple[str, ...], Sequence[str]]  # lines by their words
Runs = Sequence[Sequence[float]]
RELATIVE = 1e-4  # as fetched values are compared
ABSOLUTE = 1e-6
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b")


@dataclass(frozen=True)
class Said:
    """What a script prints, and which numbers each of its runs fetches.

    problem: why it ended before its end; "" where it did not. steps: how many training steps it has taken.
    """

    text: str = ""
    runs: tuple[tuple[float, ...], ...] = ()
    problem: str = ""
    steps: int = 0


def check_untrained(own: Said, theirs: Said, again: Callable[[], Iterable[Said]], towers: int) -> list[CheckResult]:
    """Compares a run of the original in which nothing trains with the conversion's.

    again: further runs of the original, which are only made if something differs: what differs in them as well says
    nothing.
    """
    if own.problem:
        return [CheckResult(ENDS, "skipped", f"the original fails: {own.problem}")]
    if theirs.problem:
        return [CheckResult(ENDS, "failed", f"the conversion fails: {theirs.problem}")]
    if theirs.steps > own.steps:
        return [CheckResult(ENDS, "failed", f"the conversion takes {theirs.steps} training steps, the original none")]
    found = [check for check in _checks(own, theirs, (), towers) if check is not None]
    if all(check.status != "failed" for check in found):
        return found
    others = [one for one in again() if not one.problem]
    if any(not _alike(own.runs, other.runs) for other in others):
        why = "not compared: the original fetches other values in each of its own runs"
        return [CheckResult(check.name, "skipped", why) if check.status == "failed" else check for check in found]
    return [check for check in _checks(own, theirs, others, towers) if check is not None]


def _checks(
    own: Said, theirs: Said, others: Sequence[Said], towers: int
) -> tuple[CheckResult | None, CheckResult | None]:
    loose = {form for other in others for form in _unlike(own, other, 1)}
    return _printed(own, theirs, loose, towers), _fetched(own.runs, theirs.runs)


def _printed(own: Said, theirs: Said, loose: set[tuple[str, ...]], towers: int) -> CheckResult | None:
    """Compares the lines that have the same words; loose: those that differ in runs of the original, too."""
    mine = _lines(own.text)
    if not mine and not theirs.text.strip():
        return None
    unlike = _unlike(own, theirs, towers)
    for form, (fault, detail) in unlike.items():
        if fault and form not in loose:
            return CheckResult(PRINTED, "failed", detail)
    same = [line for form, lines in mine.items() if form not in unlike for line in lines]
    open_ = [detail for form, (_, detail) in unlike.items() if form not in loose]
    words = [*open_[:3], *["lines that differ in each run of the original"][: len(unlike) - len(open_)]]
    apart = f"; not compared: {'; '.join(words)}" if words else ""
    if not any(numbers_in(line) for line in same):
        return CheckResult(PRINTED, "skipped", f"no line with a number was compared{apart}")
    return CheckResult(PRINTED, "passed", f"{len(same)} as the original's{apart}")


def _unlike(own: Said, theirs: Said, towers: int) -> dict[tuple[str, ...], tuple[bool, str]]:
    """The kinds of lines that differ: whether that is a fault, and how they do."""
    mine, other = _lines(own.text), _lines(theirs.text)
    found = {form: _difference(mine.get(form, ()), other.get(form, ()), towers) for form in {**mine, **other}}
    return {form: difference for form, difference in found.items() if difference is not None}


def _lines(text: str) -> Lines:
    found: dict[tuple[str, ...], list[str]] = {}
    for line in text.splitlines():
        if line.strip():
            found.setdefault(form_of(line), []).append(line.strip())
    return found


def _difference(own: Sequence[str], theirs: Sequence[str], towers: int) -> tuple[bool, str] | None:
    """How lines of the same words differ, and whether that is a fault; None where they do not."""
    if len(own) != len(theirs):
        line = (*own, *theirs)[0]
        detail = f"{line!r} and its like {len(theirs)} times instead of {len(own)}"
        return (len(theirs) != -(-len(own) // towers) or towers == 1 or len(own) < 2), f"prints {detail}"
    pairs = [(a, b) for a, b in zip(own, theirs, strict=True) if not same_line(a, b)]
    if not pairs:
        return None
    numbers = [list(zip(numbers_in(a), numbers_in(b), strict=True)) for a, b in pairs]
    alike = [all(a == b or _is_count(a, b, towers) for a, b in each) for each in numbers]
    wrong = next((pair for pair, counts in zip(pairs, alike, strict=True) if not counts), None)
    wanted, found = wrong or pairs[0]
    return wrong is not None, f"prints {found!r} instead of {wanted!r}"


def _is_count(own: str, theirs: str, towers: int) -> bool:
    """Whether two numbers only differ as numbers of batches, or their sizes, do."""
    if not (_WHOLE.fullmatch(own) and _WHOLE.fullmatch(theirs)):
        return False
    wanted, found = int(own), int(theirs)
    return found == wanted * towers or found in (wanted // towers, -(-wanted // towers))


def _fetched(own: Runs, theirs: Runs) -> CheckResult | None:
    """Compares what runs fetch, where both scripts make the same ones."""
    mine, other = ([run for run in runs if run] for runs in (own, theirs))
    if not mine and not other:
        return None
    if [len(run) for run in mine] != [len(run) for run in other]:
        detail = f"numbers are fetched {len(other)} times, in the original {len(mine)} times: the runs are other ones"
        return CheckResult(FETCHED, "skipped", detail)
    for number, (wanted, found) in enumerate(zip(mine, other, strict=True), 1):
        for a, b in zip(wanted, found, strict=True):
            if not _close(a, b):
                return CheckResult(
                    FETCHED, "failed", f"run {number} that fetches numbers gives {b:.6g} instead of {a:.6g}"
                )
    return CheckResult(FETCHED, "passed", f"{sum(map(len, mine))} numbers as the original's")


def _alike(own: Runs, other: Runs) -> bool:
    """Whether two runs of the original fetch the same."""
    return [len(run) for run in own] == [len(run) for run in other] and all(
        _close(a, b) for one, two in zip(own, other, strict=True) for a, b in zip(one, two, strict=True)
    )


def _close(one: float, other: float) -> bool:
    return one == other or abs(one - other) <= RELATIVE * max(abs(one), abs(other)) or (one != one and other != other)


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
    return all(_same_number(a, b, largest) for a, b in pairs)


def form_of(line: str) -> tuple[str, ...]:
    """A line's words, with the same one for every number."""
    return tuple(_NUMBER.sub(" 0 ", line).split())


def numbers_in(line: str) -> list[str]:
    """The numbers of a line, as it writes them."""
    return _NUMBER.findall(line)


def _same_number(one: str, other: str, largest: float) -> bool:
    a, b = float(one), float(other)
    if not (math.isfinite(a) and math.isfinite(b)):
        return one.lstrip("+") == other.lstrip("+")
    whole = re.fullmatch(r"[-+]?\d+", one) and re.fullmatch(r"[-+]?\d+", other)
    return a == b if whole else abs(a - b) <= max(ABSOLUTE, RELATIVE * largest)
