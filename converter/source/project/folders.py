"""The folders above a script in which its imports are looked for, and the modules in a folder.

Imports little: most files of a project are only looked at for what they import.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from converter.source.look import imported_by, mentions_tensorflow, scripts_in

ROOTS = (".git", ".hg", ".svn", "setup.py", "setup.cfg", "pyproject.toml")  # what the root of a project holds
INSTALLED = ("setup.py", "setup.cfg", "pyproject.toml")  # those that say where its packages lie
SOURCES = "src"  # the folder of packages beside them
MOST_LEVELS = 6  # above the script, up to the root of its project
UNMARKED_LEVELS = 3  # the same where nothing tells which folder is the root
# What a project's root holds besides, in capitals: beginnings of the names of its files.
ABOUT = ("README", "LICENSE", "REQUIREMENTS.TXT")
MOST_BELOW = 100  # folders directly below one above the script in which a package is looked for
MOST_FILES = 50  # of a package that are looked at for TensorFlow
LARGEST = 1_000_000  # bytes; a larger module is data, not a model
# Libraries of the training itself: a copy above the script does not stand in for the one that is installed.
LIBRARIES = {"tensorflow", "tf_slim", "absl", "numpy", "keras", "torch"}


def folders_above(folder: str) -> list[str]:
    """The folders in which modules are looked for that are not found from a script's folder, the nearest first.

    They end at the root of the project, below the home folder, below folders that everybody may write to, and after a
    few levels. Beside a file that says how the project is installed, its `src` counts, too.
    """
    folder = os.path.abspath(folder)
    home, found = os.path.expanduser("~"), [folder]
    marked = _is_root(folder)
    while not marked and len(found) <= MOST_LEVELS:
        above = os.path.dirname(found[-1])
        if above in (found[-1], home) or os.path.dirname(above) == above or _is_everybodys(above):
            break
        found.append(above)
        marked = _is_root(above)
    if not marked:
        found = found[: UNMARKED_LEVELS + 1]
    installed = (f for f in found if any(os.path.isfile(os.path.join(f, name)) for name in INSTALLED))
    sources = (os.path.join(f, SOURCES) for f in installed)
    return [*found[1:], *(f for f in sources if f not in found and os.path.isdir(f))]


def search_folders(script: str, data: bytes) -> list[str]:
    """The folders above a script in which modules are looked for, then those below that hold its libraries.

    data: the script's code.
    """
    above = folders_above(os.path.dirname(script))
    held = libraries(script, data, above)
    return [*above, *dict.fromkeys(folders[0] for folders in held.values() if len(folders) == 1)]


def libraries(script: str, data: bytes, above: list[str]) -> dict[str, list[str]]:
    """For each import of a script that nothing beside or above it answers, the folders of the project that do.

    A repository may hold its library in a folder that its users put on PYTHONPATH: `lib/model/`, for `import model` in
    `examples/train.py`. Such a folder lies directly below the script's folder or one above, inside the project, and
    only a module counts that mentions TensorFlow.

    above: the folders above the script. The keys are names without dots; more than one folder: which is not known.
    """
    here = os.path.dirname(os.path.abspath(script))
    around = _in_project([here, *above])
    lacking = _lacking(data, [here, *above]) if around else {}
    below = _folders_below(around, {here, *above}) if lacking else []
    found = {top: [folder for folder in below if _leads_there(names, folder)] for top, names in lacking.items()}
    return {top: folders for top, folders in found.items() if folders}


def not_found(script: str, data: bytes) -> list[str]:
    """The names, without dots, that a script imports and that are neither Python's own nor found in its project."""
    here = os.path.dirname(os.path.abspath(script))
    return list(_lacking(data, [here, *folders_above(here)]))


def _lacking(data: bytes, folders: list[str]) -> dict[str, list[str]]:
    """The modules that a script imports and that lie in none of some folders, by what their names begin with."""
    wanted: dict[str, list[str]] = {}
    for module in imported_by(data):
        top = module.partition(".")[0]
        if top and top not in LIBRARIES and top not in sys.stdlib_module_names:
            wanted.setdefault(top, []).append(module)
    return {top: names for top, names in wanted.items() if not _is_there(names, folders)}


def _in_project(folders: list[str]) -> list[str]:
    """Those of a script's folder and the folders above that lie in its project; none if nothing tells its root."""
    roots = [number for number, folder in enumerate(folders) if _is_root(folder) or _is_about(folder)]
    return folders[: max(roots) + 1] if roots else []


def _is_about(folder: str) -> bool:
    with suppress(OSError):
        return any(name.upper().startswith(ABOUT) for name in os.listdir(folder))
    return False


def _is_there(modules: list[str], folders: list[str]) -> bool:
    """Whether one of some folders has one of these modules, or the package that their names begin with."""
    return any(holds_top(module, folder) or in_folder(module, folder) for module in modules for folder in folders)


def _folders_below(folders: list[str], known: set[str]) -> list[str]:
    """The folders directly below others, those of the nearest first, sorted by name."""
    found = []
    for folder in folders:
        with suppress(OSError):
            inner = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.isidentifier())
            found += [path for path in inner if os.path.isdir(path) and path not in known][:MOST_BELOW]
    return found


def _leads_there(modules: list[str], folder: str) -> bool:
    """Whether a folder has one of these modules, and it, or a file beside it in its package, mentions TensorFlow."""
    for module in modules:
        path = in_folder(module, folder)
        if path is None:
            continue
        package = os.path.dirname(path) if path.endswith("__init__.py") or "." in module else ""
        files = scripts_in(package)[:MOST_FILES] if package else []
        for file in (path, *(os.path.join(package, name) for name in files)):
            with suppress(OSError), open(file, "rb") as stream:
                if mentions_tensorflow(stream.read(LARGEST)):
                    return True
    return False


def _is_root(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in ROOTS)


def _is_everybodys(folder: str) -> bool:
    with suppress(OSError):
        return bool(os.stat(folder).st_mode & 0o002)
    return True


def in_folder(module: str, folder: str) -> str | None:
    """The file of a module whose dotted name is looked up in a folder; None if it is not there."""
    base = os.path.join(folder, *module.split(".")) if module else folder
    for path in (base + ".py", os.path.join(base, "__init__.py")):
        with suppress(OSError):
            if os.path.isfile(path) and os.path.getsize(path) < LARGEST:
                return os.path.normpath(path)
    return None


def folder_above(folder: str, module: str) -> str:
    """The path from a folder to the nearest above it that has a module, such as `..`; "" where none has it.

    Wherever the project's root may be: this is for advice, and nothing that lies there is followed.
    """
    paths = ("/".join([".."] * ups) for ups in range(1, UNMARKED_LEVELS + 1))
    return next((above for above in paths if in_folder(module, os.path.join(folder, above)) is not None), "")


def holds_top(module: str, folder: str) -> bool:
    """Whether a folder has the module or the package, with an `__init__.py`, that a dotted name begins with.

    Python looks no further then, also if the rest of the name is not there.
    """
    return in_folder(module.partition(".")[0], folder) is not None


def in_any(module: str, folders: list[str]) -> tuple[str, str] | None:
    """The file of a module in the first of some folders that has it, and that folder."""
    top = module.partition(".")[0]
    if not top or top in LIBRARIES or top in sys.stdlib_module_names:
        return None
    for folder in folders:
        path = in_folder(module, folder)
        if path is not None:
            return path, folder
        if holds_top(module, folder):
            return None
    return None
