"""Finds the other scripts of a project that import a changed file, and so will run with its converted text."""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from converter.dataclass import dataclass
from converter.source.header import HELPERS, is_converted
from converter.source.project.above import package_root
from converter.source.project.array_readers import RowsTaken, rows_taken
from converter.source.project.graph_readers import GraphReader, graph_readers, last_of, names_asked, syntax_of
from converter.source.quick_checks import (
    SCRIPTS,
    code_of,
    imported_by,
    imports_its_folder,
    modules_beside,
    scripts_in,
)
from converter.source.viewed import tree_or_none

LARGEST_NOTEBOOK = 20_000_000  # bytes
MOST_FILES = 5_000  # files of a project that are searched
_RUN_AS_SCRIPT = re.compile(rb"^if\s*\(?\s*__name__\s*==", re.MULTILINE)
_BY_NAME = re.compile(rb"\b(?:import_module|__import__)\s*\(")
_TRAINS = re.compile(rb"train_?(?:op|step)\b|\.train\(|\bminimize\(|\bapply_gradients\(")
# Imports that `imported_by` does not see: on several lines, or behind another statement.
_UNSEEN = re.compile(rb"\bimport[ \t]*[(\\]|\\\r?\n[ \t]*import\b|[:;][ \t]*(?:import|from)\b")
_DYNAMIC = ("import_module", "__import__")


@dataclass(frozen=True)
class User:
    """A script or a notebook that imports a file.

    path: absolute. folders: where it looks for modules, as far as its imports tell. line: the line of the
    import; 0 in a notebook, and in a changed file that imports no other changed file.
    trains: whether it seems to train a model on one GPU, or imports the script that does.
    """

    path: str
    folders: frozenset[str]
    line: int
    trains: bool


@dataclass(frozen=True)
class ProjectFiles:
    """The files around a script.

    script: its path. originals: what files held before this run wrote over them. leave_out: the output folder, which
    is not searched. known: the options already say what other files need. alone: other files cannot be searched.
    above: folders above the script that it needs on the path: other scripts that import the same may lie there.
    """

    script: str
    originals: Mapping[str, bytes]
    leave_out: str | None = None
    known: bool = False
    alone: bool = False
    above: tuple[str, ...] = ()

    def users(self, own: Collection[str], changed: Sequence[str]) -> Sequence[User]:
        """The scripts that import one of the changed files and are not imported by the script itself."""
        if self.known or self.alone:
            return ()
        return users_of(self.script, changed, own, self.originals, self.leave_out, self.above)

    def graph_readers(self) -> Sequence[GraphReader]:
        """The calls in other scripts of the folder that read the graph of a checkpoint."""
        return () if self.known else graph_readers(self.script, self.above)

    def rows_taken(self) -> Sequence[RowsTaken]:
        """The row counts to which other scripts of the folder reshape arrays that they load."""
        return () if self.known else rows_taken(self.script, self.above)

    def names_asked(self) -> frozenset[str]:
        """Strings in other scripts of the folder that may name operations of the graph that this script saves."""
        return names_asked(self.script, self.above)

    def mentions(self, own: Collection[str], changed: Sequence[str], names: Collection[str]) -> bool:
        """Whether another file of the project contains one of these names; True if files cannot be searched.

        The module of helpers that other scripts' conversions have made there is none of the project's own.
        """
        if self.known or self.alone:
            return not self.known
        word = re.compile(rb"\b(?:%s)\b" % b"|".join(re.escape(name.encode()) for name in names))
        others = _texts(_root(os.path.abspath(self.script), changed, self.above), self.originals, self.leave_out)
        seen = {os.path.abspath(self.script), *map(os.path.abspath, changed), *own}
        files = (text for path, text in others.items() if path not in seen)
        return any(word.search(text) for text in files if not text.startswith(HELPERS.encode()))


def users_of(
    script: str,
    changed: Sequence[str],
    own: Collection[str],
    originals: Mapping[str, bytes],
    leave_out: str | None = None,
    above: Sequence[str] = (),
) -> list[User]:
    """The other scripts and notebooks of the project that import one of the changed files, or a file that does.

    script: the converted script. changed: absolute paths. own: the files that the script imports, which count
    only if they can be run as scripts themselves. originals: what files held before this run wrote over
    them. leave_out: the output folder, which is not searched. above: folders above the script that are searched, too.
    """
    script = os.path.abspath(script)
    root = _root(script, changed, above)
    data = _texts(root, originals, leave_out)
    names = {_name_in_imports(path).encode() for path in changed}
    index: dict[str, list[str]] = defaultdict(list)
    for path in data:
        if path.endswith(".py"):
            index[_name_in_imports(path)].append(path)
    reached, todo = set(changed), True
    imports: dict[str, dict[str, tuple[int, str]]] = {}
    while todo:
        todo = False
        for path, text in data.items():
            if path in reached or not (_may_import(text, names) or imports_its_folder(path, text)):
                continue
            if path not in imports:
                imports[path] = _imported_files(path, text, root, index, data)
            if not reached.isdisjoint(imports[path]):
                reached.add(path)
                names.add(_name_in_imports(path).encode())
                todo = True
    runs = [p for p in reached if p != script and p in data and _is_run(data[p], p in own or p in changed)]
    left = sorted(path for path in runs if not is_converted(data[path].decode("latin-1")))
    found = []
    for path in left:
        there = {file: place for file, place in imports.get(path, {}).items() if file in reached}
        trains = (script in there or _TRAINS.search(data[path]) is not None) and not _builds_towers(data[path])
        known = imports if path in imports else {**imports, path: _imported_files(path, data[path], root, index, data)}
        folders = frozenset((os.path.dirname(path), *_folders(path, known, reached)))
        found.append(User(path, folders, min((line for line, _ in there.values()), default=0), trains))
    return found


def _builds_towers(text: bytes) -> bool:
    """True if a loop enters a device that its variable names: `with tf.device('/gpu:%d' % i):`."""
    nodes = syntax_of(text) if b"device(" in text else []
    for loop in (node for node in nodes if isinstance(node, ast.For)):
        turns = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
        entered = [item.context_expr for node in ast.walk(loop) if isinstance(node, ast.With) for item in node.items]
        devices = [one for one in entered if isinstance(one, ast.Call) and last_of(one.func) == "device"]
        if any(getattr(node, "id", "") in turns for call in devices for node in ast.walk(call)):
            return True
    return False


def _folders(path: str, imports: Mapping[str, Mapping[str, tuple[int, str]]], reached: Collection[str]) -> set[str]:
    """The folders in which a script, and files that lead it to the changed ones, find what they import."""
    found: set[str] = set()
    todo, seen = [path], {path}
    while todo:
        for file, (_, folder) in imports.get(todo.pop(), {}).items():
            found.add(folder)
            todo += [file] if file in reached and file not in seen else []
            seen.add(file)
    return found


def _may_import(text: bytes, names: Collection[bytes]) -> bool:
    """Whether a file may import one of these modules: a quick look at its bytes, before it is parsed."""
    if _BY_NAME.search(text) is not None:
        return True
    if not any(name in text for name in names):
        return False
    if _UNSEEN.search(text) is not None:
        return True
    return any(part.encode() in names for module in imported_by(text) for part in module.split("."))


def _is_run(text: bytes, imported: bool) -> bool:
    """Whether a file is probably run as a script; an imported one must have `if __name__ == ...`."""
    return not imported or _RUN_AS_SCRIPT.search(text) is not None


def _root(script: str, changed: Sequence[str], above: Sequence[str] = ()) -> str:
    """The folder around the script, the changed files, the packages that they belong to and the folders above."""
    folder = os.path.commonpath([*(os.path.dirname(path) for path in (script, *changed)), *above])
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def _texts(root: str, originals: Mapping[str, bytes], leave_out: str | None) -> dict[str, bytes]:
    """The scripts under a folder, as they were before this run."""
    return {**dict(_files(root, leave_out)), **{path: text for path, text in originals.items() if path.endswith(".py")}}


def _files(root: str, leave_out: str | None) -> Iterator[tuple[str, bytes]]:
    """Scripts, and the code of notebooks, under a folder, by their absolute paths."""
    for name in scripts_in(root, leave_out, SCRIPTS)[:MOST_FILES]:
        path = os.path.join(root, name)
        with suppress(OSError, ValueError):
            if name.endswith(".py"):
                with open(path, "rb") as file:
                    yield path, file.read()
            elif os.path.getsize(path) < LARGEST_NOTEBOOK:
                with open(path, "rb") as file:
                    yield path, code_of(path, file.read())


def _imported_files(
    path: str, text: bytes, root: str, index: Mapping[str, Sequence[str]], data: Mapping[str, bytes]
) -> dict[str, tuple[int, str]]:
    """The files of the project that a file may import, each with the line of the import and the folder looked into."""
    found: dict[str, tuple[int, str]] = {}
    tree = tree_or_none(text)
    named = [(module, 0, 1) for module in imported_by(text)] if tree is None else list(_imports_in(tree))
    notebook = path.endswith(".ipynb")
    beside = (os.path.join(os.path.dirname(path), f"{module}.py") for module, level, _ in named if not level)
    widens = b"sys.path" in text or any(b"sys.path" in data.get(file, b"") for file in beside)
    others = index if notebook or widens else {}
    for module, level, line in named:
        for file, folder in _resolved(module, level, path, root, others).items():
            found.setdefault(file, (0 if notebook else line, folder))
    for file in modules_beside(path) if imports_its_folder(path, text) else ():
        found.setdefault(file, (1, os.path.dirname(path)))
    return found


def _imports_in(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """Yields (dotted name of a module or of something in it, dots of a relative import, line) for each import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield module, node.level, node.lineno
            yield from ((f"{module}.{alias.name}".lstrip("."), node.level, node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and last_of(node.func) in _DYNAMIC:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value.lstrip("."), 0, node.lineno


def _resolved(module: str, level: int, path: str, root: str, others: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """{file: folder on the path} for a module and its packages, searched in the importing file's folder and above it.

    others: the project's files by module name, if the importing file also searches other folders: any file of that
        name may be the one.
    """
    here = folder = os.path.dirname(path)
    for _ in range(level - 1):
        folder = os.path.dirname(folder)
    found: dict[str, str] = {}
    parts = module.split(".") if module else []
    while True:
        inner = _with_packages(folder, parts)
        if inner:
            return dict.fromkeys(inner, package_root(here, level) if level else folder)
        if level or folder == root or os.path.dirname(folder) == folder:
            break
        folder = os.path.dirname(folder)
    for other in others.get(parts[-1], ()) if parts else ():
        file, ending = _module_of(other), os.sep + os.path.join(*parts) + ".py"
        if file.endswith(ending):
            found[other] = file.removesuffix(ending)
    return found


def _with_packages(folder: str, parts: Sequence[str]) -> set[str]:
    """The file of a module in a folder and the `__init__.py` of its packages; empty if the module is not there."""
    found: set[str] = set()
    base = folder
    for number, part in enumerate(parts, 1):
        base = os.path.join(base, part)
        package = os.path.join(base, "__init__.py")
        if os.path.isfile(package):
            found.add(package)
        if number == len(parts):
            if os.path.isfile(base + ".py"):
                found.add(base + ".py")
            elif not os.path.isfile(package):
                return set()
    return {os.path.abspath(path) for path in found}


def _name_in_imports(path: str) -> str:
    """The last part of a module's dotted name."""
    return os.path.splitext(os.path.basename(_module_of(path)))[0]


def _module_of(path: str) -> str:
    """The path of a module's file; for the `__init__.py` of a package, the package's path with `.py`."""
    folder, name = os.path.split(path)
    return folder + ".py" if name == "__init__.py" else path
