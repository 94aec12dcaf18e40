"""Positions in characters, and the source text of a node."""

from __future__ import annotations

import ast
from itertools import pairwise

from converter.plan import At, Replace


class Text:
    """The script's lines; `ast` counts columns in UTF-8 bytes, everything after it in characters."""

    def __init__(self, source: str, tree: ast.Module) -> None:
        self.lines = _python_lines(source)
        self.planned: list[Replace] = []
        self.parents = neighbours(tree)

    def column(self, line: int, offset: int) -> int:
        """A column in characters, from one in UTF-8 bytes."""
        text = self.lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))

    def start(self, node: ast.AST) -> At:
        """Where a node begins."""
        return node.lineno, self.column(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> At:
        """Where a node ends."""
        line, offset = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        return line, self.column(line, offset)

    def anchor(self, stmt: ast.stmt) -> At:
        """The statement beside which lines can stand: the first of its line, outside of one-line blocks."""
        while True:
            line, column = self.start(stmt)
            if not self.lines[line - 1][:column].strip() or stmt not in self.parents:
                return line, column
            stmt = self.parents[stmt]

    def of(self, node: ast.AST) -> str:
        """The text of an expression with the replacements that are planned inside of it, on one line."""
        start, end = self.start(node), self.end(node)
        inside = [r for r in self.planned if start <= r.at and r.end <= end]
        text = ""
        for replace in sorted(inside, key=lambda r: r.at):
            text += self._between(start, replace.at) + replace.text
            start = replace.end
        text += self._between(start, end)
        return text if "\n" not in text and "\r" not in text else ast.unparse(ast.parse(f"({text}\n)", mode="eval"))

    def _between(self, start: At, end: At) -> str:
        (first, begin), (last, stop) = start, end
        if first == last:
            return self.lines[first - 1][begin:stop]
        middle = self.lines[first : last - 1]
        return "".join([self.lines[first - 1][begin:], *middle, self.lines[last - 1][:stop]])


def _python_lines(source: str) -> list[str]:
    """Lines as the parser sees them: only newlines and carriage returns end one."""
    return [line + "\n" for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def neighbours(tree: ast.Module) -> dict[ast.stmt, ast.stmt]:
    """For each statement the one before it in its block, or the one around the block for the first."""
    found: dict[ast.stmt, ast.stmt] = {}
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                found.update({two: one for one, two in pairwise(block)})
                if isinstance(node, ast.stmt):
                    found[block[0]] = node
    return found
