"""Other files of the project that a script imports."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from converter.dataclass import dataclass
from converter.parsing import parse_text
from converter.source.project.above import Start, start_of
from converter.source.project.folders import folders_above, holds_top, in_any, in_folder
from converter.source.project.libraries import libraries, search_folders
from converter.source.quick_checks import code_of
from converter.source.viewed import tree_of

FOLDERS_ABOVE = 3  # the folder of a script that are its project's


@dataclass(frozen=True)
class FoundModule:
    """A module of the project: its file, and the folder in which Python finds it.

    above: whether that folder must be put on the path for it.
    """

    path: str
    folder: str
    above: bool = False


def project_of(path: str, originals: Mapping[str, bytes]) -> Project:
    """The project of a script; one that is no file, as a text from standard input, has no folders above it."""
    path = os.path.abspath(path)
    return Project(os.path.dirname(path), originals, script=path if os.path.isfile(path) else "")


class TurnedPython2(Exception):
    """A module that was just read is Python 2: what was executed before it was taken for Python 3."""


@dataclass
class Project:
    """The folder of a script, with the bytes and syntax trees of the modules that were read.

    originals: the bytes of files before this run overwrote them. paths: folders that the script adds to sys.path.
    script: its path; "" if only its own folder is searched. python2: one of the files that were read is
    Python 2, so that Python 2 runs them all. faults: by paths of files that are valid in no Python, the line where
    reading ends.
    """

    folder: str
    originals: Mapping[str, bytes] = field(default_factory=dict)
    trees: dict[str, tuple[bytes, ast.Module] | None] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    script: str = ""
    python2: bool = False
    faults: dict[str, int] = field(default_factory=dict)

    @cached_property
    def above(self) -> list[str]:
        """The folders above the script's in which modules are looked for, nearest first, and those of its libraries."""
        return search_folders(self.script, self._code) if self.script else []

    @cached_property
    def unclear(self) -> dict[str, list[str]]:
        """Imports of the script that several folders of its project answer, none of them on the path: the folders."""
        above = folders_above(self.folder)
        found = libraries(self.script, self._code, above) if self.script else {}
        return {top: folders for top, folders in found.items() if len(folders) > 1}

    @property
    def _code(self) -> bytes:
        data = self.originals.get(self.script)
        if data is None:
            with open(self.script, "rb") as stream:
                data = stream.read()
        return code_of(self.script, data)

    @cached_property
    def start(self) -> Start:
        """How the script is started so that it finds what it imports."""

        def tree(path: str) -> ast.Module | None:
            read = self.read(path)
            return read[1] if read is not None else None

        return start_of(self.script, tree)

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
        """The path of a module of the project; None for any other module. Arguments as of `where`."""
        found = self.where(module, beside, level)
        return found.path if found is not None else None

    def where(self, module: str, beside: str, level: int, above: bool = True) -> FoundModule | None:
        """A module of the project; None for any other module.

        module: its dotted name; beside: the file that imports it; level: the dots of a relative import.
        above: whether folders above the script's are searched, too.
        """
        folder = os.path.dirname(beside)
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            path = in_folder(module, folder)
            return FoundModule(path, folder) if path else None
        beside_first = (folder, self.folder) if self.python2 else (self.folder, folder)
        folders = list(dict.fromkeys((*beside_first, *self.paths)))
        for folder in folders:
            path = in_folder(module, folder)
            if path is not None:
                return FoundModule(path, folder)
        there = in_any(module, self.above) if above and module else None
        if there is None:
            return None
        if any(holds_top(module, folder) for folder in (self.folder, *self.paths)) and not self.start.package:
            return None  # Python ends its search there
        return FoundModule(*there, above=True)

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
                    self.trees[path] = data, self._parsed(data)
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
                self.trees[path] = None
                if isinstance(error, SyntaxError):
                    self.faults[path] = error.lineno or 0
        return self.trees[path]

    def _parsed(self, data: bytes) -> ast.Module:
        """The tree of a text; raises the error of Python 3 where Python 2 cannot read it, either."""
        try:
            return parse_text(data)
        except SyntaxError as error:
            try:
                tree = tree_of(data)
            except (SyntaxError, ValueError):
                raise error from None
            self.python2 = True
            return tree
