"""All files of a project's folder: what a copy of the whole folder is made of."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Literal

from converter.choices import Data
from converter.dataclass import dataclass
from converter.source.ignored import Ignored
from converter.source.quick_checks import is_foreign
from converter.source.writing import TEMPORARY

_CODE = (".py", ".ipynb", ".pyi", ".pyx", ".so", ".c", ".h", ".cc", ".cpp", ".cu")


@dataclass(frozen=True)
class TreeEntry:
    """A file, a folder or a link of a project.

    relative: from the project's folder. how: what is done with it in a copy; "same link" makes the link again.
    why: it is left out. links: whether --data link would link it.
    """

    relative: str
    how: Literal["copy", "link", "same link", "folder", "leave out"]
    why: str = ""
    links: bool = True


def entries_of(
    root: str, ignored: Ignored, data: Data, limit: int, leave_out: str | None = None
) -> Iterator[TreeEntry]:
    """The entries to copy for a whole folder, sorted by name; each folder comes before its contents.

    data: what becomes of folders without code, and with "link" of files that are too large. limit: bytes that a file
    may have to be copied. leave_out: a folder that is no part of it.
    """
    outside = os.path.realpath(leave_out) if leave_out else None
    yield from _inside(_Tree(root, ignored, data, limit, outside), "")


@dataclass(frozen=True)
class _Tree:
    root: str
    ignored: Ignored
    data: Data
    limit: int
    outside: str | None


def _inside(tree: _Tree, below: str) -> Iterator[TreeEntry]:
    try:
        names = sorted(os.listdir(os.path.join(tree.root, below)))
    except OSError as error:
        yield TreeEntry(below, "leave out", f"cannot be read: {error.strerror}")
        return
    for name in names:
        relative, path = os.path.join(below, name), os.path.join(tree.root, below, name)
        if name.startswith(TEMPORARY) or name in (".git", ".tf-multigpu.sha256"):
            continue
        if os.path.islink(path):
            yield _link(tree, relative, path)
        elif os.path.isdir(path):
            yield from _folder(tree, relative, path)
        else:
            yield _file(tree, relative, path)


def _link(tree: _Tree, relative: str, path: str) -> TreeEntry:
    leads_to, root = os.path.realpath(path), os.path.realpath(tree.root)
    if why := tree.ignored.why(relative, os.path.isdir(path)):
        return TreeEntry(relative, "leave out", why)
    if os.path.isabs(os.readlink(path)) or not (leads_to + os.sep).startswith(os.path.join(root, "")):
        return TreeEntry(relative, "link")
    return TreeEntry(relative, "same link")


def _folder(tree: _Tree, relative: str, path: str) -> Iterator[TreeEntry]:
    if is_foreign(path, tree.outside):
        why = _why_foreign(path)
        if why:
            yield TreeEntry(relative, "leave out", why, links=False)
        return
    why = tree.ignored.why(relative, True)
    if why != "excluded" and tree.data != "copy" and not _has_code(path):
        yield TreeEntry(relative, "link") if tree.data == "link" else TreeEntry(relative, "leave out", "--data none")
    elif why:
        yield TreeEntry(relative, "leave out", why)
    else:
        yield TreeEntry(relative, "folder")
        yield from _inside(tree, relative)


def _why_foreign(path: str) -> str:
    """Why a folder that is no part of the project is left out; "" for what Python makes anew, and for the output."""
    name = os.path.basename(path)
    if os.path.exists(os.path.join(path, "pyvenv.cfg")):
        return "a virtual environment"
    if name.startswith("."):
        return "a hidden folder"
    return "installed packages" if name in ("node_modules", "site-packages") else ""


def _file(tree: _Tree, relative: str, path: str) -> TreeEntry:
    if why := tree.ignored.why(relative):
        return TreeEntry(relative, "leave out", why)
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        return TreeEntry(relative, "leave out", "no regular file")
    if found.st_size > tree.limit:
        if tree.data == "link":
            return TreeEntry(relative, "link")
        return TreeEntry(relative, "leave out", f"{found.st_size:,} bytes are more than --copy-limit {tree.limit:,}")
    return TreeEntry(relative, "copy")


def _has_code(folder: str) -> bool:
    """Whether a folder holds code, at any depth; an empty one is nobody's data, and counts as code."""
    anything = False
    for _, _, files in os.walk(folder):
        if any(name.endswith(_CODE) for name in files):
            return True
        anything = anything or bool(files)
    return not anything
