"""The name of TensorFlow, and of the module of shared helpers, in each file of the project."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable

from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, name_of, names
from converter.analysis.values import Typed
from converter.plan import Plan

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


def helper_module(facts: Facts, path: str, name: str, folder: str) -> str:
    """The name by which a file imports the module of helpers.

    A script that imports relatively itself is run as part of a package; if the module lies beside it, other files of
    the package import it relatively, too.
    """
    here = os.path.dirname(os.path.abspath(facts.path))
    if folder != here or not _is_relative(facts):
        return name
    up, *down = os.path.relpath(here, os.path.dirname(path) if path else here).split(os.sep)
    below = [up, *down]
    ups = below.count(os.pardir)
    return "." * (ups + 1) + ".".join([part for part in below if part not in (os.pardir, os.curdir)] + [name])


def helper_folder(facts: Facts, paths: Iterable[str]) -> str:
    """The folder of the module that carries the helpers of files that change together.

    Beside the script, where Python looks first when the script is run, if that is where the files are found; else the
    folder above it that must be on the path for them.
    """
    here = os.path.dirname(os.path.abspath(facts.path))
    above = [(found.path, found.folder) for found, _ in facts.found.values() if found.above]
    changed = [path for path in paths if path]
    if _is_relative(facts):
        if not above and all(_is_in(path, here) for path in changed):
            return here
    elif not above:
        return here
    start = facts.project.start
    if start.package:
        return start.at
    for path in changed:
        homes = [folder for file, folder in above if file == path or (_is_in(path, folder) and not _is_in(path, here))]
        if homes:
            return max(homes, key=len)
    return here


def helper_home(script: str, plan: Plan) -> str:
    """The folder of the module that carries a plan's helpers; script: the path of the script that is converted."""
    return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(script)), plan.helper_folder))


def _is_relative(facts: Facts) -> bool:
    return any(isinstance(stmt, ast.ImportFrom) and stmt.level for stmt in facts.tree.body)


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))
