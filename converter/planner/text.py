"""Positions in characters, and the source text of a node."""

from __future__ import annotations

import ast

from converter.plan import At, Replace


class Text:
    """The script's lines; `ast` counts columns in UTF-8 bytes, everything after it in characters."""

    def __init__(self, source: str) -> None:
        self.lines = _python_lines(source)
        self.planned: list[Replace] = []

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
