"""Finds the files of a folder that .gitignore or the user leaves out."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, NamedTuple

GITIGNORE = ".gitignore"


class Excluded(NamedTuple):
    """Patterns as in .gitignore; they are seen from `folder`, "" for each folder that they are used in."""

    patterns: tuple[str, ...] = ()
    folder: str = ""

    def takes(self, path: str, is_folder: bool = False) -> bool:
        """Whether a path that somebody named is left out, by itself or with a folder above it."""
        if not self.patterns or not self.folder:
            return False
        name = _name(path, self.folder, is_folder)
        return not name.startswith("../") and _spec(list(self.patterns)).match_file(name)


NOTHING = Excluded()


class Ignored:
    """The files below one folder that are not part of the project.

    exclude: what the user leaves out. The .gitignore files of the folder, of those below it, and of those above it up
    to the repository's are followed.
    """

    def __init__(self, root: str, exclude: Excluded = NOTHING) -> None:
        self.root = os.path.abspath(root)
        self.top = _repository(self.root)
        self._specs: dict[str, Any] = {}
        self._folders: dict[str, str] = {}
        self._from = exclude.folder or self.root
        meant = exclude.takes(self.root, True)  # the user has named this folder, so its content is wanted
        self._exclude = _spec(list(exclude.patterns)) if exclude.patterns and not meant else None
        self._tracked: frozenset[str] | None = None
        if self._is_ignored(self.root, True):  # the user has named this folder, so its content is wanted
            self.top = self.root

    def why(self, relative: str, is_folder: bool = False) -> str:
        """Why a path below the root is left out, "" where it is not."""
        parent, _ = os.path.split(relative)
        if parent:
            if parent not in self._folders:
                self._folders[parent] = self.why(parent, True)
            if self._folders[parent]:
                return self._folders[parent]
        name = _name(os.path.join(self.root, relative), self._from, is_folder)
        is_below = not name.startswith("../")
        if self._exclude is not None and is_below and self._exclude.check_file(name).include:
            return "excluded"
        path = os.path.join(self.root, relative)
        return GITIGNORE if self._is_ignored(path, is_folder) and not self._is_tracked(path) else ""

    def _is_tracked(self, path: str) -> bool:
        """True if git tracks a file, or something in a folder: .gitignore is only about what it does not track."""
        if self._tracked is None:
            self._tracked = _tracked(self.root)
        return path in self._tracked

    def _is_ignored(self, path: str, is_folder: bool) -> bool:
        """The file nearest to the path has the last word, as in git."""
        folder = os.path.dirname(path)
        while True:
            spec = self._spec_in(folder)
            if spec is not None:
                name = _name(path, folder, is_folder)
                verdict = spec.check_file(name).include
                if verdict is not None:
                    return bool(verdict)
            if folder == self.top or os.path.dirname(folder) == folder:
                return False
            folder = os.path.dirname(folder)

    def _spec_in(self, folder: str) -> Any:
        if folder not in self._specs:
            self._specs[folder] = None
            with suppress(OSError), open(os.path.join(folder, GITIGNORE), encoding="utf-8", errors="replace") as file:
                self._specs[folder] = _spec(file.read().splitlines())
        return self._specs[folder]


def _tracked(root: str) -> frozenset[str]:
    """The files below a folder that git tracks, and the folders around them there; none without git."""
    import subprocess

    listed = b""
    with suppress(OSError, subprocess.SubprocessError):
        command = ["git", "-C", root, "ls-files", "-z"]
        listed = subprocess.run(command, capture_output=True, timeout=10, check=True).stdout
    found = {""}
    for name in os.fsdecode(listed).split("\0"):
        while name not in found:
            found.add(name)
            name = os.path.dirname(name)
    return frozenset(os.path.join(root, name) for name in found - {""})


def _name(path: str, folder: str, is_folder: bool) -> str:
    """A path as patterns see it from a folder."""
    relative = os.path.relpath(os.path.abspath(path), folder)
    return relative.replace(os.sep, "/") + ("/" if is_folder else "")


def _spec(lines: list[str]) -> Any:
    from pathspec import GitIgnoreSpec  # 20 ms, which a project without patterns is spared

    return GitIgnoreSpec.from_lines(lines)


def _repository(folder: str) -> str:
    """The folder of the git repository around a folder; the folder itself outside of one."""
    above = folder
    while not os.path.exists(os.path.join(above, ".git")):
        if os.path.dirname(above) == above:
            return folder
        above = os.path.dirname(above)
    return above
