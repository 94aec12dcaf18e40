"""A script in which calls inside of statements are moved to lines of their own, under new names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import field
from itertools import accumulate, groupby

from converter.dataclass import dataclass

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class NamedCall:
    """A call that gets a name: where it begins and ends, and its statement's line; lines from 1, columns from 0."""

    begin: tuple[int, int]
    end: tuple[int, int]
    line: int
    name: str


@dataclass(frozen=True)
class Separated:
    """The text in which each call stands in front of its statement, and where everything stood before.

    parts: where each part of the text begins, where it stands in the source, and whether it was copied from there.
    """

    text: str
    source: str = field(repr=False)
    parts: tuple[tuple[int, int, bool], ...] = ()

    def uses(self) -> list[tuple[int, int, str]]:
        """Where names stand in place of calls: line from 1, column from 0, and the name."""
        starts = _starts(self.text)
        ends = [begin for begin, _, _ in self.parts[1:]] + [len(self.text)]
        found = []
        for (begin, _, copied), end in zip(self.parts, ends, strict=True):
            if not copied and self.text[begin:end].isidentifier():
                line = bisect_right(starts, begin)
                found.append((line, begin - starts[line - 1], self.text[begin:end]))
        return found

    def place(self, line: int, column: int) -> tuple[int, int]:
        """The place in the source of a place in the text: line and column from 1; line 0 is the whole file."""
        if line == 0:
            return line, column
        at = _starts(self.text)[line - 1] + column - 1
        begin, found, copied = self.parts[bisect_right(self.parts, at, key=lambda part: part[0]) - 1]
        found += at - begin if copied else 0
        starts = _starts(self.source)
        index = bisect_right(starts, found) - 1
        return index + 1, found - starts[index] + 1


def separated(source: str, calls: Sequence[NamedCall]) -> Separated:
    """The text with each call on a line of its own, in front of its statement, which stands alone on its lines."""
    starts = _starts(source)
    ending = _LINE_END.search(source)
    pieces: list[tuple[str, int, bool]] = []
    done = 0

    def copy(until: int) -> None:
        nonlocal done
        pieces.append((source[done:until], done, True))
        done = until

    for line, group in groupby(sorted(calls, key=lambda call: (call.line, call.begin)), key=lambda call: call.line):
        mine = [(c.name, starts[c.begin[0] - 1] + c.begin[1], starts[c.end[0] - 1] + c.end[1]) for c in group]
        copy(starts[line - 1])
        rest = source[done:]
        indent = rest[: len(rest) - len(rest.lstrip(" \t"))]
        for name, first, last in mine:
            pieces += [(f"{indent}{name} = ", first, False), (source[first:last], first, True)]
            pieces.append((ending[0] if ending else "\n", last, False))
        for name, first, last in mine:
            copy(first)
            pieces.append((name, first, False))
            done = last
    copy(len(source))
    at = accumulate((len(text) for text, _, _ in pieces), initial=0)
    parts = tuple((begin, found, copied) for begin, (_, found, copied) in zip(at, pieces, strict=False))
    return Separated("".join(text for text, _, _ in pieces), source, parts)


def _starts(text: str) -> list[int]:
    """Where each line begins, in characters."""
    return [0, *(found.end() for found in _LINE_END.finditer(text))]
