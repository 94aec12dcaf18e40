"""Shards of a fixed size from batches of any size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.towers import TowerLoop, TowerLoops
from converter.syntax.script import names_read


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find slices by the tower's number of a placeholder with any number of rows."""
    for loop in towers.loops:
        open_rows = {name for name, rows in towers.batches(loop).items() if rows}
        for node in loop.walked:
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in open_rows:
                rows = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
                if isinstance(rows, ast.Slice) and rows.upper is not None and _counts(loop, rows):
                    yield towers.finding(node, "TMG407", name=node.value.id, number=loop.counts or "N")


def _counts(loop: TowerLoop, rows: ast.Slice) -> bool:
    """Whether both ends of a slice follow the tower's number."""
    read = [names_read(end) for end in (rows.lower, rows.upper) if end is not None]
    return len(read) == 2 and all(names & (loop.variables | loop.bound) for names in read)
