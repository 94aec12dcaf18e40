"""How many rows a session is fed where towers slice their batches by their number."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.syntax.known import last_name
from converter.syntax.lint.towers import TowerLoop
from converter.syntax.script import Script, argument, elements, names_read


def is_fed_one_slice(loop: TowerLoop, call: ast.Call) -> bool:
    """True if a `run` feeds placeholders that the towers slice, and as many rows as the first tower's slice takes."""
    widths = slice_widths(loop)
    fed = [(name, rows) for name, rows in rows_fed(loop.script, call) if name in widths]
    return bool(fed) and all(rows == widths[name] for name, rows in fed)


def fetched(call: ast.Call) -> Iterator[ast.Name]:
    """The names that a `session.run` fetches: one, or those in a list, a tuple or a dict."""
    for one in call.args[:1]:
        parts = one.values if isinstance(one, ast.Dict) else elements(one) or [one]
        yield from (part for part in parts if isinstance(part, ast.Name))


def slice_widths(loop: TowerLoop) -> dict[str, str]:
    """For each name that the towers slice by `i * width:...`: the width, as an expression."""
    found = {}
    for node in loop.walked:
        rows = rows_of_slice(node)
        if rows is not None and rows.lower is not None and isinstance(node, ast.Subscript):
            width = _factor(loop, loop.script.value(rows.lower))
            if width is not None and isinstance(node.value, ast.Name):
                found[node.value.id] = _text(loop.script, width)
    return found


def rows_of_slice(node: ast.AST) -> ast.Slice | None:
    """The slice along the first axis of `x[a:b]` or `x[a:b, ...]`; None for anything else."""
    if not isinstance(node, ast.Subscript):
        return None
    rows = next(iter(elements(node.slice)), node.slice)
    return rows if isinstance(rows, ast.Slice) else None


def rows_fed(script: Script, call: ast.Call) -> Iterator[tuple[str, str]]:
    """The names that a `run` feeds, each with the number of rows as an expression; "" where that is not seen."""
    fed = argument(call, 1, "feed_dict")
    fed = fed if fed is None else _bound(script, fed)
    if isinstance(fed, ast.Dict):
        for key, value in zip(fed.keys, fed.values, strict=True):
            if isinstance(key, ast.Name):
                rows = _rows(script, value)
                yield key.id, "" if rows is None else _text(script, rows)


def _factor(loop: TowerLoop, lower: ast.expr) -> ast.expr | None:
    """The width in `i * width` or `width * i`, where i is the tower's number."""
    if not (isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Mult)):
        return None
    for one, other in ((lower.left, lower.right), (lower.right, lower.left)):
        if isinstance(one, ast.Name) and one.id in loop.variables and not names_read(other) & loop.variables:
            return other
    return None


def _rows(script: Script, value: ast.expr) -> ast.expr | None:
    """The number of rows of `x[a:a + rows]`, `x[:rows]` or `next_batch(rows)`, also behind a name."""
    value = _bound(script, value)
    rows = rows_of_slice(value)
    if rows is not None and rows.upper is not None and rows.step is None:
        return rows.upper if rows.lower is None else _beyond(script, rows.lower, rows.upper)
    if isinstance(value, ast.Call) and last_name(script, value.func) == "next_batch" and value.args:
        return value.args[0]
    return None


def _beyond(script: Script, lower: ast.expr, upper: ast.expr) -> ast.expr | None:
    """The length of a slice: the term that is added to its lower end to make its upper end."""
    end = upper if isinstance(upper, ast.BinOp) else _bound(script, upper)
    if isinstance(end, ast.BinOp) and isinstance(end.op, ast.Add):
        for one, other in ((end.left, end.right), (end.right, end.left)):
            if ast.unparse(one) == ast.unparse(lower):
                return other
    return None


def _bound(script: Script, node: ast.expr) -> ast.expr:
    """The value that a name was given last above its use, in the same function; else the expression itself."""
    if not isinstance(node, ast.Name):
        return node
    where = script.function(node)
    made = script.assignments.get(node.id, [])
    above = [(stmt.lineno, value) for stmt, value, _ in made if script.function(stmt) is where]
    above = [one for one in above if one[0] < node.lineno]
    return max(above, key=lambda one: one[0])[1] if above else node


def _text(script: Script, node: ast.expr) -> str:
    return ast.unparse(script.value(node))
