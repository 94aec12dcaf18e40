"""Constants that a script writes out once: whoever runs it may edit them, as they would give a flag."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import field

from converter.analysis.nodes import below
from converter.dataclass import dataclass

Constant = tuple[str, str, str]  # the file, whether it is a name or an attribute, and which


@dataclass
class Taken:
    """What was followed of a condition that rests on constants.

    constants: where these are written. sides: the truth values that it had. builds: whether what it chose entered the
    graph.
    """

    constants: set[ast.stmt]
    sides: set[bool] = field(default_factory=set)
    builds: bool = False

    def matters(self, node: ast.If | ast.IfExp) -> bool:
        """Whether other values of the constants may make a difference to what follows, or run what was not followed."""
        if isinstance(node, ast.IfExp) or self.builds:
            return True
        if len(self.sides) == 2:
            return False
        unseen = True not in self.sides or bool(node.orelse)
        return unseen or any(_bound(inner) is not None for inner in below(node))


def written_once(tree: ast.AST, path: str) -> dict[ast.stmt, Constant]:
    """The assignments of a file that give a literal to a name, or to an attribute, which nothing else binds."""
    nodes = below(tree)
    bound = Counter(target for node in nodes if (target := _bound(node)) is not None)
    found: dict[ast.stmt, Constant] = {}
    for stmt in nodes:
        if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.value, ast.Constant):
            target = _bound(stmt.targets[0])
            if target is not None and bound[target] == 1:
                found[stmt] = (path, *target)
    return found


def _bound(node: ast.AST) -> tuple[str, str] | None:
    """The name or the attribute that a node binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return "name", node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return "attribute", node.attr
    return None
