"""Which statement of a block made, read or wrote something, through calls and nested statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.facts import Facts
from converter.analysis.frames import Access, Frame, Site
from converter.analysis.values import Count, Input, Tensor, Typed, Value, Variable

Step = tuple[int, ast.stmt]  # a frame's uid and a statement executed in it


def path(site: Site | None) -> tuple[Step, ...]:
    """The statements that lead to a site, outermost first."""
    if site is None:
        return ()
    return tuple(reversed([(s.frame.uid, s.stmt) for s in site.chain()]))


def depends_on_batch(value: Value) -> bool:
    """Whether a value is computed from a batch; the input that brings the batch in does not count."""
    if isinstance(value, Input):
        return False
    batch = getattr(value, "batch", None)
    return bool(value.roots) or (batch is not None and batch.kind != "free")


def is_made_of_shard(value: Value) -> bool:
    """Whether an object (a distribution) holds a shard of the batch: no merging gives the whole batch's."""
    return isinstance(value, Typed) and value.kind in ("Distribution", "Triangle") and bool(value.roots)


def counts_examples(value: Value) -> bool:
    """Whether a value is a number of examples, or computed from one and from nothing else of the batch."""
    todo, seen = [value], set()
    while todo:
        value = todo.pop()
        if isinstance(value, Count):
            return True
        batched = isinstance(value, Tensor) and value.batch.kind != "free"
        if value.uid not in seen and not batched and not isinstance(value, (Input, Variable)):
            seen.add(value.uid)
            todo += value.inputs
    return False


def blocks(tree: ast.Module) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """Every block of statements in a file, with the node that holds it; expressions are not looked into."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                todo += block
                yield node, block


def suites(*trees: ast.Module) -> dict[ast.stmt, list[ast.stmt]]:
    """For each statement, the block that it stands in."""
    found: dict[ast.stmt, list[ast.stmt]] = {}
    for tree in trees:
        for _, block in blocks(tree):
            if isinstance(block[0], ast.stmt):
                found.update(dict.fromkeys(block, block))
    return found


IN_FRONT, BEHIND = -1, -2  # indexes of statements that the loop leaves out of one of its with blocks


class Block:
    """One block of the script in one execution: the frame, its statements, and what each touched."""

    def __init__(self, facts: Facts, frame: Frame, body: list[ast.stmt]) -> None:
        self.facts = facts
        self.frame = frame
        self.body = body
        self.index = {stmt: i for i, stmt in enumerate(body)}
        self.moved: dict[ast.stmt, int] = {}  # statements inside of these that the loop leaves IN_FRONT or BEHIND
        self._paths: dict[int, int | None] = {}
        self._accesses: list[tuple[int, Access]] | None = None

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
                return self.moved[step.stmt]
            if step.frame.uid == self.frame.uid and step.stmt in self.index:
                return self.index[step.stmt]
        return None

    def move(self, stmts: Iterable[ast.stmt], where: int) -> None:
        """Takes statements that are nested in the block's own out of the loop: `where` is IN_FRONT or BEHIND."""
        self.moved.update(dict.fromkeys(stmts, where))
        self._paths.clear()
        self._accesses = None

    def accesses(self) -> list[tuple[int, Access]]:
        """Reads and writes inside this block, each with the index of its statement."""
        if self._accesses is None:
            found = ((self.statement(access.site), access) for access in self.facts.accesses)
            self._accesses = [(index, access) for index, access in found if index is not None and index >= 0]
        return self._accesses


def returns(stmt: ast.stmt) -> bool:
    """Whether a statement may end the function that it stands in, other than by an error."""
    todo: list[ast.AST] = [stmt]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            todo += ast.iter_child_nodes(node)
    return False
