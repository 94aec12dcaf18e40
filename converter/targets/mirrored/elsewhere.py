"""Functions that other files of the project define: where a name leads, through imports of any kind."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from converter.parsing import parse_text
from converter.source.project.folders import holds_top, in_any, in_folder
from converter.source.project.libraries import search_folders
from converter.syntax.script import Script

Defined = TypeVar("Defined", ast.FunctionDef, ast.ClassDef)
_MOST_IMPORTS = 8  # one behind the other, until a name reaches its function


def definition(script: Script, node: ast.expr, folder: str | None = None) -> tuple[Script, ast.FunctionDef] | None:
    """The function that a name stands for, and the file that defines it; None if that is not known.

    folder: of the script that Python was started with, where other files look for modules too; None: of this script.
    """
    folder = os.path.dirname(os.path.abspath(script.path)) if folder is None else folder
    return _defined_in(script, node, folder, Script.defined, _MOST_IMPORTS)


def definition_of_class(script: Script, node: ast.expr, folder: str) -> tuple[Script, ast.ClassDef] | None:
    """The class that a name stands for, and the file that defines it; None if that is not known."""
    return _defined_in(script, node, folder, _class_of_file, _MOST_IMPORTS)


def _class_of_file(script: Script, node: ast.expr) -> ast.ClassDef | None:
    name = node.id if isinstance(node, ast.Name) else ""
    return next((one for one in script.tree.body if isinstance(one, ast.ClassDef) and one.name == name), None)


def _defined_in(
    script: Script, node: ast.expr, folder: str, find: Callable[[Script, ast.expr], Defined | None], steps: int
) -> tuple[Script, Defined] | None:
    own = None if script.name(node) else find(script, node)
    if own is not None or not steps:
        return None if own is None else (script, own)
    for module, name in _imported(script, node):  # of names by star all modules may have it
        other = module_beside(script, module, folder)
        found = None if other is None else _defined_in(other, ast.Name(name, ast.Load()), folder, find, steps - 1)
        if found is not None:
            return found
    return None


def module_beside(script: Script, module: str, main: str | None = None) -> Script | None:
    """The file of a module beside a script, or in a folder above, where `python -m` starts it; None if unreadable.

    module: its name; of a relative import with the dots. main: the folder of the script that Python was started with.
    """
    folder, name = os.path.dirname(os.path.abspath(script.path)), module.lstrip(".")
    for _ in range(len(module) - len(name) - 1):
        folder = os.path.dirname(folder)
    if module == name and main is not None:
        folder = main
    path = in_folder(name, folder)
    if path is None and module == name and not holds_top(name, folder):
        path, _ = in_any(name, search_folders(script.path, script.text.encode())) or (None, "")
    if path is None:
        return None
    known = os.path.abspath(path)
    if known not in script.files:
        path = os.path.relpath(path, os.path.abspath(os.curdir)) if not os.path.isabs(script.path) else path
        with suppress(OSError, SyntaxError, ValueError), open(path, encoding="utf-8") as file:
            text = file.read()
            script.files[known] = Script(path, text, parse_text(text), files=script.files)
    return script.files.get(known)


def _imported(script: Script, node: ast.expr) -> Iterator[tuple[str, str]]:
    """The modules, with the dots of relative imports, that may define a name, and its name there; nearest first."""
    module, _, name = script.name(node).rpartition(".")
    if module:
        yield module, name
        return
    whole, _, last = ast.unparse(node).rpartition(".")
    stars = []
    for one in script.nodes(ast.ImportFrom):
        for alias in one.names:
            module = "." * one.level + (one.module or "")
            if alias.name == "*" and not whole:
                stars.append((module, last))
            elif one.level and (alias.asname or alias.name) == (whole or last):
                inner = f"{module}{'.' if one.module else ''}{alias.name}"
                yield (inner, last) if whole else (module, alias.name)
    yield from reversed(stars)
