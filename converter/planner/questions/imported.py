"""Packages that the script imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.facts import Facts


def imported_names(facts: Facts) -> Iterator[tuple[str, ast.stmt]]:
    """The dotted names that are imported, the script's first."""
    for node in facts.nodes(ast.Import):
        yield from ((alias.name, node) for alias in node.names)
    for found in facts.nodes(ast.ImportFrom):
        yield from ((f"{found.module or ''}.{alias.name}", found) for alias in found.names)


def package_of(facts: Facts, call: ast.AST) -> str:
    """The package that a call goes into, as its file imports it; "" where that is not one that is imported."""
    function: ast.AST = call
    while isinstance(function, (ast.Call, ast.Attribute, ast.Subscript)):
        function = function.func if isinstance(function, ast.Call) else function.value
    if not isinstance(function, ast.Name):
        return ""
    tree = facts.tree_of(facts.path_of(call))
    for node in facts.nodes(ast.Import, tree):
        for alias in node.names:
            if function.id == (alias.asname or alias.name.split(".")[0]):
                return alias.name.split(".")[0]
    for found in facts.nodes(ast.ImportFrom, tree):
        if any(function.id == (alias.asname or alias.name) for alias in found.names) and not found.level:
            return (found.module or "").split(".")[0]
    return ""
