"""Finds the sources of cells in the JSON text of a notebook, by offset, to rewrite only those that change.

Only what stands between `begin` and `end` of a changed cell is written anew, so that everything else of the file stays
as it is. Values that do not matter here, outputs above all, are passed over by Python's own decoder.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from converter.dataclass import dataclass

_BLANK = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|[^\\]+", re.DOTALL)
_HIGH_ESCAPE = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")  # of a character that is not ASCII
_LINE_ENDS = ("\\n", "\\u000a", "\\u000A")


class FormatError(ValueError):
    """A text that is no notebook; `at` is an offset in it, -1 for the whole."""

    def __init__(self, message: str, at: int = -1) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True)
class Cell:
    """One cell.

    number: its place among all cells, from one. kind: code, markdown or raw. source: its text.
    begin, end: where the value of `source` stands in the JSON text.
    """

    number: int
    kind: str
    source: str
    begin: int
    end: int


@dataclass(frozen=True)
class Scanned:
    """The parts of a notebook that the conversion needs.

    version: the number before the point of its format. metadata: of the whole notebook.
    """

    version: int
    metadata: dict[str, Any]
    cells: tuple[Cell, ...]


def scan(text: str) -> Scanned:
    """Finds the cells of a notebook.

    Raises:
        FormatError: the text is no JSON, or no notebook.
    """
    reader = _Reader(text)
    version: object = None
    metadata: object = {}
    cells: list[Cell] = []
    try:
        reader.blank()
        if not text.startswith("{", reader.at):
            raise FormatError("it is not a JSON object", reader.at)
        for key in reader.members(("nbformat", "metadata", "cells")):
            if key == "cells":
                cells = _cells(reader)
            elif key == "nbformat":
                version = reader.value()
            elif key == "metadata":
                metadata = reader.value()
            else:
                reader.value()
        reader.blank()
    except json.JSONDecodeError as error:
        raise FormatError(f"it is not JSON: {error.msg}", error.pos) from None
    except RecursionError:
        raise FormatError("its values are nested too deeply") from None
    if reader.at != len(text):
        raise FormatError("something stands behind the end of its JSON", reader.at)
    if not isinstance(version, int):
        raise FormatError("it has no number of a notebook's format (nbformat)")
    return Scanned(version, metadata if isinstance(metadata, dict) else {}, tuple(cells))


def with_sources(text: str, scanned: Scanned, sources: dict[int, str]) -> str:
    """The text of a notebook with other sources for some cells, by their numbers; each in its cell's own style."""
    parts, done = [], 0
    for cell in scanned.cells:
        new = sources.get(cell.number, cell.source)
        if new != cell.source:
            parts += [text[done : cell.begin], _written(text, scanned, cell, new)]
            done = cell.end
    return "".join([*parts, text[done:]])


class _Reader:
    """A place in a JSON text, which moves on."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text, self.at = text, at
        self._decoder = json.JSONDecoder()

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def value(self) -> Any:
        """The value that begins here."""
        value, self.at = self._decoder.raw_decode(self.text, self.at)
        return value

    def members(self, single: tuple[str, ...]) -> Iterator[str]:
        """The keys of an object, each with the place at its value, which the caller reads.

        single: keys that may stand there only once.
        """
        seen: set[str] = set()
        self._take("{")
        self.blank()
        if self._is_end("}"):
            return
        while True:
            at = self.at
            if not self.text.startswith('"', at):
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self.text, at)
            key = self.value()
            if key in seen and key in single:
                raise FormatError(f"the key {key!r} stands twice in one object", at)
            seen.add(key)
            self.blank()
            self._take(":")
            self.blank()
            yield key
            self.blank()
            if self._is_end("}"):
                return
            self._take(",")
            self.blank()

    def items(self) -> Iterator[int]:
        """Where each item of a list begins, with the place there; the caller reads it."""
        self._take("[")
        self.blank()
        if self._is_end("]"):
            return
        while True:
            yield self.at
            self.blank()
            if self._is_end("]"):
                return
            self._take(",")
            self.blank()

    def _take(self, mark: str) -> None:
        if not self.text.startswith(mark, self.at):
            raise json.JSONDecodeError(f"Expecting {mark!r}", self.text, self.at)
        self.at += 1

    def _is_end(self, mark: str) -> bool:
        ends = self.text.startswith(mark, self.at)
        self.at += ends
        return ends


def _cells(reader: _Reader) -> list[Cell]:
    if not reader.text.startswith("[", reader.at):
        raise FormatError("its cells are not a list", reader.at)
    return [_cell(reader, number) for number, _ in enumerate(reader.items(), 1)]


def _cell(reader: _Reader, number: int) -> Cell:
    first = reader.at
    if not reader.text.startswith("{", first):
        raise FormatError(f"cell {number} is not an object", first)
    kind: object = None
    source: object = None
    begin = end = first
    for key in reader.members(("cell_type", "source")):
        at, value = reader.at, reader.value()
        if key == "cell_type":
            kind = value
        elif key == "source":
            source, begin, end = value, at, reader.at
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(kind, str) or not isinstance(source, str):
        raise FormatError(f"cell {number} has no cell_type, or no source of text", first)
    return Cell(number, kind, source, begin, end)


def _written(text: str, scanned: Scanned, cell: Cell, new: str) -> str:
    """Another source as the cell writes its own; lines that it has already are written as they are."""
    raw = text[cell.begin : cell.end]
    escaped = _escapes(text, raw)
    if raw.startswith('"'):
        known = {_decoded(line): line for line in _raw_lines(raw[1:-1])}
        lines = re.findall(r"[^\n]*\n|[^\n]+", new)
        return '"' + "".join(known.get(line) or json.dumps(line, ensure_ascii=escaped)[1:-1] for line in lines) + '"'
    items, layout = _items(raw)
    known = dict(items)
    lines = new.splitlines(keepends=True)  # as nbformat does
    if not lines:
        return "[]"
    lead, between, end = layout or _layout(text, scanned, cell)
    return f"[{lead}{between.join(known.get(line) or json.dumps(line, ensure_ascii=escaped) for line in lines)}{end}]"


def _escapes(text: str, raw: str) -> bool:
    """Whether characters beyond ASCII are escaped: in the cell, else in the notebook."""
    for part in (raw, text):
        if not part.isascii():
            return False
        if _HIGH_ESCAPE.search(part):
            return True
    return False


def _decoded(raw: str) -> str:
    return str(json.loads(f'"{raw}"'))


def _raw_lines(inner: str) -> Iterator[str]:
    """The lines of a string as its literal writes them."""
    line = ""
    for token in _TOKEN.findall(inner):
        line += token
        if token in _LINE_ENDS:
            yield line
            line = ""
    if line:
        yield line


def _items(raw: str) -> tuple[list[tuple[str, str]], tuple[str, str, str] | None]:
    """The strings of a list with their literals; and what stands before, between and behind them, if there are any."""
    reader = _Reader(raw)
    found: list[tuple[str, str]] = []
    ends: list[tuple[int, int]] = []
    for at in reader.items():
        value = reader.value()
        found.append((value, raw[at : reader.at]))
        ends.append((at, reader.at))
    if not found:
        return found, None
    lead = raw[1 : ends[0][0]]
    between = raw[ends[0][1] : ends[1][0]] if len(ends) > 1 else f",{lead or ' '}"
    return found, (lead, between, raw[ends[-1][1] : -1])


def _layout(text: str, scanned: Scanned, cell: Cell) -> tuple[str, str, str]:
    """How an empty list is filled: as those of other cells are, else one step deeper than its key."""
    for other in scanned.cells:
        raw = text[other.begin : other.end]
        layout = _items(raw)[1] if raw.startswith("[") else None
        if layout is not None and len(other.source.splitlines()) > 1:
            return layout
    line = text[text.rfind("\n", 0, cell.begin) + 1 : cell.begin]
    margin = line[: len(line) - len(line.lstrip(" \t"))]
    if "\n" not in text[: cell.begin]:
        return "", ", ", ""
    return f"\n{margin} ", f",\n{margin} ", f"\n{margin}"
