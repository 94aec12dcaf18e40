"""Imports that lead to folders above the script, which must be on Python's path."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from converter.analysis.facts import Facts
from converter.analysis.project import FoundModule
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected, Shared
from converter.planner.checking import check
from converter.planner.wording import finding
from converter.planner.writing.findings import at_node
from converter.source.project.folders import in_folder

CODES = ("TMG146", "TMG262", "TMG356")


@check(Shared)
def folders_on_the_path(case: Shared) -> Iterator[Diagnostic]:
    """Folders above the script that must be on the path, each at the first import that needs it."""
    facts, here = case.facts, os.path.dirname(os.path.abspath(case.facts.path))
    seen: set[str] = set()
    for (module, folder), (found, node) in facts.found.items():
        if not found.above or folder in seen:
            continue
        seen.add(folder)
        start = facts.project.start
        at = os.path.relpath(start.at, here)
        where = "run it in its own folder" if at == os.curdir else f"run it in {at}/"
        yield at_node(
            facts,
            node,
            "TMG146",
            f"{module.partition('.')[0]} is found in {os.path.relpath(folder, here)}/, which must be on Python's path "
            "when the script is run",
            f"{where}: {start.command}",
            "info",
        )


@check(Selected)
def found_twice(case: Selected) -> Iterator[Diagnostic]:
    """Warn of modules that two folders on the path contain; how the script is started decides which is imported."""
    facts = case.facts
    above = _above(facts)
    script = os.path.dirname(os.path.abspath(facts.path))
    told: set[str] = set()
    for (module, folder), (found, node) in facts.found.items() if above else ():
        others = [f for f in (script, *facts.project.paths, *above) if f != folder]
        if script in others and facts.project.start.package:
            others.remove(script)
        other = next((path for f in others if (path := in_folder(module, f)) and not _same(path, found)), None)
        if other is None or module.partition(".")[0] in told:
            continue
        told.add(module.partition(".")[0])
        yield finding(
            facts,
            node,
            "TMG356",
            module=module,
            first=os.path.relpath(found.path, script),
            other=os.path.relpath(other, script),
        )


@check(Selected)
def under_two_names(case: Selected) -> Iterator[Diagnostic]:
    """Refuse files that are imported under two module names and keep state."""
    facts = case.facts
    tops = {os.path.dirname(os.path.abspath(facts.path)), *facts.project.paths, *_above(facts)}
    names: dict[str, str] = {}
    for (module, folder), (found, node) in facts.found.items() if _above(facts) else ():
        if folder not in tops:
            continue  # beside the importing file, which Python 2 names as a part of its package
        first = names.setdefault(found.path, module)
        if first != module and _keeps_something(facts, found.path):
            yield finding(facts, node, "TMG262", file=os.path.basename(found.path), first=first, module=module)


def _above(facts: Facts) -> list[str]:
    return list(dict.fromkeys(found.folder for found, _ in facts.found.values() if found.above))


def _same(path: str, found: FoundModule) -> bool:
    return os.path.realpath(path) == os.path.realpath(found.path)


def _keeps_something(facts: Facts, path: str) -> bool:
    """Whether a module's own statements do more than define functions, classes and plain constants."""
    if path not in facts.modules:
        return False
    tree = facts.modules[path].tree
    plain = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    rest = [stmt for stmt in tree.body if not isinstance(stmt, plain) and not _is_constant(stmt)]
    return bool(rest) or any(isinstance(node, ast.Global) for node in ast.walk(tree))


def _is_constant(stmt: ast.stmt) -> bool:
    return isinstance(getattr(stmt, "value", None), ast.Constant) and isinstance(
        stmt, (ast.Expr, ast.Assign, ast.AnnAssign)
    )
