"""Pairs statements and expressions of the converted text with those of the original."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import field

from converter.analysis.nodes import below
from converter.analysis.traits import Trait, has
from converter.dataclass import dataclass
from converter.source.text import split_lines

WORD = re.compile(r"\w+")
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
Scope = tuple[str, ...]  # the names of the functions and classes around a statement


@dataclass
class Alignment:
    """Statements and nodes of a converted file by those of the original.

    statements, nodes: of the converted text -> of the original. added: statements that the original does not have.
    lost: statements of the original that the converted text does not have.
    """

    statements: dict[ast.AST, ast.AST] = field(default_factory=dict)
    nodes: dict[ast.AST, ast.AST] = field(default_factory=dict)
    added: list[ast.stmt] = field(default_factory=list)
    lost: list[ast.stmt] = field(default_factory=list)


@dataclass(frozen=True)
class _Line:
    """A statement, or the first line of a compound one: without the statements inside of it."""

    stmt: ast.stmt
    parent: ast.AST
    text: str


def align(original: ast.Module, text: str, converted: ast.Module, new_text: str) -> Alignment:
    """Pairs two files statement by statement: in each function by text, and changed statements by their kind."""
    found = Alignment()
    before, after = _lines(original, text), _lines(converted, new_text)
    for scope in after:
        _pair(before.get(scope, []), after[scope], found)
    for scope, lines in before.items():
        if scope not in after:
            found.lost += [line.stmt for line in lines]
    for new, old in found.statements.items():
        _map(old, new, found.nodes)
    return found


def _lines(tree: ast.Module, text: str) -> dict[Scope, list[_Line]]:
    """The statements of each function and class, from the top down."""
    source = [line.encode() for line in split_lines(text)]
    found: dict[Scope, list[_Line]] = defaultdict(list)

    def visit(parent: ast.AST, scope: Scope) -> None:
        for stmt in _inside(parent):
            if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found[scope].append(_Line(stmt, parent, f"def {stmt.name}"))
                visit(stmt, (*scope, stmt.name))
            else:
                if isinstance(stmt, ast.stmt):
                    found[scope].append(_Line(stmt, parent, _text(stmt, source)))
                visit(stmt, scope)

    visit(tree, ())
    return found


def _inside(node: ast.AST) -> Iterator[ast.stmt]:
    for name in BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield from block


def _text(stmt: ast.stmt, source: list[bytes]) -> str:
    """The source of a statement, each line without its indentation; of a compound one up to its first block."""
    first, begin = stmt.lineno - 1, stmt.col_offset
    last, end = (stmt.end_lineno or 1) - 1, stmt.end_col_offset or 0
    if getattr(stmt, "body", None):
        parts = [p for p in below(_header(stmt)) if isinstance(p, (ast.expr, ast.keyword))]
        ends = [((p.end_lineno or 1) - 1, p.end_col_offset or 0) for p in parts]
        last, end = max(ends, default=(first, begin))
    lines = source[first : last + 1]
    if not lines:
        return ""
    lines = [*lines[:-1], lines[-1][:end]]
    lines[0] = lines[0][begin:]
    kind = type(stmt).__name__ if getattr(stmt, "body", None) else ""
    return kind + b" ".join(line.strip() for line in lines).decode()


def _header(stmt: ast.stmt) -> ast.AST:
    parts = [
        child
        for name, value in ast.iter_fields(stmt)
        if name not in BLOCKS
        for child in (value if isinstance(value, list) else [value])
        if isinstance(child, ast.AST)
    ]
    return ast.Tuple(elts=parts)  # type: ignore[arg-type]


def _pair(before: list[_Line], after: list[_Line], found: Alignment) -> None:
    known: dict[str, list[_Line]] = defaultdict(list)
    for line in before:
        known[line.text].append(line)
    copies: dict[str, list[_Line]] = defaultdict(list)
    for line in after:
        copies[line.text].append(line)
    taken: set[ast.AST] = set()
    late: list[tuple[_Line, list[_Line]]] = []
    moved: list[tuple[_Line, list[_Line]]] = []
    fewer: list[tuple[_Line, list[_Line]]] = []
    rest: list[_Line] = []
    for text, lines in copies.items():
        olds = known.get(text, [])
        if not olds:
            rest += lines
            continue
        for number, line in enumerate(lines):
            if len(olds) > 1 and getattr(line.stmt, "body", None):
                (late if len(lines) != len(olds) else moved).append((line, olds))
                continue
            if len(lines) < len(olds):
                fewer.append((line, olds))
                continue
            old = olds[number % len(olds)]
            found.statements[line.stmt] = old.stmt
            taken.add(old.stmt)
    _pair_fewer(fewer, before, after, found, taken)
    _pair_moved(moved, before, found, taken)
    _pair_blocks(late, before, found, taken)
    left = [line for line in before if line.stmt not in taken]
    _pair_changed(left, sorted(rest, key=lambda line: (line.stmt.lineno, line.stmt.col_offset)), found)


def _pair_fewer(
    fewer: list[tuple[_Line, list[_Line]]],
    before: list[_Line],
    after: list[_Line],
    found: Alignment,
    taken: set[ast.AST],
) -> None:
    """Pair repeated statements of which an edit changed some copies, each by the statement before it."""
    where: dict[ast.AST, int] = {line.stmt: index for index, line in enumerate(before)}
    olds_of = {line.stmt: olds for line, olds in fewer}
    front = -1  # where the statement in front stands in the original
    for line in after if fewer else ():
        free = [old for old in olds_of.get(line.stmt, ()) if old.stmt not in taken]
        if free:
            old = min(free, key=lambda old: (where[old.stmt] <= front, abs(where[old.stmt] - front)))
            found.statements[line.stmt] = old.stmt
            taken.add(old.stmt)
        if line.stmt in found.statements:
            front = where[found.statements[line.stmt]]


def _pair_moved(
    moved: list[tuple[_Line, list[_Line]]], before: list[_Line], found: Alignment, taken: set[ast.AST]
) -> None:
    """Blocks that begin alike, as many as in the original: one that goes behind the towers may follow a later one.

    Each is paired by a statement in it whose text stands there once; those without one by their order.
    """
    parents: dict[ast.AST, ast.AST] = {line.stmt: line.parent for line in before}
    number = Counter(line.text for line in before)
    sure: set[ast.AST] = {line.stmt for line in before if number[line.text] == 1}
    left: list[tuple[_Line, list[_Line]]] = []
    for line, olds in reversed(moved):
        inner = (found.statements.get(stmt) for stmt in _inside(line.stmt))
        arounds = {parents[stmt] for stmt in inner if stmt is not None and stmt in sure}
        free = [old.stmt for old in olds if old.stmt in arounds - taken]
        if len(free) != 1:
            left.append((line, olds))
            continue
        found.statements[line.stmt] = free[0]
        taken.add(free[0])
        sure.add(free[0])
    for line, olds in reversed(left):
        old = next(old for old in olds if old.stmt not in taken)
        found.statements[line.stmt] = old.stmt
        taken.add(old.stmt)


def _pair_blocks(
    late: list[tuple[_Line, list[_Line]]], before: list[_Line], found: Alignment, taken: set[ast.AST]
) -> None:
    """Blocks that are opened more often than in the original, by the statements inside of them."""
    parents = {line.stmt: line.parent for line in before}
    for line, olds in reversed(late):
        inner = (found.statements.get(stmt) for stmt in _inside(line.stmt))
        arounds = [parents[stmt] for stmt in inner if isinstance(stmt, ast.stmt) and stmt in parents]
        old = next((o.stmt for o in olds if o.stmt in arounds[:1]), olds[0].stmt)
        found.statements[line.stmt] = old
        taken.add(old)


def _pair_changed(left: list[_Line], rest: list[_Line], found: Alignment) -> None:
    """Statements in which an edit changed an expression: by their kind and what they bind, the most similar first."""
    kinds: dict[str, list[_Line]] = defaultdict(list)
    for line in rest:
        kinds[_kind(line.stmt)].append(line)
    for line in left:
        candidates = kinds[_kind(line.stmt)]
        if not candidates:
            found.lost.append(line.stmt)
            continue
        best = max(candidates, key=lambda candidate: _likeness(line, candidate))
        candidates.remove(best)
        found.statements[best.stmt] = line.stmt
    _pair_entered(rest, found)
    found.added += [line.stmt for line in rest if line.stmt not in found.statements]


def _pair_entered(rest: list[_Line], found: Alignment) -> None:
    """Blocks that are entered by another call than in the original: by the statements inside of them."""
    for line in rest:
        if isinstance(line.stmt, ast.With) and line.stmt not in found.statements:
            inner = {found.statements.get(stmt) for stmt in line.stmt.body}
            old = next((o for o in found.lost if isinstance(o, ast.With) and not inner.isdisjoint(o.body)), None)
            if old is not None:
                found.statements[line.stmt] = old
                found.lost.remove(old)


def _likeness(one: _Line, two: _Line) -> tuple[bool, float]:
    """How alike two statements are: whether both call the same, which edits leave, and the share of their words."""
    called = [_reads(value) for line in (one, two) if isinstance(value := getattr(line.stmt, "value", None), ast.Call)]
    words, others = set(WORD.findall(one.text)), set(WORD.findall(two.text))
    return len(called) == 2 and called[0] == called[1], len(words & others) / (len(words | others) or 1)


def _kind(stmt: ast.stmt) -> str:
    """The kind of a statement: the part that stays the same when an expression in it is replaced."""
    kind = type(stmt).__name__
    if isinstance(stmt, ast.Assign):
        return kind + "".join(ast.dump(target) for target in stmt.targets)
    if isinstance(stmt, (ast.AugAssign, ast.AnnAssign, ast.For)):
        return kind + ast.dump(stmt.target)
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
        if has(getattr(stmt.value.func, "attr", ""), Trait.TRAINS):
            return kind + "step"
        return kind + ast.dump(stmt.value.func)
    if isinstance(stmt, ast.With):
        call = stmt.items[0].context_expr
        return kind + ast.dump(call.func if isinstance(call, ast.Call) else call)
    return kind


def _reads(node: ast.AST) -> object:
    """The name, attribute or function that identifies an expression when two statements are paired."""
    if isinstance(node, ast.Call):
        return type(node.func), _reads(node.func)
    return getattr(node, "id", getattr(node, "attr", None))


def _map(old: ast.AST, new: ast.AST, nodes: dict[ast.AST, ast.AST]) -> None:
    """Pairs the expressions of two statements, down to where they differ."""
    todo = [(old, new)]
    while todo:
        one, two = todo.pop()
        if _reads(one) != _reads(two):
            continue
        nodes[two] = one
        for name in two._fields:
            if name in BLOCKS and isinstance(two, (ast.stmt, ast.ExceptHandler)):
                continue
            first, second = getattr(one, name, None), getattr(two, name)
            if isinstance(first, ast.AST) and type(first) is type(second):
                todo.append((first, second))
            elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
                todo += [
                    (a, b) for a, b in zip(first, second, strict=True) if isinstance(a, ast.AST) and type(a) is type(b)
                ]


__all__ = ["Alignment", "align"]
