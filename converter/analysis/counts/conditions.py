"""What a condition says of a count where it lets through: `not len(rows) < n` and `n <= len(rows)` say the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.dataclass import dataclass

LEAVES = (ast.Continue, ast.Break, ast.Return, ast.Raise)
NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}


@dataclass(frozen=True)
class Reached:
    """A count that has come to a limit.

    more: by how much it has gone past it. multiple: it is only known to be a multiple of the limit, and `more` less or
    more than that: `i % n == n - 1` has more = -1.
    """

    count: ast.expr
    limit: ast.expr
    more: int = 0
    multiple: bool = False


def reached(test: ast.expr, holds: bool) -> Iterator[Reached]:
    """The counts that have come to a limit where a condition holds, or where it does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from reached(test.operand, not holds)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or) and len(test.values) == 2:
        for one, two in (test.values, test.values[::-1]):
            found = [each for each in reached(one, holds) if each.multiple]
            yield from (each for each in found if holds and _is_above_0(two, each.count))
    elif isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod) and not holds:
        yield Reached(test.left, test.right, multiple=True)
    elif isinstance(test, ast.Name) and not holds:
        yield Reached(test, ast.Constant(0))
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in NEGATED:
        op = type(test.ops[0]) if holds else NEGATED[type(test.ops[0])]
        yield from _compared(test.left, op, test.comparators[0])
        yield from _compared(test.comparators[0], MIRRORED[op], test.left)


def _compared(count: ast.expr, op: type[ast.cmpop], limit: ast.expr) -> Iterator[Reached]:
    if op is ast.Eq and isinstance(count, ast.BinOp) and isinstance(count.op, ast.Mod):
        rest = 0 if is_number(limit, 0) else -1 if _is_one_less(limit, count.right) else None
        if rest is not None:
            yield Reached(count.left, count.right, rest, multiple=True)
    elif op in (ast.Eq, ast.GtE):
        yield Reached(count, limit)
    elif op is ast.Gt:
        yield Reached(count, limit, 1)
    elif op is ast.LtE and is_number(limit, 0):  # of a count that goes down
        yield Reached(count, limit)


def leaves(stmts: list[ast.stmt]) -> bool:
    """Whether a block ends the turn of a loop, or the function."""
    return bool(stmts) and isinstance(stmts[-1], LEAVES)


def _is_above_0(test: ast.expr, count: ast.expr) -> bool:
    """Whether a condition says that a count is not 0."""
    above = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Gt, ast.NotEq))
    zero = isinstance(test, ast.Compare) and is_number(test.comparators[0], 0)
    number = test.left if isinstance(test, ast.Compare) and above and zero else test
    return isinstance(number, ast.Name) and ast.dump(number) == ast.dump(count)


def _is_one_less(node: ast.expr, limit: ast.expr) -> bool:
    less = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and is_number(node.right, 1)
    return less and isinstance(node, ast.BinOp) and ast.dump(node.left) == ast.dump(limit)


def is_number(node: ast.AST, number: int) -> bool:
    """Whether an expression is a plain number that is written out."""
    return isinstance(node, ast.Constant) and node.value == number and not isinstance(node.value, bool)
