"""The helpers by name: their source and what they need."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

MODULES = ("counting", "devices", "sharding", "sharing", "gradients")


@dataclass(frozen=True)
class Helper:
    """One definition of the runtime: source lines, other helpers and modules that it uses."""

    name: str
    source: str
    needs: tuple[str, ...]
    imports: tuple[str, ...]


@cache
def catalog() -> dict[str, Helper]:
    """All helpers, in the order in which they are written into a script."""
    found: dict[str, Helper] = {}
    for module in MODULES:
        text = (files("converter.runtime") / f"{module}.py").read_text(encoding="utf-8")
        found.update(_helpers(text))
    return found


def _helpers(text: str) -> dict[str, Helper]:
    tree = ast.parse(text)
    lines = text.splitlines()
    modules = {a.name for s in tree.body if isinstance(s, ast.Import) for a in s.names if a.asname is None}
    found = {}
    for stmt in tree.body:
        if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
            name, first = stmt.name, min([stmt.lineno, *(d.lineno for d in stmt.decorator_list)])
        elif (
            isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name) and stmt.targets[0].id != "NUM_GPUS"
        ):
            name, first = stmt.targets[0].id, stmt.lineno
        else:
            continue
        used = {n.id for n in ast.walk(stmt) if isinstance(n, ast.Name)} - {name}
        source = "\n".join(lines[first - 1 : stmt.end_lineno])
        found[name] = Helper(name, source, tuple(sorted(used)), tuple(sorted(used & modules)))
    return found
