"""Two scripts side by side, each added line with the rules that it comes from."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal

from converter.dataclass import dataclass

Kind = Literal["same", "indented", "changed", "added", "removed", "moved"]
Pieces = tuple[tuple[str, bool], ...]  # a piece of a line, and whether it differs from the other side
Trace = Sequence[tuple[int, tuple[str, ...]]]

MOVED = ("TMG115",)
CONTEXT = 3  # lines around a change that are always shown
FEW = 6  # lines that are not worth folding
LONG = 24  # added lines in a row that are folded: the helpers
ALIKE = 0.4  # how alike two lines are that are shown as one changed line


@dataclass(frozen=True)
class Row:
    """A row of the side-by-side view: a line of one script, or of both.

    left, right: line numbers from one, None where the script has no such line. codes: the rules of a
    line that was added or changed. span: of how many rows these are the codes, in the first of them.
    """

    kind: Kind
    left: int | None
    right: int | None
    before: Pieces = ()
    after: Pieces = ()
    codes: tuple[str, ...] = ()
    span: int = 0


@dataclass(frozen=True)
class Stretch:
    """Consecutive rows of the side-by-side view; folded ones open on a click."""

    rows: tuple[Row, ...]
    folded: bool = False
    label: str = ""


def side_by_side(before: str, after: str, trace: Trace) -> tuple[Stretch, ...]:
    """All lines of both texts in stretches; comparing them ignores whitespace.

    trace: of the second text, as converter.conversion gives it; empty where it is not known.
    """
    return tuple(replace(s, rows=_with_spans(s.rows)) for s in _folded(list(_rows(before, after, trace))))


def _rows(before: str, after: str, trace: Trace) -> Iterator[Row]:
    one, two = _lines(before), _lines(after)
    kept, keys = ["".join(line.split()) for line in one], ["".join(line.split()) for line in two]
    codes = dict(_codes(len(two), trace))
    opcodes = difflib.SequenceMatcher(None, kept, keys, autojunk=False).get_opcodes()
    gone = {kept[i] for tag, first, last, _, _ in opcodes if tag != "equal" for i in range(first, last)} - {""}
    come = {keys[i] for tag, _, _, first, last in opcodes if tag != "equal" for i in range(first, last)} - {""}
    for tag, i, i_end, j, j_end in opcodes:
        if tag == "equal":
            for left, right in zip(range(i, i_end), range(j, j_end), strict=True):
                kind: Kind = "same" if one[left] == two[right] else "indented"
                yield Row(kind, left + 1, right + 1, ((one[left], False),), ((two[right], False),))
            continue
        for a, b in _pairs(one[i:i_end], two[j:j_end]):
            if a is not None and b is not None:
                pieces = _pieces(one[i + a], two[j + b])
                yield Row("changed", i + a + 1, j + b + 1, *pieces, codes[j + b + 1])
            elif a is not None:
                kind = "moved" if kept[i + a] in come else "removed"
                yield Row(kind, i + a + 1, None, before=((one[i + a], True),))
            elif b is not None:
                moved = keys[j + b] in gone
                why = MOVED if moved and trace else codes[j + b + 1]
                yield Row("moved" if moved else "added", None, j + b + 1, after=((two[j + b], True),), codes=why)


def _lines(text: str) -> list[str]:
    """Lines as Python counts them: a form feed ends none."""
    lines = re.split(r"\r\n|\n|\r", text)
    return lines if lines[-1] else lines[:-1]


def _codes(lines: int, trace: Trace) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The rules of each line: those of the first edit that does not end before it."""
    rest = list(trace)
    for number in range(1, lines + 1):
        while rest and rest[0][0] < number:
            rest.pop(0)
        yield number, rest[0][1] if rest else ()


def _pairs(one: Sequence[str], two: Sequence[str]) -> Iterator[tuple[int | None, int | None]]:
    """Pairs each replaced line with the new line that is most like it, in order."""
    start = 0
    for left, line in enumerate(one):
        matcher = difflib.SequenceMatcher(None, b=line.strip(), autojunk=False)
        best, found = ALIKE, None
        for right in range(start, len(two)):
            matcher.set_seq1(two[right].strip())
            if matcher.real_quick_ratio() > best and matcher.ratio() > best:
                best, found = matcher.ratio(), right
        if found is None:
            yield left, None
        else:
            yield from ((None, right) for right in range(start, found))
            yield left, found
            start = found + 1
    yield from ((None, right) for right in range(start, len(two)))


def _pieces(before: str, after: str) -> tuple[Pieces, Pieces]:
    """Two lines word by word."""
    one, two = re.findall(r"\w+|\s+|.", before), re.findall(r"\w+|\s+|.", after)
    left, right = [], []
    for tag, i, i_end, j, j_end in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        left.append(("".join(one[i:i_end]), tag != "equal"))
        right.append(("".join(two[j:j_end]), tag != "equal"))
    return tuple(p for p in left if p[0]), tuple(p for p in right if p[0])


def _folded(rows: list[Row]) -> Iterator[Stretch]:
    """Folds long runs of lines that both texts have, and of added lines."""
    shown: list[Row] = []
    groups = [(kind, list(group)) for kind, group in groupby(rows, lambda row: _fold_kind(row))]
    for index, (kind, group) in enumerate(groups):
        if kind == "added" and len(group) > LONG:
            names = [name for row in group for name in re.findall(r"^(?:def|class) (\w+)", row.after[0][0])]
            label = f"{len(group)} added lines" + (f": {', '.join(names)}" if names else "")
            yield from _with(shown, Stretch(tuple(group), True, label))
            shown = []
        elif kind == "same":
            head = CONTEXT if index else 0
            tail = CONTEXT if index + 1 < len(groups) else 0
            if len(group) <= head + tail + FEW:
                shown += group
                continue
            end = len(group) - tail
            label = f"{end - head} lines as they were"
            yield from _with(shown + group[:head], Stretch(tuple(group[head:end]), True, label))
            shown = group[end:]
        else:
            shown += group
    yield from _with(shown)


def _fold_kind(row: Row) -> str:
    return "same" if row.kind in ("same", "indented") else "added" if row.kind == "added" else "other"


def _with(shown: list[Row], *more: Stretch) -> list[Stretch]:
    return [*([Stretch(tuple(shown))] if shown else []), *more]


def _with_spans(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Writes the length of each run of rows with the same rules into its first row."""
    result: list[Row] = []
    for _, group in groupby(rows, lambda row: row.codes):
        first, *rest = group
        result += [replace(first, span=1 + len(rest)), *rest]
    return tuple(result)
