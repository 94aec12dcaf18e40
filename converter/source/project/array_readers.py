"""Finds scripts beside a script that read files by name and take numbers of rows that they write out themselves."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from converter.dataclass import dataclass
from converter.source.project.graph_readers import LARGEST, code_with, syntax_of
from converter.source.quick_checks import scripts_beside

LOADS = re.compile(rb"\b(?:load|loadtxt|genfromtxt|loadmat|fromfile|File)\s*\(")


@dataclass(frozen=True)
class RowsTaken:
    """A number that stands for rows in a script that loads files.

    path: absolute. line, column: from one; 0 in a notebook. files: the texts of the script, without folders.
    """

    path: str
    line: int
    column: int
    number: int
    files: frozenset[str]


def rows_taken(script: str, above: Sequence[str] = ()) -> list[RowsTaken]:
    """The row counts to which other scripts of the folder reshape arrays that they load."""
    seen = scripts_beside(script, above, LARGEST)
    return [taken for path, changed, size in seen for taken in _read(path, changed, size)]


@lru_cache(maxsize=4096)
def _read(path: str, changed: int, size: int) -> tuple[RowsTaken, ...]:
    """The rows that one script takes of saved arrays; `changed` and `size` only key the cache."""
    nodes = syntax_of(code_with(path, lambda data: b"reshape" in data and LOADS.search(data) is not None))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    files = frozenset(os.path.basename(text) for text in texts if "\n" not in text)
    named = dict(_numbers_named(nodes))
    found: list[RowsTaken] = []
    for node in (part for call in nodes for part in _sizes(call)):
        number = named.get(node.id) if isinstance(node, ast.Name) else node
        if isinstance(number, ast.Constant) and type(number.value) is int:
            place = (0, 0) if path.endswith(".ipynb") else (number.lineno, number.col_offset + 1)
            found.append(RowsTaken(path, *place, number.value, files))
    return tuple(dict.fromkeys(found))


def _numbers_named(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.Constant]]:
    """The names that are bound to numbers which are written out: `batch_size = 64`."""
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            yield from ((name.id, node.value) for name in node.targets if isinstance(name, ast.Name))


def _sizes(node: ast.AST) -> list[ast.expr]:
    """The sizes in a call of `reshape`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "reshape":
        return []
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return [part for one in given for part in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one])]
