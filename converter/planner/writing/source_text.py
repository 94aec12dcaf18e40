"""Positions in characters, and the source text of a node, in each file of the project."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import StringIO
from itertools import pairwise

from converter.analysis.facts import Facts
from converter.parsing import parse_expression
from converter.plan import At, Replace
from converter.planner.questions.statements import blocks

PLACED = (ast.expr, ast.stmt, ast.alias, ast.keyword, ast.arg, ast.excepthandler)  # nodes that have a place in a file
TEXTS = '"""', "'''", "\\\n"  # what a text of several lines has in it
LETTER = "\u01c3"  # stands for the NULs around a helper's name where Python reads planned text


class SourceText:
    """The lines of the files; `ast` counts columns in UTF-8 bytes, everything after it in characters.

    source: gives a file's text by its path, "" for the script itself. planned: what is replaced in the files so far.
    """

    def __init__(self, facts: Facts, source: Callable[[str], str], planned: tuple[Replace, ...] = ()) -> None:
        self.planned = planned
        self._facts = facts
        self._source = source
        self._lines: dict[str, list[str]] = {}
        self._neighbours: dict[str, dict[ast.stmt, ast.stmt]] = {}

    def after(self, further: Iterable[Replace]) -> SourceText:
        """These texts with further replacements."""
        return SourceText(self._facts, self._source, (*self.planned, *further))

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
        assert isinstance(node, PLACED)
        return self._at(node, node.lineno, node.col_offset)

    def end(self, node: ast.AST) -> At:
        """Where a node ends."""
        assert isinstance(node, PLACED) and node.end_lineno is not None and node.end_col_offset is not None
        return self._at(node, node.end_lineno, node.end_col_offset)

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
        """The source text of an expression after the replacements planned inside of it.

        It is on one line, unless there are comments in it and its own brackets hold its lines together.
        """
        made = _as_written(self._planned(node), self._indent(node))
        return f"({made})" if isinstance(node, ast.NamedExpr) else made

    def with_argument(self, call: ast.Call, argument: str) -> str:
        """The text of a call with one more argument behind its last; it keeps its lines, but for texts of several."""
        text = self._planned(call)
        line, column, comma = _last_argument(text)
        before = text.split("\n")
        offset = sum(len(part) + 1 for part in before[: line - 1]) + column
        separator = {"(": "", ",": " "}.get(comma, ", ")
        made, whole = f"{text[:offset]}{separator}{argument}{text[offset:]}", any(part in text for part in TEXTS)
        return _as_written(made, self._indent(call)) if whole else _lined(made, self._indent(call))

    def _indent(self, node: ast.AST) -> str:
        """The blanks in front of a node's statement."""
        stmt: ast.AST | None = node
        while stmt is not None and not isinstance(stmt, ast.stmt):
            stmt = self.parent(stmt)
        at = self.start(stmt or node)
        line = self.lines(at.path)[at.line - 1]
        return line[: len(line) - len(line.lstrip())]

    def _planned(self, node: ast.AST) -> str:
        """The text of an expression with the replacements that are planned inside of it."""
        start, end = self.start(node), self.end(node)
        inside = [r for r in self.planned if r.at.path == start.path and start <= r.at and r.end <= end]
        text = ""
        for replace in sorted(inside, key=lambda r: r.at):
            text += self._between(start, replace.at) + replace.text
            start = replace.end
        return text + self._between(start, end)

    def _between(self, start: At, end: At) -> str:
        lines = self.lines(start.path)
        if start.line == end.line:
            return lines[start.line - 1][start.column : end.column]
        middle = lines[start.line : end.line - 1]
        return "".join([lines[start.line - 1][start.column :], *middle, lines[end.line - 1][: end.column]])


def _as_written(text: str, indent: str) -> str:
    """An expression's text as it is where comments in it would get lost otherwise, else on one line.

    indent: of its statement; the lines below the first come without it, as what they are put into brings its own.
    """
    if "\n" not in text:
        return text
    code = text.replace("\0", LETTER)
    if "#" in text and any(token.type == tokenize.COMMENT for token in _tokens(f"({text}\n)")):
        with suppress(SyntaxError):
            parse_expression(code)
            return _lined(text, indent)
    return ast.unparse(parse_expression(f"({code}\n)")).replace(LETTER, "\0")


def _lined(text: str, indent: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(line.removeprefix(indent) for line in rest)])


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(StringIO(text.replace("\0", LETTER)).readline))


def _last_argument(text: str) -> tuple[int, int, str]:
    """Where a call's last argument ends, or the comma behind it: line from 1, column, and what stands there."""
    blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER)
    tokens = [token for token in _tokens(f"{text}\n") if token.type not in blank]
    last = tokens[-2]  # in front of the closing parenthesis
    return (*last.end, last.string)


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
