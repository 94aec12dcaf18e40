"""The libraries that a script imports beside TensorFlow, and that its processes can share as they share that."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from converter.diagnostics import Refusal
from converter.source import from_bytes, load, parse

# They import no TensorFlow, start no threads, and read no file of the folder in which they are imported, as
# matplotlib does.
SHARED = frozenset({"pandas", "PIL", "scipy", "sklearn"})


def shared_by(*scripts: Path) -> tuple[str, ...]:
    """Modules of such libraries that one of these scripts imports at its top level, by their names, sorted.

    A library of which the script's folder has a file or folder of the same name is left out.
    """
    return tuple(sorted({name for script in scripts for name in _imported(script)}))


def _imported(script: Path) -> Iterator[str]:
    try:
        data = load(str(script))
    except (Refusal, OSError):
        return
    for name in _libraries_in(data):
        library = name.split(".")[0]
        if library in SHARED and not any((script.parent / own).exists() for own in (library, f"{library}.py")):
            yield name


@lru_cache(maxsize=32)
def _libraries_in(data: bytes) -> tuple[str, ...]:
    """What a script's text imports at its top level; read once for all copies of the script that run."""
    try:
        return tuple(_names(parse(from_bytes("", data)).body))
    except (Refusal, SyntaxError, RecursionError):
        return ()


def _names(body: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)  # it may be a module, too
        elif isinstance(statement, ast.Try):
            yield from _names(statement.body)
