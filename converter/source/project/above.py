"""Folders above a script in which Python finds what it imports if they are on its path, and how it is started then."""

from __future__ import annotations

import ast
import keyword
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import field, replace

from converter.dataclass import dataclass
from converter.source.project.folders import holds_top, in_any, in_folder
from converter.source.project.libraries import search_folders
from converter.source.quick_checks import code_of
from converter.source.viewed import tree_or_none

NOTEBOOK = ".ipynb"  # which runs in its own folder
MOST_FILES = 200  # of the project that are looked through for further imports
_LEADS_UP = re.compile(rb"sys\s*\.\s*path\b[^\n]*['\"]\.\.")

Read = Callable[[str], "ast.Module | None"]


@dataclass(frozen=True)
class Start:
    """The command and folder with which a script finds all its imports.

    script: its absolute path. root: the folder around it and all that it imports. folders: those that must be on the
    path beside the script's own, nearest first. package: the package as a part of which `python -m` runs it; "" if it
    is run as a file. at: the folder in which it is started.
    """

    script: str
    root: str
    folders: tuple[str, ...] = ()
    package: str = ""
    at: str = ""

    @property
    def below(self) -> str:
        """The path of the script's folder from the root, "" if that is the root itself."""
        path = os.path.relpath(os.path.dirname(self.script), self.root)
        return "" if path == os.curdir else path

    @property
    def path(self) -> tuple[str, ...]:
        """The folders in which Python looks for modules, before those of its installation."""
        first = self.at if self.package else os.path.dirname(self.script)
        return tuple(dict.fromkeys((first, *self.folders)))

    @property
    def is_plain(self) -> bool:
        """Whether `python SCRIPT` finds everything."""
        return not self.folders and not self.package

    def moved(self, script: str, root: str) -> Start:
        """The same for another script, which lies under another root as this one does under its own."""

        def there(folder: str) -> str:
            return os.path.normpath(os.path.join(root, os.path.relpath(folder, self.root)))

        return replace(self, script=script, root=root, folders=tuple(map(there, self.folders)), at=there(self.at))

    def at_target(self, target: str) -> Start:
        """How the converted script is started: beside the original, in an output folder, or elsewhere."""
        target = os.path.abspath(target)
        folder = os.path.dirname(target)
        if folder == os.path.dirname(self.script):
            return self.moved(target, self.root)
        ending = os.path.join("", self.below)
        if ending and folder.endswith(os.sep + ending):
            return self.moved(target, folder[: -len(ending) - 1])
        return Start(target, folder, self.path, at=folder)

    @property
    def command(self) -> str:
        """The command that is given in the folder `at`."""
        import shlex

        name = os.path.splitext(os.path.basename(self.script))[0]
        how = ["python", os.path.relpath(self.script, self.at)]
        if self.script.endswith(NOTEBOOK):
            how = ["jupyter", "notebook", os.path.basename(self.script)]
        elif self.package:
            how = ["python", "-m", f"{self.package}.{name}"]
        missing = [folder for folder in self.folders if not self.package or folder != self.at]
        paths = os.pathsep.join(os.path.relpath(folder, self.at) for folder in missing)
        return (f"PYTHONPATH={shlex.quote(paths)} " if paths else "") + shlex.join(how)

    @property
    def command_here(self) -> str:
        """The command that is given in the current folder."""
        import shlex

        at = os.path.relpath(self.at)
        at = self.at if at.startswith(os.pardir) else at
        return self.command if at == os.curdir else f"cd {shlex.quote(at)} && {self.command}"


@dataclass
class _Imports:
    """What a script and the files that it imports look for, and where it lies.

    above: the folders above the script. hidden: those for names that something beside the script has, too, where
    Python would end its search. beside: whether an absolute import leads beside the script. level: the dots of the
    script's relative imports. texts: that are written in these files.
    """

    above: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    beside: bool = False
    level: int = 0
    texts: set[str] = field(default_factory=set)


def start_of(script: str, read: Read | None = None) -> Start:
    """How a script is started so that it finds what it imports; read: gives the tree of a file."""
    script = os.path.abspath(script)
    folder = os.path.dirname(script)
    plain = Start(script, folder, at=folder)
    read = read or parsed
    tree = read(script)
    if tree is None:
        return plain
    levels = max((n.level for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)), default=0)
    folders = search_folders(script, _code_of(script))
    if not levels and not folders:
        return plain
    seen = _look_through(script, tree, folders, read)
    if not (seen.above or seen.hidden or levels):
        return plain
    with suppress(OSError), open(script, "rb") as file:
        leads_up = _LEADS_UP.search(file.read()) is not None
        return _started(script, seen, folders, leads_up)
    return plain


def imported_files(script: str, tree: ast.Module) -> list[str]:
    """The files of the project that a script imports, directly or through these files."""
    script, found = os.path.abspath(script), list[str]()

    def read(path: str) -> ast.Module | None:
        found.append(path)
        return parsed(path)

    _look_through(script, tree, search_folders(script, _code_of(script)), read)
    return found


def _started(script: str, seen: _Imports, folders: list[str], leads_up: bool) -> Start:
    """leads_up: whether the script itself puts a folder above it on the path, as seen from the current folder."""
    folder, fixed = os.path.dirname(script), leads_up or script.endswith(NOTEBOOK)
    used = tuple(f for f in folders if f in (*seen.above, *seen.hidden))
    around = (f for f in reversed(used) if _is_in(folder, f))
    base = package_root(folder, seen.level) if seen.level else next(around, "")
    package = dotted(folder, base) if base and not fixed else ""
    needed = seen.level or (seen.hidden and not seen.beside)
    allowed = not seen.beside and package and _started_in(seen.texts, base, folder) != folder
    if package and (needed or allowed):
        root = os.path.commonpath([folder, base, *used])
        more = tuple(f for f in used if f != base) + ((folder,) if seen.beside else ())
        return Start(script, root, (base, *more), package, base)
    used = tuple(f for f in used if f in seen.above)
    root = os.path.commonpath([folder, *used])
    at = folder if fixed or not used else _started_in(seen.texts, root, folder)
    return Start(script, root, used, "", at)


def _started_in(texts: set[str], root: str, folder: str) -> str:
    """The folder in which a script is started: its own if only there files lie that it names, else the root."""
    beside = {name for name in texts if os.path.exists(os.path.join(folder, name))}
    return folder if any(not os.path.exists(os.path.join(root, name)) for name in beside) else root


def _look_through(script: str, tree: ast.Module, folders: list[str], read: Read) -> _Imports:
    found = _Imports()
    todo: list[tuple[str, ast.Module]] = [(script, tree)]
    seen = {script}
    while todo:
        path, tree = todo.pop(0)
        found.texts |= set(_names_of_files(tree))
        if path == script:
            found.level = max((n.level for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)), default=0)
        for module, names, level in imports_of(tree):
            for file in _followed(module, names, level, _Search(path, os.path.dirname(script), folders, found)):
                if file in seen or len(seen) > MOST_FILES:
                    continue
                seen.add(file)
                inner = read(file)
                if inner is not None:
                    todo.append((file, inner))
    return found


@dataclass(frozen=True)
class _Search:
    """Where modules are looked for that a file imports, and what was found for others."""

    path: str
    folder: str
    folders: list[str]
    found: _Imports


def _followed(module: str, names: list[str], level: int, search: _Search) -> Iterator[str]:
    """The files of the project that an import leads to."""
    up = os.path.dirname(search.path)
    for _ in range(level - 1):
        up = os.path.dirname(up)
    there = (in_folder(module, up), up) if level else _file_of_import(module, search)
    if there is not None and there[0] is not None:
        yield there[0]
    for inner in (f"{module}.{name}".lstrip(".") for name in names):
        # else a folder without __init__.py
        file = in_folder(inner, there[1]) if there is not None else (_file_of_import(inner, search) or (None, ""))[0]
        if file is not None:
            yield file


def _file_of_import(module: str, search: _Search) -> tuple[str | None, str] | None:
    """The file that an absolute import leads to and the folder in which it is found, which is noted."""
    for folder in dict.fromkeys((search.folder, os.path.dirname(search.path))):
        file = in_folder(module, folder)
        if file is not None:
            search.found.beside = search.found.beside or folder == search.folder
            return file, folder
    above = in_any(module, search.folders)
    if above is not None:
        kind = search.found.hidden if holds_top(module, search.folder) else search.found.above
        if above[1] not in kind:
            kind.append(above[1])
    return above


def _names_of_files(tree: ast.Module) -> Iterator[str]:
    """Texts that may be paths of files, as seen from the folder in which a script is started."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 2 < len(node.value) < 200:
            text = node.value
            if ("/" in text or "." in text[1:]) and not text.startswith(("/", "~")) and text.isprintable():
                yield text


def imports_of(tree: ast.Module) -> Iterator[tuple[str, list[str], int]]:
    """The imports of a file: module, names that may be submodules, and the number of leading dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, [], 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", [alias.name for alias in node.names if alias.name != "*"], node.level


def package_root(folder: str, level: int) -> str:
    """The folder that holds the outermost package of a script with relative imports of so many dots."""
    for _ in range(max(level, 1)):
        folder = os.path.dirname(folder)
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def dotted(folder: str, base: str) -> str:
    """The name of a folder as a package below another folder, "" if it can have none."""
    parts = os.path.relpath(folder, base).split(os.sep)
    return ".".join(parts) if all(part.isidentifier() and not keyword.iskeyword(part) for part in parts) else ""


def seen_from(folder: str, path: str) -> str:
    """An absolute path as somebody would write it who writes a folder, that of the script, like this."""
    below = os.path.relpath(path, os.path.abspath(folder))
    joined = os.path.join(folder, below)
    return os.path.normpath(joined) if below.startswith(os.pardir) else joined


def _code_of(script: str) -> bytes:
    """The code of a script or a notebook; none if it cannot be read."""
    with suppress(OSError, SyntaxError, ValueError), open(script, "rb") as file:
        return code_of(script, file.read())
    return b""


def _is_in(folder: str, other: str) -> bool:
    return folder.startswith(os.path.join(other, ""))


def parsed(path: str) -> ast.Module | None:
    """The tree of a file, or of the code of a notebook; None if it cannot be read."""
    with suppress(OSError, SyntaxError, ValueError), open(path, "rb") as file:
        return tree_or_none(code_of(path, file.read()))
    return None
