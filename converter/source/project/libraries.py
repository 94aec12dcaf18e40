"""Folders of a project that hold libraries, which only PYTHONPATH makes Python find."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from converter.source.project.folders import LARGEST, LIBRARIES, folders_above, holds_top, in_folder, is_root
from converter.source.quick_checks import imported_by, mentions_tensorflow, scripts_in

# What a project's root holds besides, in capitals: beginnings of the names of its files.
ABOUT = ("README", "LICENSE", "REQUIREMENTS.TXT")
MOST_BELOW = 100  # folders directly below one above the script in which a package is looked for
MOST_FILES = 50  # of a package that are looked at for TensorFlow


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
    found: dict[str, list[str]] = {}
    for folder in below:
        with suppress(OSError):
            there = {name.removesuffix(".py") for name in os.listdir(folder)}  # looked at once for all modules
            for top in sorted(there.intersection(lacking)):
                if _leads_there(lacking[top], folder):
                    found.setdefault(top, []).append(folder)
    return found


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
    roots = [number for number, folder in enumerate(folders) if is_root(folder) or _is_about(folder)]
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
