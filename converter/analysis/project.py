"""Other files of the project that a script imports."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Mapping
from dataclasses import field

from converter.dataclass import dataclass

FOLDERS_ABOVE = 3  # the folder of a script that are its project's
LARGEST = 1_000_000  # bytes; a larger module is data, not a model


@dataclass
class Project:
    """The folder of a script, with the bytes and syntax trees of the modules that were read.

    originals: the bytes of files before this run overwrote them. paths: folders that the script adds to sys.path.
    """

    folder: str
    originals: Mapping[str, bytes] = field(default_factory=dict)
    trees: dict[str, tuple[bytes, ast.Module] | None] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)

    def add_path(self, path: str) -> None:
        """Looks for modules in a folder of the project, too; scripts are run from their own."""
        folder = os.path.normpath(os.path.join(self.folder, path))
        above = [self.folder]
        for _ in range(FOLDERS_ABOVE):
            above.append(os.path.dirname(above[-1]))
        inside = any(os.path.dirname(f) != f and (folder == f or folder.startswith(os.path.join(f, ""))) for f in above)
        if inside and folder not in (self.folder, *self.paths):
            self.paths.append(folder)

    def find(self, module: str, beside: str, level: int) -> str | None:
        """The path of a module of the project; None for any other module.

        module: its dotted name; beside: the file that imports it; level: the dots of a relative import.
        """
        folders = [self.folder]
        if level:
            folder = os.path.dirname(beside)
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            folders = [folder]
        elif os.path.dirname(beside) not in folders:
            folders.append(os.path.dirname(beside))
        for folder in folders if level else [*folders, *self.paths]:
            base = os.path.join(folder, *module.split(".")) if module else folder
            for path in (base + ".py", os.path.join(base, "__init__.py")):
                if os.path.isfile(path) and os.path.getsize(path) < LARGEST:
                    return os.path.normpath(path)
        return None

    def read(self, path: str) -> tuple[bytes, ast.Module] | None:
        """The bytes and the syntax tree of a module, None where it cannot be read or parsed."""
        if path not in self.trees:
            try:
                data = self.originals.get(path)
                if data is None:
                    with open(path, "rb") as stream:
                        data = stream.read()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of doubtful escapes, as in the script itself
                    self.trees[path] = data, ast.parse(data)
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                self.trees[path] = None
        return self.trees[path]
