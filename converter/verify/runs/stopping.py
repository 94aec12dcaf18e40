"""Finds what a script decides by a value that it computes: to end its training, or to keep its best checkpoint."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from converter.verify.data import LedgerLine
from converter.verify.runs.flags import project

_RUNS = frozenset({"run", "eval", "train_on_batch", "partial_run"})
_ENDS = frozenset({"exit", "quit", "_exit", "request_stop"})
_KEEPS = {"save": "saved", "restore": "restored", "add_summary": "summary"}  # the kinds of verify's notes
_GUARDS = frozenset({"isnan", "isinf", "isfinite"})  # against values that no run should reach
_COUNTS = re.compile(r"step|iter|epoch|count|(^|\.)_$|(^|\.)i$")  # fetched, but the same in each run
_Loop = ast.For | ast.While


def early_stop(script: Path) -> str:
    """`file:line` of a condition that ends a training loop by a value of a run; "" if there is none."""
    for name, tree in project(script).items():
        for line in _stops(tree):
            return f"{name}:{line}"
    return ""


def early_stopping(script: Path) -> Iterator[LedgerLine]:
    """The ledger's entry for it: when it ends either script is for each run's values to say."""
    if place := early_stop(script):
        detail = f"{place} ends the training by a value that a run gives: by which one, and when, is not compared"
        yield LedgerLine("unchecked", "early stopping", detail)


def kept_by_values(script: Path) -> dict[str, str]:
    """{what a script does beside its steps: `file:line` of a condition on a value of a run that decides whether to}."""
    found: dict[str, str] = {}
    for name, tree in project(script).items():
        known = _computed(tree)
        keeping = {
            node.name: kinds
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and (kinds := _kept(node.body, {}))
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and _of_values(node.test, known):
                for kind in _kept([*node.body, *node.orelse], keeping):
                    found.setdefault(kind, f"{name}:{node.lineno}")
    return found


def _kept(statements: Iterable[ast.stmt], keeping: Mapping[str, set[str]]) -> set[str]:
    """What these statements do beside the steps; keeping: the same for functions that they may call."""
    found: set[str] = set()
    for node in _inside(statements):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            found |= keeping.get(called, set()) | ({_KEEPS[called]} if called in _KEEPS else set())
    return found


def _stops(tree: ast.Module) -> Iterator[int]:
    known = _computed(tree)
    for loop in ast.walk(tree):
        if not isinstance(loop, _Loop) or not any(_gives(node, known) for node in ast.walk(loop)):
            continue
        if isinstance(loop, ast.While) and _of_values(loop.test, known):
            yield loop.lineno
        for node in ast.walk(loop):
            ends = isinstance(node, ast.If) and any(map(_is_end, _of_loop([*node.body, *node.orelse])))
            if isinstance(node, ast.If) and ends and _of_values(node.test, known):
                yield node.lineno


def _computed(tree: ast.Module) -> frozenset[str]:
    """Names of values that runs give, of what is computed from them, and of functions that return them."""
    known: frozenset[str] = frozenset()
    while True:
        found = known | frozenset(_stopping_names(tree, known))
        if found == known:
            return known
        known = found


def _stopping_names(tree: ast.Module, known: frozenset[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            returned = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner.value]
            if any(_of_values(value, known) for value in returned):
                yield node.name
        elif isinstance(node, ast.Assign | ast.AugAssign) and _of_values(node.value, known):
            yield from _names(node)
        elif isinstance(node, ast.If) and _of_values(node.test, known):
            for inner in _inside([*node.body, *node.orelse]):
                if isinstance(inner, ast.Assign | ast.AugAssign):
                    yield from _names(inner)


def _names(node: ast.Assign | ast.AugAssign) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for one in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            name = ast.unparse(one)
            if not _COUNTS.search(name):
                yield name


def _gives(node: ast.AST, known: frozenset[str]) -> bool:
    """Whether a call runs a session, or a function that returns what one gave."""
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    return isinstance(called, ast.Attribute) and called.attr in _RUNS or ast.unparse(called) in known


def _of_values(expression: ast.expr, known: frozenset[str]) -> bool:
    nodes = list(ast.walk(expression))
    if any(isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _GUARDS for node in nodes):
        return False
    names = (ast.unparse(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute))
    return any(_gives(node, known) for node in nodes) or any(name in known for name in names)


def _is_end(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).rpartition(".")[2] in _ENDS
    return isinstance(node, ast.Break | ast.Return | ast.Raise)


def _of_loop(statements: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes of some statements of a loop, but for `break` in a loop inside of them, which ends that loop alone."""
    inner = [node for node in _inside(statements) if isinstance(node, _Loop)]
    breaks = {id(node) for loop in inner for node in _inside(loop.body) if isinstance(node, ast.Break)}
    return (node for node in _inside(statements) if id(node) not in breaks)


def _inside(statements: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)
