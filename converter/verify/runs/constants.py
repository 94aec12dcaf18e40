"""The choices that modules of a script's project offer: constants such as `OPTIMIZER = 'sgd'` that branches ask for.

A config module (`settings.py`) is a command line for whoever edits it. Read from the text alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from converter.parsing import parse_text
from converter.verify.data import ConstantChoice

_NONE = object()
Place = tuple[str, str]  # of a constant: the module's path from the project's root, and its name


def constants_in(tree: ast.Module) -> dict[str, tuple[Any, int]]:
    """{name: (value, line)} of what a module binds once, at its top level, to a text, a number or a bool."""
    bound: dict[str, list[tuple[Any, int]]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign | ast.AugAssign):
            continue
        value = node.value.value if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) else _NONE
        known = node in tree.body and isinstance(value, str | int | float)
        for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
            if isinstance(target, ast.Name):
                bound.setdefault(target.id, []).append((value if known else _NONE, node.lineno))
    return {name: found[0] for name, found in bound.items() if len(found) == 1 and found[0][0] is not _NONE}


def tests_of_constants(trees: Mapping[str, ast.Module], script: str) -> dict[Place, list[ast.expr]]:
    """{constant of a module: the comparisons and tests in which a branch asks for it}; script: what is no module."""
    known = {(name, one) for name, tree in trees.items() if name != script for one in constants_in(tree)}
    found: dict[Place, list[ast.expr]] = {}
    for name, tree in trees.items():
        names = _names(name, tree, trees)
        for test in _tests(tree):
            for node in (test.left, *test.comparators) if isinstance(test, ast.Compare) else (test,):
                place = _place(node, names)
                if place in known and place is not None:
                    found.setdefault(place, []).append(test)
    return found


def _names(name: str, tree: ast.Module, trees: Mapping[str, ast.Module]) -> dict[str, str | Place]:
    """What names mean in a module: {alias: path of a module, or the place of a constant}."""
    found: dict[str, str | Place] = {one: (name, one) for one in constants_in(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if module := _file(alias.name, trees):
                    found[alias.asname or alias.name] = module
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = _file(f"{node.module}.{alias.name}" if node.module else alias.name, trees)
                module = _file(node.module or "", trees)
                if inner or module:
                    found[alias.asname or alias.name] = inner or (module, alias.name)
    return found


def _file(module: str, trees: Mapping[str, ast.Module]) -> str:
    """The path of a module among these, by its dotted name."""
    ending = Path(*module.split(".")).with_suffix(".py") if module else None
    return next((name for name in trees if ending and Path(name).parts[-len(ending.parts) :] == ending.parts), "")


def _place(node: ast.expr, names: Mapping[str, str | Place]) -> Place | None:
    if isinstance(node, ast.Name):
        found = names.get(node.id)
        return found if isinstance(found, tuple) else None
    if isinstance(node, ast.Attribute):
        module = names.get(ast.unparse(node.value))
        return (module, node.attr) if isinstance(module, str) else None
    return None


def _tests(tree: ast.Module) -> Iterator[ast.expr]:
    """The comparisons of a module, and what its branches test without one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield node
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test
        elif isinstance(node, ast.BoolOp):
            yield from node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node.operand


def set_constants(root: Path, constants: Iterable[ConstantChoice]) -> None:
    """Gives constants of modules other values, in a copy of a project and in converted modules beside them."""
    for constant in constants:
        module = root / constant.module
        for file in module.parent.glob(f"{module.stem}*.py"):
            text = file.read_text(encoding="utf-8", errors="surrogateescape")
            if constant.name in constants_in(parse_text(text)):
                file.write_text(_with_value(text, constant), encoding="utf-8", errors="surrogateescape")


def _with_value(text: str, constant: ConstantChoice) -> str:
    """A module's text in which the constant has the other value."""
    line = rf"(?m)^({re.escape(constant.name)}\s*=\s*)(?:(['\"]).*?\2|[^\s#]+)"
    return re.sub(line, lambda found: found[1] + constant.text, text, count=1)
