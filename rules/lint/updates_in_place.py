"""Moving averages that every tower updates while it computes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.towers import TowerLoop, TowerLoops


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find `updates_collections=None` in what every tower builds, or in what surrounds the loop."""
    for loop in towers.loops:
        if loop.number == 1 or not _trains(towers, loop):
            continue
        for node in _built(towers, loop):
            for value in _told_none(node):
                yield towers.finding(value, "TMG411")


def _trains(towers: TowerLoops, loop: TowerLoop) -> bool:
    """True if gradients are taken in the towers, or of their losses behind the loop."""
    calls = [node for node in towers.reached(loop.walked) if isinstance(node, ast.Call)] + towers.after(loop)
    return any(loop.gives_gradients(call) or loop.of(call) == ".minimize" for call in calls)


def _built(towers: TowerLoops, loop: TowerLoop) -> Iterator[ast.AST]:
    """What the towers' code holds: its functions, the `with` blocks around it, and settings that it reads by name."""
    around = [
        inner
        for block in towers.script.above(loop.node)
        if isinstance(block, ast.With)
        for item in block.items
        for inner in ast.walk(item.context_expr)
    ]
    nodes = list(towers.reached([*loop.walked, *around]))
    yield from nodes
    for name in {node.id: node for node in nodes if isinstance(node, ast.Name)}:
        settings = towers.script.bindings.get(name, [])
        if len(settings) == 1 and _is_settings(settings[0]) and settings[0] not in nodes:
            yield settings[0]


def _is_settings(node: ast.expr) -> bool:
    """True for `{...}` and `dict(...)`."""
    return isinstance(node, ast.Dict) or (isinstance(node, ast.Call) and ast.unparse(node.func) == "dict")


def _told_none(node: ast.AST) -> Iterator[ast.expr]:
    """The None of `updates_collections=None` in a call or a dict that does not say `is_training=False`."""
    if isinstance(node, ast.Call):
        told = {keyword.arg: keyword.value for keyword in node.keywords}
    elif isinstance(node, ast.Dict):
        keys = (key.value if isinstance(key, ast.Constant) else None for key in node.keys)
        told = {str(key): value for key, value in zip(keys, node.values, strict=True)}
    else:
        return
    none, training = told.get("updates_collections"), told.get("is_training")
    if isinstance(none, ast.Constant) and none.value is None and not _is_false(training):
        yield none


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
