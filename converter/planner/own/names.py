"""Names of a function as its text shows them: where they are bound, where they are read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from converter.analysis.facts import Facts
from converter.planner.questions.statements import parents_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.Module)


def function_of(facts: Facts, node: ast.AST) -> ast.AST:
    """The function, or the module, in whose body a node stands."""
    return next((around for around in parents_of(facts, node) if isinstance(around, SCOPES)), facts.tree)


def enclosing(facts: Facts, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around one, innermost first, up to the function that it stands in."""
    return takewhile(lambda around: not isinstance(around, SCOPES), parents_of(facts, node))


def parameters(function: ast.AST) -> list[str]:
    """The parameters of a function by their names; none of a module."""
    if not isinstance(function, FUNCTIONS):
        return []
    args = function.args
    more = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, *more)]


def uses_of(function: ast.AST, name: str) -> list[ast.Name]:
    """All nodes of a name in a function, and in functions inside it that bind no name of their own."""
    found: list[ast.Name] = []
    todo: list[ast.AST] = [function]
    while todo:
        node = todo.pop()
        found += [node] if isinstance(node, ast.Name) and node.id == name else []
        todo += [inner for inner in ast.iter_child_nodes(node) if not _has_its_own(inner, name)]
    return found


def _has_its_own(function: ast.AST, name: str) -> bool:
    """Whether a name in a function is not that of the function around it."""
    if not isinstance(function, FUNCTIONS):
        return False
    inside = list(ast.walk(function))
    if any(isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names for node in inside):
        return False
    stored = (node for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return name in parameters(function) or any(node.id == name for node in stored)


def bound_in(node: ast.AST) -> set[str]:
    """The names that are bound anywhere in a node, by assignments, loops, imports or definitions."""
    found: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            found.add(inner.id)
        elif isinstance(inner, ast.alias):
            found.add((inner.asname or inner.name).partition(".")[0])
        elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
            found.add(inner.name or "")
    return found


def whole_item(facts: Facts, node: ast.expr) -> ast.expr:
    """The longest `name["key"][0]` around a name, all of its keys constants; the name itself if there is none."""
    around = facts.parents.get(node)
    while isinstance(around, ast.Subscript) and around.value is node and isinstance(around.slice, ast.Constant):
        node, around = around, facts.parents.get(around)
    return node


def name_within(node: ast.expr) -> ast.Name | None:
    """The name of `name["key"][0]`, all of its keys constants."""
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        node = node.value
    return node if isinstance(node, ast.Name) else None
