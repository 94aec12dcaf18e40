"""Reads of a dict that take its keys alone: what lies under them is read elsewhere, if it is."""

from __future__ import annotations

import ast
from collections.abc import Mapping

COPIES = ("list", "sorted", "set", "tuple", "iter")  # builtins that give the keys of a dict again


def key_reader(parents: Mapping[ast.AST, ast.AST], node: ast.AST) -> ast.AST | None:
    """The loop or comparison in which a dict is read for its keys alone; None for any other read.

    `for key in values`, `for key in sorted(values.keys())`, `[key for key in values]`, `key in values`.
    """
    parent = parents.get(node)
    while isinstance(parent, (ast.Attribute, ast.Call)) and _gives_keys(parent, node):
        node, parent = parent, parents.get(parent)
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent if parent.iter is node else None
    asks = isinstance(parent, ast.Compare) and all(isinstance(op, (ast.In, ast.NotIn)) for op in parent.ops)
    return parent if asks and isinstance(parent, ast.Compare) and node in parent.comparators else None


def _gives_keys(parent: ast.Attribute | ast.Call, node: ast.AST) -> bool:
    """Whether an expression is `values.keys`, a call of it, or a list of the keys."""
    if isinstance(parent, ast.Attribute):
        return parent.attr in ("keys", "iterkeys")
    return parent.func is node or (getattr(parent.func, "id", "") in COPIES and parent.args == [node])
