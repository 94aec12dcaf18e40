"""Regularisation that is added once by each tower."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.syntax.lint.towers import TowerLoop, TowerLoops, is_scaled
from converter.syntax.script import names_bound, names_read


def find(towers: TowerLoops) -> Iterator[Diagnostic]:
    """Find sums in towers of a loss that is divided, and of regularisation that is not."""
    for loop in towers.loops:
        for node in loop.walked:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                for one, other in ((node.left, node.right), (node.right, node.left)):
                    if _by_towers(loop, one) and not is_scaled(other) and _regularises(loop, other):
                        yield towers.finding(other, "TMG403", counts=loop.counts)


def _by_towers(loop: TowerLoop, node: ast.expr) -> bool:
    """Whether a loss is divided by the number of towers."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and loop.counts):
        return False
    return loop.counts in (ast.unparse(n) for n in ast.walk(node.right) if isinstance(n, ast.expr))


def _regularises(loop: TowerLoop, node: ast.expr) -> bool:
    """Whether an expression sums regularisation losses, also by a name that the towers bind."""
    made = [
        stmt.value
        for stmt in loop.walked
        if isinstance(stmt, ast.Assign) and names_read(node) & names_bound(*stmt.targets)
    ]
    texts = [ast.unparse(one) for one in (node, *made)]
    return any("get_regularization_loss" in text or "REGULARIZATION_LOSSES" in text for text in texts)
