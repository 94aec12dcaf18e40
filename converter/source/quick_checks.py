"""Quick checks of a file's bytes, made before anything that takes time to import."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+\(?([^#;\r\n()\\]*)", re.MULTILINE)
# A package that looks for its modules in its folder, and imports them or lists their names.
# Patterns as text: `re` compiles them when they are first used.
_LOOKS = rb"\b(?:i?glob|listdir|scandir|iter_modules|walk_packages|iterdir)\("
_IMPORTS_FOUND = rb"(?m)\b(?:import_module|__import__|load_module|exec_module)\(|^__all__\s*="
SCRIPTS = (".py", ".ipynb")  # endings of what may train; notebooks are read as scripts
_NOT_OF_THE_PROJECT = {"__pycache__", "node_modules", "site-packages"}


# One of the parts that every configuration of the Object Detection API has (protos/pipeline.proto there).
_PIPELINE = rb"(?m)^[ \t]*(?:train_config|train_input_reader|eval_config)[ \t]*:?\s*[{<]"


def is_pipeline(path: str, data: bytes) -> bool:
    """Whether a file is a configuration of the Object Detection API: by its name, and by its parts."""
    return os.fspath(path).endswith((".config", ".config.txt", ".pbtxt")) and re.search(_PIPELINE, data) is not None


_TORCH = rb"(?m)^[ \t]*(?:import|from)[ \t]+torch\b"
_LIGHTNING = rb"(?m)^[ \t]*(?:import|from)[ \t]+(?:pytorch_lightning|lightning(?:_fabric)?)\b"
_LIBRARIES = (
    rb"(?m)^[ \t]*(?:import|from)[ \t]+(?:(?:tensorflow[\w.]*\.)?keras|pytorch_lightning|lightning(?:_fabric)?)\b"
)


def imports_torch(data: bytes) -> bool:
    """Whether a file imports PyTorch."""
    return re.search(_TORCH, data) is not None


def imports_lightning(data: bytes) -> bool:
    """Whether a file imports PyTorch Lightning."""
    return re.search(_LIGHTNING, data) is not None


def reads_tf(data: bytes) -> bool:
    """Whether a file reads attributes of `tf`, as a part of a script does that was copied without its imports."""
    return re.search(rb"(?m)^[^#\n]*(?<![\w.'\"])tf\.[A-Za-z]", data) is not None


def may_train_by_library(data: bytes) -> bool:
    """Whether a file imports Keras or PyTorch Lightning, which may run its training loop."""
    return re.search(_LIBRARIES, data) is not None


def imports_keras(data: bytes) -> bool:
    """Whether a file imports the package `keras`."""
    return re.search(rb"(?m)^[ \t]*(?:import|from)[ \t]+keras\b", data) is not None


def steps_of_keras(data: bytes) -> set[str]:
    """What a file does of what it takes to train by the package `keras`: import it, compile and fit a model."""
    found = {"import"} if imports_keras(data) else set()
    found |= {"compile"} if b".compile(" in data else set()
    fits = b".fit(" in data or b".fit_generator(" in data or b".train_on_batch(" in data
    return found | ({"fit"} if fits else set())


def may_train_by_imported_keras(data: bytes) -> bool:
    """Whether a file may train by the package `keras` that only the files which it imports name."""
    if may_train_by_library(data):
        return False
    return not mentions_tensorflow(data) or "fit" in steps_of_keras(data)


ALL_OF_KERAS = {"import", "compile", "fit"}  # of `steps_of_keras`, where a script and its imports train


def trains_by_torch(data: bytes) -> bool:
    """Whether a file imports PyTorch and takes gradients, or trains by Lightning."""
    trains = b".fit(" in data or b"Trainer(" in data or b"LightningCLI(" in data
    if trains and imports_lightning(data):
        return True
    return b".backward(" in data and imports_torch(data)


def torch_trains_in(path: str, data: bytes) -> tuple[str, str, int] | None:
    """The place beside a script that takes PyTorch's gradients for it, what does so there, and the import.

    As `file:line:column`, words ("" where Lightning trains), and the line of the script that imports the file.
    """
    for number, line in enumerate(data.splitlines(), 1):
        for module in imported_by(line):
            found = module_at(os.path.join(os.path.dirname(path), *module.split(".")))
            if found is None:
                continue
            with suppress(OSError), open(found, "rb") as file:
                text = file.read()
                if trains_by_torch(text):
                    place, what = _gradients(text)
                    return os.path.basename(found) + place, what, number
    return None


def _gradients(data: bytes) -> tuple[str, str]:
    """Where a file takes its first gradients, as `:line:column` ("" if it is not seen), and what trains there."""
    import ast

    from converter.parsing import parse_text

    with suppress(SyntaxError, ValueError):
        for stmt in parse_text(data).body:
            for node in ast.walk(stmt):
                if isinstance(node, ast.Call) and imports_lightning(data):
                    made = getattr(node.func, "attr", getattr(node.func, "id", ""))
                    if made in ("Trainer", "LightningCLI"):
                        return f":{node.lineno}:{node.col_offset + 1}", ""
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
                    name = getattr(stmt, "name", "")
                    what = f"the loop of {name}" if isinstance(stmt, ast.ClassDef) else name or "the loop"
                    return f":{node.lineno}:{node.col_offset + 1}", what
    return "", "the loop"


def mentions_tensorflow(data: bytes) -> bool:
    """Whether a file's bytes name TensorFlow at all; where they do not, there is nothing to convert."""
    return b"tensorflow" in data


def code_of(path: str, data: bytes) -> bytes:
    """The Python code of a file: its bytes, or the code cells of a notebook."""
    if not os.fspath(path).endswith(".ipynb"):
        return data
    from converter.source.notebook import code_in

    return code_in(data)


def imported_by(data: bytes) -> list[str]:
    """The dotted names in a file's import statements: modules, and names that may be modules of a package."""
    found: list[str] = []
    for package, names in _IMPORT.findall(data):
        prefix = package.decode().lstrip(".")
        prefix += "." if prefix else ""
        modules = [name.split()[0] for name in names.decode(errors="replace").split(",") if name.split()]
        found += [prefix[:-1]] if prefix else []
        found += [prefix + module for module in modules if module.replace(".", "").isidentifier()]
    return found


def module_at(base: str) -> str | None:
    """The file of a module: its path without the ending, or that of a package."""
    return next((p for p in (base + ".py", os.path.join(base, "__init__.py")) if os.path.isfile(p)), None)


def scripts_in(folder: str, leave_out: str | None = None, endings: tuple[str, ...] = (".py",)) -> list[str]:
    """The files with these endings under a folder, relative to it, sorted.

    Hidden folders, virtual environments, installed packages and the folder `leave_out` (where a
    former conversion may have written) are not looked into; links to folders are not followed.
    """
    outside = os.path.realpath(leave_out) if leave_out else None
    found = []
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not is_foreign(os.path.join(where, name), outside)]
        found += [
            os.path.relpath(os.path.join(where, name), folder)
            for name in files
            if name.endswith(endings) and not name.startswith(".")
        ]
    return sorted(found)


def is_foreign(folder: str, outside: str | None) -> bool:
    """Whether a folder is no part of the project: hidden, an environment, installed packages, or the one outside."""
    name = os.path.basename(folder)
    return (
        name.startswith(".")
        or name in _NOT_OF_THE_PROJECT
        or os.path.exists(os.path.join(folder, "pyvenv.cfg"))
        or (outside is not None and os.path.realpath(folder) == outside)
    )


def scripts_beside(script: str, above: Iterable[str], largest: int) -> Iterator[tuple[str, int, int]]:
    """The other scripts of a script's folder and of folders above it: path, time of the last change (ns), bytes.

    largest: how many bytes one of them may have.
    """
    script = os.path.abspath(script)
    for folder in (os.path.dirname(script), *above):
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.endswith(SCRIPTS) and entry.path != script and entry.is_file():
                    told = entry.stat()
                    if told.st_size <= largest:
                        yield entry.path, told.st_mtime_ns, told.st_size


def imports_its_folder(path: str, data: bytes) -> bool:
    """Whether a file is a package that looks for its modules in its folder, and imports them or lists them.

    `for f in glob.glob(…): import_module(f)`, `__all__ = [… for f in os.listdir(…)]`.
    """
    if os.path.basename(path) != "__init__.py" or re.search(_LOOKS, data) is None:
        return False
    return re.search(_IMPORTS_FOUND, data) is not None


def modules_beside(path: str) -> list[str]:
    """The files of the modules in the folder of a package's `__init__.py`, in the order of their names."""
    folder = os.path.dirname(path)
    with suppress(OSError):
        names = sorted(name for name in os.listdir(folder) if name.endswith(".py") and not name.startswith("_"))
        return [os.path.join(folder, name) for name in names]
    return []
