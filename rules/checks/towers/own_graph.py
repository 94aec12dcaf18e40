"""A part of the model stands in a block that makes a graph or a session."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG276",)

MADE_ANEW = ("Graph", "Session", "InteractiveSession", "MonitoredTrainingSession", "MonitoredSession")


@check(Placed)
def blocks_of_own_graphs(case: Placed) -> Iterator[Diagnostic]:
    """Blocks among the statements of the towers that make a graph or a session when they are opened."""
    for region in case.regions:
        for block in _blocks(region.block.body[index] for index in sorted(region.tower) if index >= 0):
            if any(map(_makes_anew, block.items)):
                yield finding(case.facts, block, "TMG276")


def _blocks(statements: Iterable[ast.stmt]) -> Iterator[ast.With]:
    """The `with` blocks among statements, and those inside of each other."""
    for stmt in statements:
        if isinstance(stmt, ast.With):
            yield stmt
            yield from _blocks(stmt.body)


def _makes_anew(item: ast.withitem) -> bool:
    calls = (node.func for node in ast.walk(item.context_expr) if isinstance(node, ast.Call))
    return any(getattr(func, "attr", getattr(func, "id", "")) in MADE_ANEW for func in calls)
