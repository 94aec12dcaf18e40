"""What each file of the project calls the tensorflow module, and the module that carries shared helpers."""

from __future__ import annotations

import ast
import os

from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, name_of, names
from converter.analysis.values import Typed

IMPORT = "import tensorflow as"
TENSORFLOW = ("tf", "tensorflow")  # new names of the module


class Aliases:
    """The names of the tensorflow module by file: the file's own, or `new`, which is free in all files.

    In a file that names TensorFlow 1 as `tf.compat.v1`, so that TensorFlow 2 runs it, that is the name.
    """

    def __init__(self, facts: Facts, new: str) -> None:
        self.new = new
        self._facts = facts
        self._names: dict[str, str] = {}

    def imported(self, path: str) -> bool:
        """Whether a file imports the module itself."""
        return "" in self._facts.imports.get(path, {}).values()

    def tensorflow(self, path: str) -> str:
        """The name in a file; one that does not import the module will do so as `new`."""
        if path not in self._names:
            own = (name for name, dotted in self._facts.imports.get(path, {}).items() if dotted == "")
            name = next(own, "")
            upgraded = bool(name) and is_upgraded(self._facts, path, name)
            self._names[path] = f"{name}.{name_of(Trait.V1_MODULE)}" if upgraded else name or self.new
        return self._names[path]

    def flags(self, path: str) -> str:
        """The name of the parsed flags in a file, "" where it has none."""
        known = self._facts.frame_of(path).locals
        return next((n for n, v in known.items() if isinstance(v, Typed) and v.kind == "Flags"), "")


def is_upgraded(facts: Facts, path: str, name: str) -> bool:
    """Whether a file names TensorFlow 1's own functions as `tf.compat.v1.…` only, as tf_upgrade_v2 writes them."""
    module, old = f"{name}.{name_of(Trait.V1_MODULE)}", names(Trait.ONLY_IN_V1)
    found = False
    for node in facts.nodes(ast.Attribute, facts.tree_of(path)):
        if isinstance(node.value, ast.Name) and node.value.id == name and node.attr in old:
            return False
        found = found or (module.endswith("." + node.attr) and ast.unparse(node) == module)
    return found


def import_line(facts: Facts) -> str:
    """How the script imports the tensorflow module, for files that the tool adds: `import … as`."""
    name = next((n for n, dotted in facts.imports.get("", {}).items() if dotted == ""), "")
    for stmt in ast.walk(facts.tree):
        if isinstance(stmt, (ast.Import, ast.ImportFrom)):
            for alias in stmt.names:
                if name and (alias.asname or alias.name) == name:
                    package = f"from {stmt.module} " if isinstance(stmt, ast.ImportFrom) else ""
                    upgraded = alias.name == "tensorflow" and is_upgraded(facts, "", name)
                    return f"{package}import {alias.name}{'.' + name_of(Trait.V1_MODULE) if upgraded else ''} as"
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
