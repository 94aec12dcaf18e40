"""Whether a script leads to TensorFlow, by itself or by what it imports of its project."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from converter.source.project.folders import folders_above, in_any
from converter.source.project.libraries import libraries
from converter.source.quick_checks import (
    ALL_OF_KERAS,
    code_of,
    imported_by,
    is_pipeline,
    may_train_by_library,
    mentions_tensorflow,
    module_at,
    steps_of_keras,
    trains_by_torch,
)

# What extends the path or imports by a text, and texts that may be names of folders or modules.
_AT_RUN_TIME = rb"\bsys\.path\b|\b(?:import_module|__import__)\("
_TEXTS = rb"['\"]([\w./-]+)['\"]"


def may_train(path: str, data: bytes) -> bool:
    """Whether a script may train a model: it leads to TensorFlow or PyTorch, or imports a library that may train it."""
    return may_train_by_library(data) or leads_to_tensorflow(path, data)


def leads_to_tensorflow(path: str, data: bytes) -> bool:
    """Whether a script names TensorFlow, or imports a module of its project that leads there.

    Scripts that train by PyTorch, or by the package keras, lead there, too.

    A configuration of the Object Detection API leads there, too.

    path: of the script; imports are looked for beside it, beside the importing file, and in folders above the script.
    """
    if mentions_tensorflow(data) or trains_by_torch(data) or is_pipeline(path, data):
        return True
    of_keras = steps_of_keras(data)
    if of_keras == ALL_OF_KERAS:
        return True
    data = code_of(path, data)
    root = os.path.dirname(path)
    above = folders_above(root) if os.path.isfile(path) else []
    if os.path.isfile(path) and libraries(path, data, above):
        return True
    todo, seen, added = [(path, data)], {os.path.abspath(path)}, list[str]()
    while todo:
        importer, data = todo.pop()
        folders, named = _chosen_at_run_time(importer, data)
        added += folders
        for module in [*named, *imported_by(data)]:
            beside = list(dict.fromkeys((root, os.path.dirname(importer), *added)))
            there = any(module_at(os.path.join(folder, *module.split("."))) for folder in beside)
            found_above = None if there else in_any(module, above)
            for folder in beside if found_above is None else [found_above[1]]:
                found = module_at(os.path.join(folder, *module.split(".")))
                if found is None or os.path.abspath(found) in seen:
                    continue
                seen.add(os.path.abspath(found))
                with suppress(OSError), open(found, "rb") as file:
                    data = file.read()
                    of_keras |= steps_of_keras(data)
                    if mentions_tensorflow(data) or of_keras == ALL_OF_KERAS:
                        return True
                    todo.append((found, data))
    return False


def _chosen_at_run_time(path: str, data: bytes) -> tuple[list[str], list[str]]:
    """The folders that a file may put on the path, and the modules that it may import by a text: none for most files.

    Any text in the file counts that is the path of a folder near it, or the name of a module there.
    """
    if re.search(_AT_RUN_TIME, data) is None:
        return [], []
    texts = list(dict.fromkeys(text.decode() for text in re.findall(_TEXTS, data)))
    here = os.path.abspath(os.path.dirname(path))
    near = (here, os.path.dirname(here), os.path.dirname(os.path.dirname(here)))
    folders = [os.path.join(base, text) for text in texts if text.strip("./") for base in near]
    modules = [text.strip("./").replace("/", ".") for text in texts]
    inside = [f"{text}.{name}" for text in modules for name in _modules_in(os.path.join(here, *text.split(".")))]
    return [folder for folder in folders if os.path.isdir(folder)], [text for text in (*modules, *inside) if text]


def _modules_in(folder: str) -> list[str]:
    """The names of the modules in a folder, sorted; none if there is no such folder."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(name[:-3] for name in names if name.endswith(".py"))
