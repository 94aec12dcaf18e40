"""The worker of a converted script: the classes of `converter/runtime/cluster.py`, in the script or imported."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from functools import cache
from itertools import count
from pathlib import Path

from converter.parsing import parse_text
from converter.runtime.worker import MODULE, worker_module, worker_source
from converter.source.header import HELPERS, HELPERS_END
from converter.syntax.script import Script

MARKER = "# One process for each GPU: TensorFlow's collectives average the gradients."


@cache
def _module() -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The modules that the runtime imports, its text below the imports, and the names that it defines."""
    text = worker_source()
    body = parse_text(text).body
    imported = tuple(alias.name for stmt in body if isinstance(stmt, ast.Import) for alias in stmt.names)
    defined = tuple(stmt.name for stmt in body if isinstance(stmt, ast.ClassDef | ast.FunctionDef))
    first = next(stmt for stmt in body if isinstance(stmt, ast.ClassDef | ast.FunctionDef))
    return imported, "\n".join(text.splitlines()[first.lineno - 1 :]), defined


def worker_lines(script: Script, cluster: str, arguments: str) -> list[str]:
    """The lines of the worker: imports, classes, and the statement that makes this process a worker.

    cluster: the script's name for the object. arguments: of its class.
    """
    modules, text, defined = _module()
    names = {name: script.new(name) for name in defined}
    bound = {module: script.new(f"_{module}") for module in modules}
    tensorflow = script.new("_tf")
    text = _renamed(text, {**names, **bound, "tf": tensorflow}).replace("    ", script.unit)
    imports = [f"import {module} as {name}" for module, name in bound.items()]
    imports += ["try:", f"{script.unit}import tensorflow.compat.v1 as {tensorflow}"]
    imports += ["except ImportError:  # before 1.13", f"{script.unit}import tensorflow as {tensorflow}"]
    started = [HELPERS_END, "", MARKER, f"{cluster} = {names['Cluster']}({arguments})", ""]
    return [HELPERS, *imports, "", "", *text.splitlines(), "", "", *started]


def importing_lines(script: Script, module: str, cluster: str, arguments: str) -> list[str]:
    """The import of the class from a module, and the statement that makes this process a worker."""
    name = script.new("Cluster")
    given = "" if name == "Cluster" else f" as {name}"
    imported = [HELPERS, f"from {module} import Cluster{given}", HELPERS_END]
    return [*imported, "", MARKER, f"{cluster} = {name}({arguments})", ""]


def helper_module(script: Script) -> tuple[str, str]:
    """Name and text of the module beside a script; its name is one that no other file has there."""
    folder = Path(os.path.dirname(script.path))
    names = (f"{MODULE}_{number}" if number > 1 else MODULE for number in count(1))
    return next(name for name in names if _is_free(folder, name)), worker_module()


def _is_free(folder: Path, name: str) -> bool:
    """True if nothing has a module's name in a folder, or an earlier conversion wrote it."""
    if (folder / name).is_dir():
        return False
    try:
        return (folder / f"{name}.py").read_bytes().startswith(HELPERS.encode())
    except OSError:
        return True


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """A text in which the names of modules, classes and functions are others; those in strings stay."""
    lines = text.splitlines()
    tree = parse_text(text)
    places = [(node.lineno, node.col_offset, node.id) for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for stmt in tree.body:
        if isinstance(stmt, ast.ClassDef | ast.FunctionDef):
            head = len("class ") if isinstance(stmt, ast.ClassDef) else len("def ")
            places.append((stmt.lineno, head, stmt.name))
    for line, column, name in sorted(places, reverse=True):
        if name in names:
            old = lines[line - 1]
            lines[line - 1] = old[:column] + names[name] + old[column + len(name) :]
    return "\n".join(lines)
