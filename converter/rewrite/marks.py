"""Marks in the tree that say which rules a statement comes from; they are taken out of the text again.

A mark is a comment at the end of a statement's last line, or of a compound statement's header, behind the
comment that may stand there: the one place which a statement keeps however it is moved and indented. No
script holds a mark, as no Python source holds a NUL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import libcst as cst

Trace = tuple[tuple[int, tuple[str, ...]], ...]  # lines from one, each with the rules that it comes from

_MARK = re.compile("#\0([A-Z0-9,]+)\0")
_LINE_END = re.compile(r"\r\n|\n|\r")


def mark_text(codes: str) -> str:
    """A mark as text, for the end of a line."""
    return f"#\0{codes}\0"


class Transformer(cst.CSTTransformer):
    """A transformer without methods for attributes, which LibCST's own looks for at each of them."""

    def on_visit_attribute(self, node: cst.CSTNode, attribute: str) -> None:
        """Nothing is done in front of an attribute."""

    def on_leave_attribute(self, original_node: cst.CSTNode, attribute: str) -> None:
        """Nothing is done behind an attribute."""


class _Everywhere(Transformer):
    """Marks every line of a tree that ends a statement or a header, where none has marked it."""

    def __init__(self, codes: str) -> None:
        super().__init__()
        self.codes = codes

    def leave_TrailingWhitespace(
        self, original_node: cst.TrailingWhitespace, updated_node: cst.TrailingWhitespace
    ) -> cst.TrailingWhitespace:
        return _end(updated_node, self.codes)


def visited(statements: Iterable[cst.BaseStatement], visitor: cst.CSTTransformer) -> list[cst.BaseStatement]:
    """Statements as a visitor leaves them that takes none away, and puts no two in place of one."""
    found = [stmt.visit(visitor) for stmt in statements]
    return [stmt for stmt in found if isinstance(stmt, cst.BaseStatement)]


def mark_all(statements: Sequence[cst.BaseStatement], codes: str) -> list[cst.BaseStatement]:
    """Statements with all that is in them marked; marks that are there already stay."""
    return visited(statements, _Everywhere(codes))


def mark(stmt: cst.BaseStatement, codes: str) -> cst.BaseStatement:
    """A statement with its last line marked, a compound one with its header."""
    if isinstance(stmt, cst.SimpleStatementLine):
        return stmt.with_changes(trailing_whitespace=_end(stmt.trailing_whitespace, codes))
    assert isinstance(stmt, cst.BaseCompoundStatement)
    body = stmt.body
    if isinstance(body, cst.IndentedBlock):
        return stmt.with_changes(body=body.with_changes(header=_end(body.header, codes)))
    assert isinstance(body, cst.SimpleStatementSuite)
    return stmt.with_changes(body=body.with_changes(trailing_whitespace=_end(body.trailing_whitespace, codes)))


def header_of(stmt: cst.BaseStatement) -> cst.TrailingWhitespace:
    """The rest of a compound statement's first line (blanks, comment), to give it another body."""
    assert isinstance(stmt, cst.BaseCompoundStatement)
    body = stmt.body
    if isinstance(body, cst.IndentedBlock):
        return body.header
    assert isinstance(body, cst.SimpleStatementSuite)
    return body.trailing_whitespace


def _end(end: cst.TrailingWhitespace, codes: str) -> cst.TrailingWhitespace:
    comment = end.comment.value if end.comment else ""
    return end if "\0" in comment else end.with_changes(comment=cst.Comment(comment + mark_text(codes)))


def take_out(marked: str) -> tuple[str, Trace]:
    """A text without its marks, and where they were."""
    if "\0" not in marked:
        return marked, ()
    trace = []
    for number, line in enumerate(_LINE_END.split(marked), 1):
        found = _MARK.search(line)
        if found:
            trace.append((number, tuple(found[1].split(","))))
    return _MARK.sub("", marked), tuple(trace)
