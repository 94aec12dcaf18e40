"""The code cells of a notebook as one script, and a script's text as cells again.

A comment stands where a cell begins (`# tf-multigpu-cell 3` and a blank line), so that statements keep their cell
however the script changes around them. Where statements of several cells have come into one block, the cells are one:
the first of them takes the text, the others say where it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from converter.dataclass import dataclass
from converter.parsing import parse_text
from converter.source.notebook.json_text import Cell
from converter.source.notebook.magics import HEAD, cell_magic, is_python, masked, shows_only, split_head, unmasked
from converter.source.python2 import readable

_CELL = re.compile(r"[ \t]*# tf-multigpu-cell (\d+)[ \t]*")
_ENDS = re.compile(r"\r\n|\n|\r")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_JOINED = "# tf-multigpu: what stood here is in cell {} now"


class CellError(ValueError):
    """Why cells cannot be what a changed script makes of them; the place in the script that was."""

    def __init__(self, cell: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.cell, self.hint = cell, hint


@dataclass(frozen=True)
class NotebookScript:
    """The code cells as one Python text.

    places: of each line of it, the cell and the line there, from one. begins: each cell with the number of lines in
    front of its own, and its own as Python.
    """

    text: str
    places: tuple[tuple[int, int], ...]
    begins: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True)
class Settled:
    """A changed script divided into cells again.

    sources: of the cells that are Python, by their numbers. joined: the cells that are one now, first that which has
    the text. script: what these cells make. moved: for each line of the changed script, its line there; 0 for none.
    """

    sources: Mapping[int, str]
    joined: tuple[tuple[int, ...], ...]
    moved: tuple[int, ...]
    script: NotebookScript

    def told(self) -> Iterator[str]:
        """Sentences for the report: which cells became one."""
        for first, *others in self.joined:
            listed = ", ".join(map(str, others[:-1])) + " and " * (len(others) > 1) + str(others[-1])
            cells = "cells" if len(others) > 1 else "cell"
            yield f"what stood in {cells} {listed} is in cell {first} now: a loop cannot span cells"


def runs(cell: Cell) -> bool:
    """Whether a cell belongs to the script."""
    return cell.kind == "code" and bool(cell.source.strip()) and is_python(cell.source)


def script_of(cells: Sequence[Cell]) -> NotebookScript:
    """The Python of some cells, one after the other."""
    lines: list[str] = []
    places: list[tuple[int, int]] = []
    begins: list[tuple[int, int, str]] = []
    for cell in filter(runs, cells):
        found = _ENDS.search(cell.source)
        end = found[0] if found else "\n"
        head, body = split_head(cell.source)
        added = [f"# tf-multigpu-cell {cell.number}{end}"] if begins else []
        added += [HEAD + repr(head) + end] if head else []
        added += [end] if added else []
        first = len(_ENDS.findall(head)) + 1 if head else 1
        own = _LINE.findall(masked(body) + end)
        begins.append((cell.number, len(lines) + len(added), "".join(own)))
        lines += [*added, *own]
        places += [(cell.number, 1)] * len(added)
        places += [(cell.number, first + number) for number in range(len(own))]
    return NotebookScript("".join(lines), tuple(places), tuple(begins))


def settled(text: str, cells: Sequence[Cell], whole: bool = False) -> Settled:
    """Divide a changed script into cells again.

    whole: whether it is the script of such cells already: each has what stands at its place.

    Raises:
        CellError: cells would have to be joined that cannot be, or the text cannot be told apart into cells.
    """
    numbers = [cell.number for cell in cells if runs(cell)]
    if not numbers:
        return Settled({}, (), (), script_of(cells))
    lines = _LINE.findall(text)
    tree = parse_text(readable(text))
    begins = _begins(lines, tree, numbers, {cell.number: cell for cell in cells}, whole)
    bounds = [*(begin for begin, _ in begins), len(lines)]
    sources: dict[int, str] = {}
    kept: dict[int, list[int]] = {}
    for (begin, group), end in zip(begins, bounds[1:], strict=True):
        _check_group(group, cells, lines[begin:end])
        kept[group[0]] = _own(lines, begin, end)
        sources[group[0]] = _source([lines[index] for index in kept[group[0]]], group[0])
        sources |= {number: _JOINED.format(group[0]) for number in group[1:]}
    made = script_of(_changed(cells, sources))
    if ast.dump(parse_text(readable(made.text))) != ast.dump(tree):
        raise CellError(numbers[0], "the converted code cannot be told apart into cells", "put the code into one cell")
    joined = tuple(tuple(group) for _, group in begins if len(group) > 1)
    return Settled(sources, joined, _moved(lines, kept, made), made)


def _changed(cells: Sequence[Cell], sources: Mapping[int, str]) -> tuple[Cell, ...]:
    """Cells with other sources."""
    return tuple(
        Cell(cell.number, cell.kind, sources.get(cell.number, cell.source), cell.begin, cell.end) for cell in cells
    )


def _begins(
    lines: Sequence[str], tree: ast.Module, numbers: Sequence[int], cells: Mapping[int, Cell], whole: bool
) -> list[tuple[int, list[int]]]:
    """Where each run of cells begins that are one now, as an index of a line, with their numbers."""
    found_marks = ((index, _CELL.fullmatch(line.rstrip("\r\n"))) for index, line in enumerate(lines))
    marks = [(index, int(mark[1])) for index, mark in found_marks if mark]
    spans = [(_first(stmt) - 1, stmt.end_lineno or 0) for stmt in tree.body]
    free = [index for index, _ in marks if not any(begin <= index < end for begin, end in spans)]
    begins: list[tuple[int, list[int]]] = [(0, [numbers[0]])]
    for number in numbers[1:]:
        mine = [index for index, other in marks if other == number]
        if len(mine) == 1 and mine[0] in free and _in_order(marks, mine[0], number):
            begins.append((mine[0], [number]))
        else:
            begins[-1][1].append(number)
    found: list[tuple[int, list[int]]] = []
    ends = [*(begin for begin, _ in begins[1:]), len(lines)]
    for (begin, group), end in zip(begins, ends, strict=True):
        inner = next((i for i, number in marks if begin < i < end and number in group[1:]), end)
        own = _own_lines(cells, group[:1], group[1:]) if inner in free and inner < end else set()
        alone = inner in free and inner < end and not own & _stripped(lines[inner:end])
        found += [(begin, group[:1]), (inner, group[1:])] if alone else [(begin, group)]
    return found if whole else _moved_up(found, lines, spans, cells)


def _in_order(marks: Sequence[tuple[int, int]], at: int, number: int) -> bool:
    return all((index < at) == (other < number) for index, other in marks if index != at)


def _moved_up(
    begins: list[tuple[int, list[int]]],
    lines: Sequence[str],
    spans: Sequence[tuple[int, int]],
    cells: Mapping[int, Cell],
) -> list[tuple[int, list[int]]]:
    """Statements that were moved in front of their cell's beginning belong to it all the same."""
    found = [begins[0]]
    for (before, others), (at, group) in zip(begins, begins[1:], strict=False):
        theirs = _own_lines(cells, group, others)
        for begin, end in reversed(spans):
            if before < begin < at:
                if not _stripped(lines[begin:end]) <= theirs:
                    break
                at = begin
        found.append((at, group))
    return found


def _own_lines(cells: Mapping[int, Cell], group: Sequence[int], others: Sequence[int]) -> set[str]:
    """The lines that some cells have and others have not."""

    def of(numbers: Sequence[int]) -> set[str]:
        return {line for number in numbers for line in _stripped(masked(cells[number].source).splitlines())}

    return of(group) - of(others)


def _stripped(lines: Sequence[str]) -> set[str]:
    return {line.strip() for line in lines if line.strip() and not line.strip().startswith("#")}


def _first(stmt: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    return min([stmt.lineno, *(one.lineno for one in decorators)])


def _check_group(group: Sequence[int], cells: Sequence[Cell], lines: Sequence[str]) -> None:
    """Cells that become one must not have anything between them, or in them, that is done at a certain place."""
    for cell in cells if len(group) > 1 else ():
        if not group[0] < cell.number <= group[-1]:
            continue
        if cell.number in group and (magic := cell_magic(cell.source)):
            message = f"the cell begins with %%{magic}, and becomes one with cell {group[0]}: a loop cannot span cells"
            raise CellError(cell.number, message, f"take %%{magic} out, or put these cells' lines into one cell")
        foreign = cell.kind == "code" and cell.source.strip() and not is_python(cell.source)
        if foreign and not shows_only(cell.source):
            message = f"the cell runs %%{cell_magic(cell.source)} between cells {group[0]} and {group[-1]}, "
            message += "which become one"
            raise CellError(cell.number, message, "move the cell above or below them")


def _own(lines: Sequence[str], begin: int, end: int) -> list[int]:
    """The lines of a cell, as indices, without the comments that say where cells begin, its magic first."""
    kept: list[int] = []
    heads: list[int] = []
    skip = ""
    for index in range(begin, end):
        line = lines[index]
        if _CELL.fullmatch(line.rstrip("\r\n")) or line.lstrip().startswith(HEAD):
            skip = "head" if line.lstrip().startswith(HEAD) else "cell"
            heads += [index] if skip == "head" else []
        else:
            between = skip == "cell" and kept and lines[kept[-1]].strip()  # of two cells that are one now
            if line.strip() or not skip or between:
                kept.append(index)
            skip = ""
    return [*heads, *kept]


def _source(lines: Sequence[str], number: int) -> str:
    """A cell's text, from its lines of the script."""
    head = ""
    if lines and lines[0].lstrip().startswith(HEAD):
        head, lines = str(ast.literal_eval(lines[0].strip().removeprefix(HEAD))), lines[1:]
    body = "".join(lines)
    end = _ENDS.search(body[-2:])
    try:
        return head + unmasked(body[: len(body) - len(end[0])] if end else body)
    except ValueError as error:
        hint = "take %time out of the line"
        raise CellError(number, str(error), hint) from None


def _moved(lines: Sequence[str], kept: Mapping[int, Sequence[int]], made: NotebookScript) -> tuple[int, ...]:
    """For each line of the changed script its line, from one, in the script of the cells."""
    moved = [0] * len(lines)
    for number, before, _ in made.begins:
        own = [index for index in kept.get(number, ()) if not lines[index].lstrip().startswith(HEAD)]
        for place, index in enumerate(own, 1):
            moved[index] = before + place
    return tuple(moved)
