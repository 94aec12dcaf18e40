"""The folders above a script in which its imports are looked for, and the modules in a folder.

Imports little: most files of a project are only looked at for what they import.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

VERSIONED = (".git", ".hg", ".svn")  # what the root of a project holds
INSTALLED = ("setup.py", "setup.cfg", "pyproject.toml")  # the same, files that say where its packages lie
SOURCES = "src"  # the folder of packages beside them
MOST_LEVELS = 6  # above the script, up to the root of its project
UNMARKED_LEVELS = 3  # the same where nothing tells which folder is the root
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
    marked = is_root(folder)
    while not marked and len(found) <= MOST_LEVELS:
        above = os.path.dirname(found[-1])
        if above in (found[-1], home) or os.path.dirname(above) == above or _is_everybodys(above):
            break
        found.append(above)
        marked = is_root(above)
    if not marked:
        found = found[: UNMARKED_LEVELS + 1]
    installed = (f for f in found if any(os.path.isfile(os.path.join(f, name)) for name in INSTALLED))
    sources = (os.path.join(f, SOURCES) for f in installed)
    return [*found[1:], *(f for f in sources if f not in found and os.path.isdir(f))]


def is_root(folder: str) -> bool:
    """Whether a folder has what the root of a project has: version control, or how it is installed.

    A setup.py inside of a package builds extensions there: the package is imported from a folder above.
    """
    held = [name for name in (*VERSIONED, *INSTALLED) if os.path.exists(os.path.join(folder, name))]
    package = os.path.isfile(os.path.join(folder, "__init__.py"))
    return any(name in VERSIONED or not package for name in held)


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
