"""Collections that also hold what earlier towers put in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.towers import TowerLoops
from converter.syntax.script import argument

_LOSSES = ("tf.losses.get_total_loss", "tf.losses.get_losses")


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find collections of losses that a tower reads whole."""
    for loop in towers.loops:
        if loop.looks_after_collections or loop.number == 1:
            continue
        for call in (node for node in towers.reached(loop.walked) if isinstance(node, ast.Call)):
            name = loop.of(call)
            place = {"tf.losses.get_total_loss": 1, "tf.losses.get_losses": 0}.get(name, 1)
            if argument(call, place, "scope") is not None:
                continue
            if name in _LOSSES or (name == "tf.get_collection" and call.args and _holds_losses(towers, call.args[0])):
                yield towers.finding(call, "TMG409")


def _holds_losses(towers: TowerLoops, key: ast.expr) -> bool:
    """Whether a collection is the one of losses, or one of the script's own that is called so."""
    key = towers.script.value(key)
    if isinstance(key, ast.Constant):
        return "loss" in str(key.value).lower() and "regulari" not in str(key.value).lower()
    return ast.unparse(key).endswith("GraphKeys.LOSSES")
