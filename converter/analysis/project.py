"""Other files of the project that a script imports: read for what they mean, never edited here."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, field

LARGEST = 1_000_000  # bytes; a larger module is data, not a model


@dataclass
class Project:
    """The folder of a script, and the syntax trees of its modules that were asked for."""

    folder: str
    trees: dict[str, ast.Module | None] = field(default_factory=dict)

    def find(self, module: str, beside: str, level: int) -> str | None:
        """The path of a local module, None where it is not one of the project's.

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
        for folder in folders:
            base = os.path.join(folder, *module.split(".")) if module else folder
            for path in (base + ".py", os.path.join(base, "__init__.py")):
                if os.path.isfile(path) and os.path.getsize(path) < LARGEST:
                    return os.path.normpath(path)
        return None

    def tree(self, path: str) -> ast.Module | None:
        """The syntax tree of a module, None where it cannot be read or parsed."""
        if path not in self.trees:
            try:
                with open(path, "rb") as stream:
                    self.trees[path] = ast.parse(stream.read())
            except (OSError, SyntaxError, ValueError):
                self.trees[path] = None
        return self.trees[path]
