"""Files outside of a script's folder that it reads by a relative path, such as `../data`: each run gets copies."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from converter.source.project.above import Start
from converter.verify.data import VerifyError
from converter.verify.processes.layout import Layout
from converter.verify.runs.flags import project

_UP = ".." + os.sep


def data_beside(script: Path, start: Start, args: Iterable[str] = (), named: Iterable[str] = ()) -> tuple[Path, ...]:
    """The folders and files to copy, none within another.

    args: the script's arguments, which may name some, too. named: further ones, which have to be there.

    Raises:
        VerifyError: a named one does not exist, or is no data beside the folder.
    """
    root = Path(start.root)
    at = Path(start.at or script.parent)
    found = [path for text in _texts(script, args) if (path := _existing(os.path.join(at, text), root)) is not None]
    for name in named:
        path = Path(os.path.abspath(name))
        if not path.exists():
            raise VerifyError(f"--data-dir {name}: no such file or folder")
        if not _is_apart(path, root):
            raise VerifyError(f"--data-dir {name}: must lie outside of {root}, which is copied, and not around it")
        found.append(path)
    outer = dict.fromkeys(path for path in found if not any(other in path.parents for other in found))
    return tuple(outer)


def with_data(layout: Layout, args: Iterable[str], named: Iterable[str] = ()) -> Layout:
    """A layout with the data beside the original's folder, for the copies of both."""
    return replace(layout, data=data_beside(layout.single, layout.start, args, named))


def _texts(script: Path, args: Iterable[str]) -> Iterator[str]:
    """The relative paths upwards that the script's project or its arguments hold."""
    for tree in project(script).values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(_UP):
                yield node.value
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join":
                yield _joined(node.args)
    for arg in args:
        text = arg.partition("=")[2] if arg.startswith("-") else arg
        if text.startswith(_UP):
            yield text


def _joined(parts: Iterable[ast.expr]) -> str:
    """The path that the known texts in `os.path.join(here, '..', 'data', name)` make from the first `..` on."""
    known: list[str] = []
    for part in parts:
        text = part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else None
        if known and text is None:
            break
        if text is not None and (known or text == ".." or text.startswith(_UP)):
            known.append(text)
    return os.path.join(*known) if known else ""


def _existing(path: str, root: Path) -> Path | None:
    """The part of a path that exists, if that is data beside the root: of `../data/%s.csv` the folder `../data`."""
    found = os.path.normpath(path)
    while not os.path.exists(found):  # also False for a text that can be no path
        found = os.path.dirname(found)
    return Path(found) if _is_apart(Path(found), root) else None


def _is_apart(path: Path, root: Path) -> bool:
    return path != root and root not in path.parents and path not in root.parents
