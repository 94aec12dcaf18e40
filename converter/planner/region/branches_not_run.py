"""Branches that the walk did not take: with another constant they are taken, and the order must still be right."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.frames import Place
from converter.analysis.nodes import children
from converter.planner.region.block import Block

Touches = dict[int, tuple[set[Place], set[Place]]]
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def unwalked(block: Block) -> Touches:
    """For each statement with such branches, the places that the branches read and write, found by name."""
    known: dict[tuple[str, str], set[Place]] = {}
    walked: set[ast.AST] = set()
    for _, access in block.accesses():
        place = access.place
        walked.add(access.node)
        if place.kind == "attr" or (place.kind == "name" and place.frame is block.frame):
            known.setdefault((place.kind, place.key), set()).add(place)
    found: Touches = {}
    above = _above(block, walked)
    noted: set[ast.AST] = set()
    for index, stmt in enumerate(block.body):
        for branch in _branches(stmt):
            roots = list(branch)
            if above.isdisjoint(roots):
                reads, writes = found.setdefault(index, (set(), set()))
                for node in _nodes(roots) if noted.isdisjoint(roots) else ():
                    noted.add(node)
                    read, written = _touched(node, known)
                    reads |= read
                    writes |= written
    return found


def _above(block: Block, walked: set[ast.AST]) -> set[ast.AST]:
    """Nodes that were walked and those around them, up to the scope that they are in."""
    parents = [nodes.parents for nodes in block.facts.walked.values()]
    above: set[ast.AST] = set()
    for node in walked:
        at: ast.AST | None = node
        while at is not None and at not in above and not isinstance(at, SCOPES):
            above.add(at)
            at = next((known[at] for known in parents if at in known), None)
    return above


def _branches(stmt: ast.stmt) -> Iterator[Iterable[ast.AST]]:
    for node in _nodes([stmt]):
        if isinstance(node, ast.If):
            yield from (node.body, node.orelse)
        elif isinstance(node, ast.IfExp):
            yield from ((node.body,), (node.orelse,))


def _nodes(roots: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Nodes below some, without those of scopes of their own."""
    todo = list(roots)
    while todo:
        node = todo.pop()
        if not isinstance(node, SCOPES):
            yield node
            todo += children(node)


def _touched(node: ast.AST, known: dict[tuple[str, str], set[Place]]) -> tuple[set[Place], set[Place]]:
    """The places that a node reads, and those that it writes."""
    if isinstance(node, ast.Name):
        places = known.get(("name", node.id), set())
    elif isinstance(node, ast.Attribute):
        places = known.get(("attr", node.attr), set())
    elif isinstance(node, ast.AugAssign):  # its target is read, too
        return known.get(("name", getattr(node.target, "id", "")), set()), set()
    else:
        return set(), set()
    return (places, set()) if isinstance(node.ctx, ast.Load) else (set(), places)
