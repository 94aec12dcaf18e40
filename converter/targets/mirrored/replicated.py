"""Code of a script that every replica runs: with its own share of the batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.traits import Trait
from converter.syntax.known import is_known
from converter.syntax.script import Script, all_arguments

_TAKE_CODE = ("compile", "add_loss", "add_metric")


def reachable(script: Script, function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, and of the functions of its file that it names."""
    open_, seen = [function], {id(function)}
    while open_:
        for node in ast.walk(open_.pop()):
            yield node
            name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
            for other in script.functions.get(name, ()):
                if id(other) not in seen:
                    seen.add(id(other))
                    open_.append(other)


def keras_code(script: Script) -> list[ast.AST]:
    """The code of the script that replicas of a Keras model run: losses, metrics, own layers."""
    roots: list[ast.AST] = list(script.functions.get("call", ()))
    for call in script.calls:
        if script.method(call) in _TAKE_CODE or is_known(script, call.func, Trait.BUILDS_MODEL):
            roots += all_arguments(call)
    found: list[ast.AST] = []
    for root in roots:
        inner = [root] if isinstance(root, ast.FunctionDef) else list(_functions(script, root))
        for function in inner:
            found += reachable(script, function)
    return found


def _functions(script: Script, given: ast.AST) -> Iterator[ast.AST]:
    """The functions that an argument names, makes or calls to get one."""
    for node in ast.walk(given):
        if isinstance(node, ast.Lambda):
            yield node
        elif isinstance(node, ast.Name):
            yield from script.functions.get(node.id, ())
