"""Which statement of a block made, read or wrote something, through calls and nested statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.facts import Facts
from converter.analysis.frames import Access, Frame, Site
from converter.analysis.values import Input, Value

Step = tuple[int, ast.stmt]  # a frame's uid and a statement executed in it


def path(site: Site | None) -> tuple[Step, ...]:
    """The statements that lead to a site, outermost first."""
    if site is None:
        return ()
    return tuple(reversed([(s.frame.uid, s.stmt) for s in site.chain()]))


def needed(values: Iterable[Value]) -> dict[int, Value]:
    """Everything that some values were computed from, inputs included but not what is behind them."""
    found: dict[int, Value] = {}
    todo = list(values)
    while todo:
        value = todo.pop()
        if value.uid in found:
            continue
        found[value.uid] = value
        if isinstance(value, Input):
            continue
        todo += value.inputs
        todo += value.parts()
    return found


def depends_on_batch(value: Value) -> bool:
    if isinstance(value, Input):
        return False
    batch = getattr(value, "batch", None)
    return bool(value.roots) or (batch is not None and batch.kind != "free")


def suites(tree: ast.AST) -> dict[ast.stmt, list[ast.stmt]]:
    """For each statement, the block that it stands in."""
    found: dict[ast.stmt, list[ast.stmt]] = {}
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for stmt in block:
                    if isinstance(stmt, ast.stmt):
                        found[stmt] = block
    return found


class Block:
    """One block of the script in one execution: the frame, its statements, and what each touched."""

    def __init__(self, facts: Facts, frame: Frame, body: list[ast.stmt]) -> None:
        self.facts = facts
        self.frame = frame
        self.body = body
        self.index = {stmt: i for i, stmt in enumerate(body)}
        self.moved: set[ast.stmt] = set()  # statements inside of these that the loop leaves in front of it
        self._paths: dict[int, int | None] = {}

    def statement(self, site: Site | None) -> int | None:
        """The index of the statement of this block that a site lies in."""
        if site is None:
            return None
        key = id(site)
        if key not in self._paths:
            self._paths[key] = self._find(site)
        return self._paths[key]

    def _find(self, site: Site) -> int | None:
        for step in site.chain():
            if step.frame.uid == self.frame.uid and step.stmt in self.moved:
                return -1
            if step.frame.uid == self.frame.uid and step.stmt in self.index:
                return self.index[step.stmt]
        return None

    def move(self, stmts: Iterable[ast.stmt]) -> None:
        self.moved |= set(stmts)
        self._paths.clear()

    def accesses(self) -> Iterator[tuple[int, Access]]:
        for access in self.facts.accesses:
            index = self.statement(access.site)
            if index is not None and index >= 0:
                yield index, access
