"""Functions of the script that compute something of what they are given, draw it or write it, and keep nothing of it.

    def draw(image, boxes):                     # for tf.py_func
        for x, y, right, low in boxes:
            cv2.rectangle(image, (x, y), (right, low), (0, 255, 0))
        return image

The walk does not follow what the graph runs later, so names are looked up in the function's own file.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from converter.analysis.facts import Facts

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def keeps_nothing(facts: Facts, function: FunctionNode, known: frozenset[ast.AST] = frozenset()) -> bool:
    """Whether a function changes nothing but what it has made, what it was given, and files.

    known: functions that are being looked at, which call it.
    """
    if isinstance(function, ast.AsyncFunctionDef):
        return False
    own = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    own |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    module = next((tree for tree in facts.trees() if any(node is function for node in ast.walk(tree))), None)
    return module is not None and all(
        _is_local(facts, module, node, own, known | {function}) for node in _nodes(function)
    )


def _nodes(function: FunctionNode) -> Iterator[ast.AST]:
    """All nodes of a function's body."""
    for part in function.body if isinstance(function.body, list) else [function.body]:
        yield from ast.walk(part)


def _is_local(facts: Facts, module: ast.Module, node: ast.AST, own: set[str], known: frozenset[ast.AST]) -> bool:
    """Whether a node of a function with these names changes nothing outside of it."""
    if isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Import, ast.ImportFrom, *SCOPES)):
        return False
    if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        return _root(node) in own
    if not isinstance(node, ast.Call):
        return True
    root = _root(node.func)
    if root in own:
        return True
    if not isinstance(node.func, ast.Name):
        return root in _libraries(facts, module)
    called = next((s for s in module.body if isinstance(s, ast.FunctionDef) and s.name == root), None)
    if called is None:
        return hasattr(builtins, root) or root in _libraries(facts, module)
    return called in known or keeps_nothing(facts, called, known)


def _root(node: ast.AST) -> str:
    """The name that an attribute, item or call begins with; "" where there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _libraries(facts: Facts, module: ast.Module) -> set[str]:
    """The names of a file for modules that are not of this project, and for what it imports out of them."""
    project = {dotted for dotted, _ in facts.found}
    names: set[str] = set()
    for stmt in (s for s in ast.walk(module) if isinstance(s, (ast.Import, ast.ImportFrom))):
        source = f"{stmt.module}." if isinstance(stmt, ast.ImportFrom) else ""
        if isinstance(stmt, ast.ImportFrom) and (stmt.level or stmt.module in project):
            continue
        library = [one for one in stmt.names if source + one.name not in project]
        names |= {(one.asname or one.name).partition(".")[0] for one in library}
    return names
