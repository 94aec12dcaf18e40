"""Where the nodes of a script stand, as far as its edits ask.

LibCST finds positions by generating the code of a whole module, which takes longer than parsing it. Most statements
at the top of a script hold no edit: on which lines these stand, Python's own tree says.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import libcst as cst
from libcst import BatchableCSTVisitor
from libcst.metadata import CodePosition, CodeRange, MetadataWrapper, PositionProvider

VisitorMethod = Callable[[cst.CSTNode], None]
Positions = Mapping[cst.CSTNode, CodeRange]


def positions(module: cst.Module, tree: ast.Module, inside: Callable[[int, int], bool]) -> Positions:
    """The ranges of the statements at the top, and of everything in those that hold an edit.

    module, tree: the same text, parsed by LibCST and by Python; inside(first, last): whether a statement on these
    lines holds an edit.
    """
    statements = list(_paired(module, tree))
    held = [stmt for stmt in statements if inside(stmt.first, stmt.last)]
    found = dict(_resolved(_outline(module, statements, held)))
    if any(found[stmt.node].start != CodePosition(stmt.first, 0) for stmt in held):
        return _resolved(module)  # the two trees do not agree on the lines
    whole = {stmt.node for stmt in held}
    for stmt in statements:
        if stmt.node not in whole:
            found[stmt.node] = CodeRange(CodePosition(stmt.first, 0), CodePosition(stmt.last, stmt.column))
            if isinstance(stmt.node, cst.SimpleStatementLine):
                found[stmt.node.body[0]] = found[stmt.node]
    return found


@dataclass(frozen=True)
class _Statement:
    """A statement at the top, or several on one line.

    above: the line, from one, on which what leads to it begins; first, last, column: where it starts and ends.
    """

    node: cst.BaseStatement | cst.SimpleStatementLine
    above: int
    first: int
    last: int
    column: int


def _paired(module: cst.Module, tree: ast.Module) -> Iterator[_Statement]:
    parsed = iter(tree.body)
    for node in module.body:
        own = [next(parsed) for _ in (node.body if isinstance(node, cst.SimpleStatementLine) else [node])]
        decorators = getattr(own[0], "decorator_list", [])
        leading = len(node.leading_lines)
        if decorators:
            leading += len(node.decorators[0].leading_lines)  # type: ignore[union-attr]
        begin = decorators[0].lineno if decorators else own[0].lineno
        end = own[-1]
        yield _Statement(node, begin - leading, own[0].lineno, end.end_lineno or 0, end.end_col_offset or 0)


def _outline(module: cst.Module, statements: list[_Statement], held: list[_Statement]) -> cst.Module:
    """The module with a string of as many lines in place of the statements without edits."""
    body: list[cst.BaseStatement] = []
    chosen, from_line = set(held), None
    for stmt in statements:
        if stmt not in chosen:
            from_line = from_line or stmt.above
            continue
        if from_line:
            quotes = '"""'
            lines = cst.SimpleString(quotes + "\n" * (stmt.above - from_line - 1) + quotes)
            body.append(cst.SimpleStatementLine([cst.Expr(lines)]))
            from_line = None
        body.append(stmt.node)
    return module.with_changes(body=body)


def _resolved(module: cst.Module) -> Positions:
    return _Wrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)


class _Wrapper(MetadataWrapper):
    """Positions come from generating the code; the walk for visitors, of which there are none, is left out."""

    def visit_batched(
        self,
        visitors: Iterable[BatchableCSTVisitor],
        before_visit: VisitorMethod | None = None,
        after_leave: VisitorMethod | None = None,
    ) -> cst.CSTNode:
        chosen = list(visitors)
        return super().visit_batched(chosen, before_visit, after_leave) if chosen else self.module
