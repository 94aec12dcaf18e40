"""What each file of the project calls the tensorflow module, and the module that carries shared helpers."""

from __future__ import annotations

import ast
import os

from converter.analysis.facts import Facts
from converter.analysis.values import Typed
from converter.planner.writing.free_names import Names

IMPORT = "import tensorflow as"


class Aliases:
    """The names of the tensorflow module by file: the file's own, or a new one that it is given."""

    def __init__(self, facts: Facts, names: Names) -> None:
        self._facts = facts
        self._names = names
        self._made: dict[str, str] = {}

    def imported(self, path: str) -> bool:
        """Whether a file imports the module itself."""
        return "" in self._facts.imports.get(path, {}).values()

    def tensorflow(self, path: str) -> str:
        """The name in a file; one that does not import the module is given one."""
        for name, dotted in self._facts.imports.get(path, {}).items():
            if dotted == "":
                return name
        if path not in self._made:
            self._made[path] = self._names.fresh("tf", "tensorflow")
        return self._made[path]

    def flags(self, path: str) -> str:
        """The name of the parsed flags in a file, "" where it has none."""
        known = self._facts.frame_of(path).locals
        return next((n for n, v in known.items() if isinstance(v, Typed) and v.kind == "Flags"), "")


def import_line(facts: Facts) -> str:
    """How the script imports the tensorflow module, for files that the tool adds: `import … as`."""
    name = next((n for n, dotted in facts.imports.get("", {}).items() if dotted == ""), "")
    for stmt in ast.walk(facts.tree):
        if isinstance(stmt, (ast.Import, ast.ImportFrom)):
            for alias in stmt.names:
                if name and (alias.asname or alias.name) == name:
                    package = f"from {stmt.module} " if isinstance(stmt, ast.ImportFrom) else ""
                    return f"{package}import {alias.name} as"
    return IMPORT


def helper_module(facts: Facts, path: str, name: str) -> str:
    """The module that carries the helpers, as a file imports it.

    It lies beside the script, where Python looks first when the script is run; a script that imports
    relatively itself is run as part of a package, whose other files then do the same.
    """
    if not any(isinstance(stmt, ast.ImportFrom) and stmt.level for stmt in facts.tree.body):
        return name
    here = os.path.dirname(os.path.abspath(facts.path))
    below = os.path.relpath(os.path.dirname(path) if path else here, here)
    depth = 0 if below == os.curdir else below.count(os.sep) + 1
    return "." * (depth + 1) + name
