"""Expressions of many levels, taken out of a text before LibCST reads it, and put back.

LibCST's parser takes time that grows with the square of an expression's depth and more: four seconds for a thousand
method calls on each other. Its visitors stop at fewer levels than Python reads. Where no edit lies inside of such an
expression a name as long as its text takes its place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from converter.dataclass import dataclass
from converter.parsing import parse_text
from converter.plan import At, Plan
from converter.rewrite.outline import LINE
from converter.source.depth import depth_of

DEEP = 60  # levels of an expression from which on it is taken out
MOST = 300  # levels of a statement that LibCST reads, on every version of Python


class DepthError(ValueError):
    """A statement on a line, counted from 1, has more levels than LibCST can be given."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line} is nested too deeply")
        self.line = line


@dataclass(frozen=True)
class Flat:
    """A script without its deepest expressions, and its tree; `held` has their texts."""

    text: str
    tree: ast.Module
    name: str
    held: tuple[str, ...]

    def filled(self, code: str) -> str:
        """Code that was made from the text, with what is held put back."""
        return re.sub(rf"\b{self.name}(\d+)_*", lambda match: self.held[int(match[1])], code)


def flat(text: str, tree: ast.Module, plan: Plan) -> Flat:
    """A script with a name in place of each deep expression on one line that no replacement lies inside of.

    Raises:
        DepthError: a replacement is so deep that the text for it cannot be read.
    """
    for replace in plan.replaces:
        if len(replace.text) > 2 * MOST and depth_of(parse_text(replace.text.replace("\0", "_"))) > MOST:
            raise DepthError(replace.at.line)
    name = "deep"
    while name in text:
        name += "_"
    lines = LINE.findall(text)
    inside = [(r.at, r.end) for r in plan.replaces]
    held: list[str] = []
    for node in sorted(_deepest(tree, lines, inside), key=_begin, reverse=True):  # from behind: columns in front stay
        line = lines[node.lineno - 1]
        first, last = _column(line, node.col_offset), _column(line, node.end_col_offset or 0)
        whole = line[first:last]
        lines[node.lineno - 1] = line[:first] + f"{name}{len(held)}".ljust(len(whole), "_") + line[last:]
        held.append(whole)
    made = "".join(lines)
    return Flat(made, parse_text(made) if held else tree, name, tuple(held))


def _begin(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _column(line: str, offset: int) -> int:
    """The column in characters of an offset in bytes."""
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))


def _deepest(tree: ast.Module, lines: list[str], edits: list[tuple[At, At]]) -> Iterator[ast.expr]:
    """The outermost expressions that are deep and may be taken out."""
    levels = _levels(tree)
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if levels[node] < DEEP or isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.expr) and _may_go(node, lines, edits):
            yield node
        else:
            todo += ast.iter_child_nodes(node)


def _may_go(node: ast.expr, lines: list[str], edits: list[tuple[At, At]]) -> bool:
    """Whether a name can stand for an expression: on one line, apart from other words, without an edit inside."""
    if node.lineno != node.end_lineno or isinstance(node, (ast.Starred, ast.Slice, ast.GeneratorExp)):
        return False
    if not isinstance(getattr(node, "ctx", None), (ast.Load, type(None))):
        return False
    line = lines[node.lineno - 1]
    first, last = _column(line, node.col_offset), _column(line, node.end_col_offset or 0)
    if re.search(r"\w$", line[:first]) or re.match(r"\w", line[last:]):
        return False
    own = (node.lineno, first), (node.lineno, last)
    spans = (((at.line, at.column), (end.line, end.column)) for at, end in edits)
    return all(
        span == own or span[1] <= own[0] or span[0] >= own[1] or (span[0] <= own[0] and span[1] >= own[1])
        for span in spans
    )


def _levels(tree: ast.Module) -> dict[ast.AST, int]:
    """For each node the number of levels in it, itself included."""
    order: list[ast.AST] = [tree]
    for node in order:
        order += ast.iter_child_nodes(node)
    found: dict[ast.AST, int] = {}
    for node in reversed(order):
        found[node] = 1 + max((found[child] for child in ast.iter_child_nodes(node)), default=0)
    return found
