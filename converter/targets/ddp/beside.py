"""Other files of the project: of one that holds nothing but models the script may import these, as they are."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from converter.diagnostics import Refusal
from converter.source import read
from converter.syntax.script import Script
from converter.targets.ddp.calls import check_calls, check_import, downloads, writes
from converter.targets.ddp.processes import device_changes
from converter.targets.ddp.training import backwards

MODEL = "torch.nn.Module"
_HINT = "put the training script into one file; a file that defines models, and nothing else, may be imported from"


def check_project(script: Script) -> None:
    """Refuse what the script imports from files beside it, unless these are models."""
    local = _names(script)
    models = {f"{module}.{name}" for module, _, names in _model_imports(script) for name in names}
    refused: set[str] = set()
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported = isinstance(node, ast.ImportFrom) and {f"{node.module}.{one.name}" for one in node.names}
            for module in check_import(script, node, local):
                if not imported or not imported <= models:
                    script.say(node, "TMG299", f"{module} is another file of the project, with more than models", _HINT)
                    refused.add(module.partition(".")[0])
    check_calls(script, frozenset(models), frozenset(refused))


def model_files(script: Script) -> Iterator[tuple[ast.ImportFrom, Script]]:
    """The files whose models the script imports, each with the statement that does."""
    for _, (node, other), _ in _model_imports(script):
        yield node, other


def _model_imports(script: Script) -> Iterator[tuple[str, tuple[ast.ImportFrom, Script], list[str]]]:
    """Imports that bring nothing but models: the module, the statement with the file, and the models' names."""
    for node in script.tree.body:
        if not isinstance(node, ast.ImportFrom) or node.level or node.module not in _names(script):
            continue
        other = _file(os.path.join(_folder(script), f"{node.module}.py"))
        names = [alias.name for alias in node.names]
        if other is not None and set(names) <= _models(other) and _only_defines(other):
            yield node.module, (node, other), names


def _file(path: str) -> Script | None:
    try:
        text = read(path).text
        return Script(path, text, ast.parse(text))
    except (OSError, Refusal, SyntaxError, ValueError):
        return None


def _models(other: Script) -> set[str]:
    """The classes of a file that are models, or made from one of the file's models."""
    found: set[str] = set()
    for node in other.tree.body:
        bases = node.bases if isinstance(node, ast.ClassDef) else []
        if isinstance(node, ast.ClassDef) and any(
            other.name(base) == MODEL or (isinstance(base, ast.Name) and base.id in found) for base in bases
        ):
            found.add(node.name)
    return found


def _only_defines(other: Script) -> bool:
    """Whether a file defines and computes: nothing in it writes, trains, or needs a line for several processes."""
    defines = ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef
    for node in other.tree.body:
        constant = isinstance(node, ast.Assign | ast.Expr) and not any(isinstance(n, ast.Call) for n in ast.walk(node))
        if not isinstance(node, defines) and not constant:
            return False
    local = _names(other)
    strays = [
        module
        for node in ast.walk(other.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in check_import(other, node, local)
    ]
    check_calls(other, frozenset())
    changes = device_changes(other)
    acts = backwards(other) or any(writes(other, call) or downloads(call) for call in other.calls)
    return not strays and not changes and not acts and not other.findings


def _folder(script: Script) -> str:
    return os.path.dirname(os.path.abspath(script.path))


def _names(script: Script) -> frozenset[str]:
    """Modules and packages in a file's folder."""
    folder = _folder(script)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    own = os.path.splitext(os.path.basename(script.path))[0]
    found = {name[:-3] for name in names if name.endswith(".py")}
    found |= {name for name in names if os.path.isfile(os.path.join(folder, name, "__init__.py"))}
    return frozenset(found - {own})
