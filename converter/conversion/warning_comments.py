"""Warnings as comments, each above the line of the converted text that it is about."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from itertools import pairwise

from converter.conversion.review.alignment import align
from converter.diagnostics import Diagnostic
from converter.parsing import parse_text
from converter.source.syntax import first_statement
from converter.source.text import line_ends

BEGIN = "# tf-multigpu: "
_FURTHER = "#     "  # how the other lines of one remark begin
_LEAST = 40  # columns for the text of a remark, however deep its line stands
Trace = tuple[tuple[int, tuple[str, ...]], ...]


def with_remarks(
    before: str, tree: ast.Module, after: str, trace: Trace, findings: Sequence[Diagnostic], width: int
) -> tuple[str, Trace]:
    """The converted text with its warnings as comments, and the trace with the new line numbers.

    before, tree: the file that the findings speak of. If the conversion has replaced the
    line, the comment stands above the statement around it, and names the line.
    """
    warnings = dict.fromkeys((f.line, f.code, f.message) for f in findings if f.severity == "warning" and f.line)
    if not warnings:
        return after, trace
    converted = parse_text(after)
    kept = {old: new for new, old in reversed(align(tree, before, converted, after).statements.items())}
    ends = [0, *line_ends(after), len(after)]
    lines = [after[begin:end] for begin, end in pairwise(ends) if begin < end]
    remarks: dict[int, list[str]] = {}
    for line, code, message in sorted(warnings):
        around = _around(tree, line)
        place = next((kept[stmt] for stmt in around if stmt in kept), None)
        exact = place is not None and kept.get(around[0]) is place
        number = _first_line(place if isinstance(place, ast.stmt) else first_statement(converted), lines)
        said = message.split("\n")[0] if exact else f"(line {line} of the original) {message}".split("\n")[0]
        remarks.setdefault(number, []).append(f"{code} {said}".encode("ascii", "backslashreplace").decode())
    made: list[str] = []
    numbers: dict[int, int] = {}
    for number, text in enumerate(lines, 1):
        for remark in remarks.get(number, ()):
            made += _comment(remark, text, width)
        made.append(text)
        numbers[number] = len(made)
    text = "".join(made)
    if ast.dump(parse_text(text)) != ast.dump(converted):
        raise AssertionError("remarks changed more than comments")
    return text, tuple((numbers.get(number, number), codes) for number, codes in trace)


def _around(tree: ast.Module, line: int) -> list[ast.stmt]:
    """The statements that hold a line, the innermost first."""
    found = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    return sorted(found, key=lambda n: ((n.end_lineno or 0) - n.lineno, -n.col_offset))


def _first_line(stmt: ast.stmt, lines: Sequence[str]) -> int:
    """The line that a comment can stand above: that of the decorators, and none that goes on a line before it."""
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    number = min([stmt.lineno, *(decorator.lineno for decorator in decorators)])
    while number > 1 and lines[number - 2].rstrip("\r\n").endswith("\\"):
        number -= 1
    return number


def _comment(remark: str, line: str, width: int) -> list[str]:
    """The lines of a comment, indented and ended as the line below it."""
    margin = line[: len(line) - len(line.lstrip(" \t"))]
    end = line[len(line.rstrip("\r\n")) :] or "\n"
    room = max(width - len(margin.expandtabs(4)), _LEAST)
    parts = textwrap.wrap(
        remark, room, initial_indent=BEGIN, subsequent_indent=_FURTHER, break_long_words=False, break_on_hyphens=False
    )
    return [f"{margin}{part}{end}" for part in parts]
