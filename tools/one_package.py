"""Build hook: puts `converter` and `rules` into the one package that is installed, `tf_multigpu`.

In the repository both lie at the top, and modules import each other as `converter.…` and `rules.…`. Installed under
these names they would collide with other distributions and with a user's own `rules.py`. So the wheel holds them
as `tf_multigpu.converter` and `tf_multigpu.rules`, with their imports rewritten; lines keep their numbers. Only
statements can be rewritten: a module name in a string has to be made from `__package__` or `__name__`, and one that is
not stops the build. An editable install leaves the files as they are and puts the repository on the path.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OUTER = "tf_multigpu"
INNER = ("converter", "rules")
_DOTTED = re.compile(rf"(?:{'|'.join(INNER)})\.[\w.]*(?::\w*)?")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.py[cod]", ".*")


class OnePackage(BuildHookInterface[Any]):
    """Called by hatchling for wheels."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Names the folder that the wheel is made from."""
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory(prefix="tf-multigpu-wheel-")
        package = Path(self.folder.name, OUTER)
        write_package(Path(self.root), package)
        build_data["force_include"][str(package)] = OUTER

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Removes that folder."""
        if version != "editable":
            self.folder.cleanup()


def write_package(root: Path, package: Path) -> None:
    """Copies the repository's packages into one folder, with their imports rewritten."""
    shutil.copytree(root / OUTER, package, ignore=_LEFT_OUT)
    for name in INNER:
        shutil.copytree(root / name, package / name, ignore=_LEFT_OUT)
    for path in package.rglob("*.py"):
        data = path.read_bytes()
        if any(name.encode() in data for name in INNER):
            path.write_bytes(rewritten(data, str(path.relative_to(package))))


def rewritten(data: bytes, path: str) -> bytes:
    """A module's source with its imports of `converter` and `rules` as they are called in the wheel.

    Raises:
        ValueError: an import or a string names a module in a way that cannot be rewritten; the message says where.
    """
    tree = ast.parse(data, path)
    lines = data.split(b"\n")
    for line, column, old, new in sorted(_edits(tree, path), reverse=True):
        text = lines[line - 1]
        assert text[column:].startswith(old), f"{path}:{line}: {text!r}"
        lines[line - 1] = text[:column] + new + text[column + len(old) :]
    done = b"\n".join(lines)
    for line, string in _strings(ast.parse(done, path)):
        if _DOTTED.fullmatch(string):
            raise ValueError(f"{path}:{line}: {string!r} names a module; make it from __package__")
    return done


def _edits(tree: ast.AST, path: str) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Line, column, old and new bytes of each change."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and _is_inner(node.module or ""):
            yield node.lineno, node.col_offset, b"from ", f"from {OUTER}.".encode()
        if isinstance(node, ast.Import):
            for alias in node.names:
                if not _is_inner(alias.name):
                    continue
                if alias.asname:
                    yield alias.lineno, alias.col_offset, b"", f"{OUTER}.".encode()
                elif alias.name in INNER and len(node.names) == 1:
                    yield node.lineno, node.col_offset, b"import ", f"from {OUTER} import ".encode()
                else:
                    raise ValueError(f"{path}:{node.lineno}: `import {alias.name}` binds the first name: use `from`")


def _is_inner(module: str) -> bool:
    return module.split(".")[0] in INNER


def _strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and value of string constants, those in f-strings too, but not of docstrings."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


if __name__ == "__main__":
    write_package(Path(__file__).resolve().parent.parent, Path(sys.argv[1]))
