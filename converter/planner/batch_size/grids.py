"""Grids whose sides are the root of the batch size: `save_images(samples, [n, n])` with `n = int(sqrt(batch_size))`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from converter.analysis.facts import Facts
from converter.analysis.values import Host, Number, Origin, Tensor, Value, needed

ROUNDED = ("int", "floor", "round", "rint", "trunc", "astype")  # not ceil: a grid with free places has room
ROOTS = ("sqrt", "isqrt")
POWERS = ("pow", "power")


def grids(facts: Facts, sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The calls that lay out a whole batch in a grid of as many rows as columns, each the root of the batch size.

    N times a square is no square for most numbers of GPUs N: the grid would not take the rows of the larger batch.
    """
    scaled = set(sizes)
    values: dict[ast.AST, Value] = {access.node: access.value for access in facts.accesses if not access.write}
    values.update({node: value for (_, node), value in facts.results.items()})
    roots = {node for node, value in values.items() if _is_root(value, scaled)}
    for call in facts.nodes(ast.Call) if roots else ():
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        groups = [given, *(each.elts for each in given if isinstance(each, (ast.Tuple, ast.List)))]
        holder = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        if any(_is_square(group, roots) for group in groups) and any(_is_whole(n, values) for n in (*holder, *given)):
            yield call


def _is_root(value: Value, scaled: set[Origin]) -> bool:
    """Whether a number is the root of the batch size, maybe rounded down."""
    while isinstance(value, Host) and value.call.rpartition(".")[2] in ROUNDED:
        inner = [v for v in value.inputs if isinstance(v, (Host, Number))]
        if not inner:
            return False
        value = inner[0]
    parts = [v for v in value.inputs if isinstance(v, Number)]
    if isinstance(value, Number) and not value.linear and value.op != "divide":  # `batch_size ** 0.5`
        inside = [v for v in parts if not v.linear]
        return _is_power(parts, scaled) or (len(parts) == 1 and bool(inside) and _is_root(inside[0], scaled))
    name = value.call.rpartition(".")[2] if isinstance(value, Host) else ""
    if name in ROOTS:
        return bool(parts) and bool(parts[0].linear & scaled)
    return name in POWERS and _is_power(parts, scaled)


def _is_power(parts: list[Number], scaled: set[Origin]) -> bool:
    return len(parts) == 2 and bool(parts[0].linear & scaled) and parts[1].value == 0.5


def _is_square(group: list[ast.expr], roots: set[ast.AST]) -> bool:
    """Whether two of several numbers are roots of the batch size, or one is, and another is what remains."""
    sides = sum(node in roots for node in group)
    rest = any(isinstance(n, ast.UnaryOp) and getattr(n.operand, "value", None) == 1 for n in group)
    return sides > 1 or (sides == 1 and rest)


def _is_whole(node: ast.AST, values: Mapping[ast.AST, Value]) -> bool:
    """Whether an expression is a result for each example of a batch, of which none are left out."""
    value = values.get(node)
    if isinstance(value, Tensor):
        return value.batch.kind == "example"
    while isinstance(value, Host):
        if value.call.rpartition(".")[2] in ("run", "eval"):
            return True
        index = needed(value.inputs[1:]).values() if value.call == "[]" else ()
        if any(isinstance(v, Host) and v.call == "slice" for v in index):
            return False
        value = next((v for v in value.inputs if isinstance(v, (Host, Tensor))), None)
    return False
