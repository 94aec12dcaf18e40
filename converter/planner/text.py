"""Positions in characters, and the source text of a node, in each file of the project."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise

from converter.analysis.facts import Facts
from converter.plan import At, Replace
from converter.planner.trail import blocks


class Text:
    """The lines of the files; `ast` counts columns in UTF-8 bytes, everything after it in characters.

    source: gives a file's text by its path, "" for the script itself.
    """

    def __init__(self, facts: Facts, source: Callable[[str], str]) -> None:
        self.planned: list[Replace] = []
        self._facts = facts
        self._source = source
        self._lines: dict[str, list[str]] = {}
        self._neighbours: dict[str, dict[ast.stmt, ast.stmt]] = {}

    def lines(self, path: str) -> list[str]:
        """A file's lines."""
        if path not in self._lines:
            self._lines[path] = _python_lines(self._source(path))
        return self._lines[path]

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that a node is a direct part of; None for a module."""
        tree = self._facts.tree_of(self._facts.path_of(node))
        return self._facts.walked[tree].parents.get(node)

    def start(self, node: ast.AST) -> At:
        """Where a node begins."""
        return self._at(node, node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> At:
        """Where a node ends."""
        return self._at(node, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def _at(self, node: ast.AST, line: int, offset: int) -> At:
        path = self._facts.path_of(node)
        text = self.lines(path)[line - 1]
        column = offset if text.isascii() else len(text.encode()[:offset].decode(errors="ignore"))
        return At(line, column, path)

    def anchor(self, stmt: ast.stmt) -> At:
        """The statement beside which lines can stand: the first of its line, outside of one-line blocks."""
        path = self._facts.path_of(stmt)
        if path not in self._neighbours:
            self._neighbours[path] = neighbours(self._facts.tree_of(path))
        while True:
            at = self.start(stmt)
            above = self._neighbours[path].get(stmt)
            if above is None or not self.lines(path)[at.line - 1][: at.column].strip():
                return at
            stmt = above

    def of(self, node: ast.AST) -> str:
        """The text of an expression with the replacements that are planned inside of it, on one line."""
        start, end = self.start(node), self.end(node)
        inside = [r for r in self.planned if r.at.path == start.path and start <= r.at and r.end <= end]
        text = ""
        for replace in sorted(inside, key=lambda r: r.at):
            text += self._between(start, replace.at) + replace.text
            start = replace.end
        text += self._between(start, end)
        return text if "\n" not in text and "\r" not in text else ast.unparse(ast.parse(f"({text}\n)", mode="eval"))

    def _between(self, start: At, end: At) -> str:
        lines = self.lines(start.path)
        if start.line == end.line:
            return lines[start.line - 1][start.column : end.column]
        middle = lines[start.line : end.line - 1]
        return "".join([lines[start.line - 1][start.column :], *middle, lines[end.line - 1][: end.column]])


def _python_lines(source: str) -> list[str]:
    """Lines as the parser sees them: only newlines and carriage returns end one."""
    return [line + "\n" for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def neighbours(tree: ast.Module) -> dict[ast.stmt, ast.stmt]:
    """For each statement the one before it in its block, or the one around the block for the first."""
    found: dict[ast.stmt, ast.stmt] = {}
    for node, block in blocks(tree):
        if isinstance(block[0], ast.stmt):
            found.update({two: one for one, two in pairwise(block)})
            if isinstance(node, ast.stmt):
                found[block[0]] = node
    return found
