"""The scope prefix `tower_1` also matches `tower_10`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.towers import TowerLoops, template
from converter.syntax.script import argument

TEN = 10  # towers up to which no number is the beginning of another
_FILTERS = ("tf.get_collection", "tf.get_collection_ref", ".get_collection", "re.match")


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find names filtered by a scope's beginning, where there may be more than ten towers."""
    scopes = {name for loop in towers.loops for name in loop.templates}
    if all(loop.number is not None and loop.number <= TEN for loop in towers.loops):
        return
    for call in towers.script.calls:
        scope = _filter(towers, call)
        if scope is not None and template(scope) in scopes - {""}:
            yield towers.finding(scope, "TMG405", scope=ast.unparse(scope), name=template(scope))


def _filter(towers: TowerLoops, call: ast.Call) -> ast.expr | None:
    """What a call compares the beginning of names with."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "startswith":
        return call.args[0] if call.args else None
    name = towers.script.name(call.func) or (f".{call.func.attr}" if isinstance(call.func, ast.Attribute) else "")
    if name == "re.match":
        return call.args[0] if call.args else None
    return argument(call, 1, "scope") if name in _FILTERS else None
