"""Imports of other files of the project, which are not changed: only what several processes can share is allowed.

These are models, datasets, functions that only compute, and constants. A file stays as it is, so nothing in it may need
a line for several processes. What is refused is named with its place in that file.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import cached_property

from converter.dataclass import dataclass
from converter.diagnostics import Refusal
from converter.parsing import parse_text
from converter.source import read
from converter.syntax.script import Script, all_arguments, method_name, names_read, nodes_of, parameters, plain_name
from converter.targets.ddp.calls import check_calls, check_import, downloads, writes
from converter.targets.ddp.processes import device_changes
from converter.targets.ddp.training import LOADER, Training, backwards

MODEL = "torch.nn.Module"
DATASETS = ("torch.utils.data.Dataset", "torch.utils.data.dataset.Dataset")
_DEFINES = ast.Import | ast.ImportFrom | ast.ClassDef | ast.FunctionDef
# Calls that a file may make when it is imported: they give the same in each process, and do nothing else.
_MAKES = ("os.path.", "torchvision.transforms.", "torch.device", "torch.cuda.is_available", "re.compile", "math.")
_BUILTINS = ("dict", "list", "tuple", "set", "range", "float", "int", "str", "len")
# Functions of the project may be given as these arguments: PyTorch calls them with examples.
_GIVEN = ("collate_fn", "transform", "target_transform", "worker_init_fn")
_OWN = ("time.", "random.", "numpy.random.", "torch.rand", "torch.normal")
_SEEDS = ("random.seed", "numpy.random.seed", "time.sleep")


@dataclass(frozen=True)
class Fault:
    """The reason why several processes cannot use a name of another file, and its place there."""

    place: str
    reason: str


@dataclass(frozen=True)
class ImportedFile:
    """A file of the project."""

    script: Script

    @cached_property
    def defined(self) -> dict[str, ast.stmt]:
        """The statement that binds each name of the module; the last one if there are several."""
        found: dict[str, ast.stmt] = {}
        for node in self.script.tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                found[node.name] = node
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found.update({(alias.asname or alias.name).partition(".")[0]: node for alias in node.names})
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update({name.id: node for name in nodes_of(ast.Name, *targets)})
        return found

    def fault(self, node: ast.AST, reason: str) -> Fault:
        """A fault at a node of this file."""
        name = os.path.basename(self.script.path)
        return Fault(f"{name}:{getattr(node, 'lineno', 1)}:{getattr(node, 'col_offset', 0) + 1}", reason)


class ImportedFiles:
    """The files beside a script that it imports from.

    may: full names that it may use, as `Script.name` gives them, each with the file and the statement that makes it.
    refused: modules whose import is refused. brings: imports, each with the file that makes a name for it.
    """

    def __init__(self, script: Script) -> None:
        self.script, self.folder = script, os.path.dirname(os.path.abspath(script.path))
        self.may: dict[str, tuple[ImportedFile, ast.stmt]] = {}
        self.refused: set[str] = set()
        self.brings: list[tuple[ast.stmt, ImportedFile]] = []
        self._files: dict[str, ImportedFile | None] = {}
        local = modules_in_folder(script)
        for node in ast.walk(script.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for module in check_import(script, node, local):
                    self._import(node, module)

    def _import(self, node: ast.Import | ast.ImportFrom, module: str) -> None:
        found = self._file(module) if not isinstance(node, ast.ImportFrom) or not node.level else None
        if found is None:
            self._refuse(node, module, f"{module} is another file of the project, which is not found or not read")
            return
        fault = self._at_import(found, set())
        if fault is not None:
            self._refuse(node, module, f"{fault.place}: {fault.reason}")
            return
        for name, full in self._taken(node, module):
            fault = self._reached(found, name, set())
            if fault is not None:
                self._refuse(node, module, f"{name} is of another file of the project; {fault.place}: {fault.reason}")
                continue
            home = self._home(found, name)
            if home is not None:
                self.may[full] = home
                self.brings.append((node, home[0]))

    def function(self, full: str) -> tuple[ImportedFile, ast.FunctionDef] | None:
        """A function that the script takes from another file, with this file."""
        file, made = self.may.get(full, (None, None))
        return (file, made) if file is not None and isinstance(made, ast.FunctionDef) else None

    def _refuse(self, node: ast.AST, module: str, message: str) -> None:
        hint = "move it into this file; models, datasets, functions that only compute, and constants may stay there"
        self.script.say(node, "TMG299", message, hint)
        self.refused.add(module.partition(".")[0])

    def _taken(self, node: ast.Import | ast.ImportFrom, module: str) -> Iterator[tuple[str, str]]:
        """The names that the script takes from a module, each with its full name."""
        if isinstance(node, ast.ImportFrom):
            yield from ((alias.name, f"{module}.{alias.name}") for alias in node.names)
            return
        for full in map(self.script.name, self.script.nodes(ast.Attribute)):
            place, _, name = full.rpartition(".")
            if place == module:
                yield name, full

    # -- files ------------------------------------------------------------------------------------

    def _file(self, module: str) -> ImportedFile | None:
        if module not in self._files:
            base = os.path.join(self.folder, *module.split("."))
            paths = (f"{base}.py", os.path.join(base, "__init__.py"))
            self._files[module] = next((made for path in paths if (made := _read(path)) is not None), None)
        return self._files[module]

    def _module(self, file: ImportedFile, node: ast.ImportFrom) -> str:
        """The full name of the module that a statement of another file imports from."""
        if not node.level:
            return node.module or ""
        inside = os.path.relpath(os.path.dirname(os.path.abspath(file.script.path)), self.folder)
        parts = [] if inside == os.curdir else inside.split(os.sep)
        parts = parts[: len(parts) - (node.level - 1)]
        return ".".join([*parts, *filter(None, [node.module])])

    def _local(self, file: ImportedFile, node: ast.stmt) -> list[tuple[str, ImportedFile | None]]:
        """The files of the project that an import of another file names."""
        beside = modules_in_folder(self.script)
        if isinstance(node, ast.ImportFrom):
            module = self._module(file, node)
            return [(module, self._file(module))] if node.level or module.partition(".")[0] in beside else []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            return [(name, self._file(name)) for name in names if name.partition(".")[0] in beside]
        return []

    def _home(self, file: ImportedFile, name: str) -> tuple[ImportedFile, ast.stmt] | None:
        """The file and the statement that make a name, through files that only hand it on."""
        node = file.defined.get(name)
        if not isinstance(node, ast.ImportFrom):
            return (file, node) if node is not None else None
        for _, other in self._local(file, node):
            return self._home(other, _original(node, name)) if other is not None and other is not file else None
        return (file, node)

    # -- faults -----------------------------------------------------------------------------------

    def _at_import(self, file: ImportedFile, seen: set[str]) -> Fault | None:
        """The actions of a file at import other than defining names."""
        if file.script.path in seen:
            return None
        seen.add(file.script.path)
        for node in file.script.tree.body:
            if not _is_quiet(file.script, node):
                return file.fault(node, "this is done when the file is imported, in every process")
            part = Script(file.script.path, file.script.text, file.script.tree)
            if isinstance(node, ast.Import | ast.ImportFrom):
                list(check_import(part, node, modules_in_folder(self.script)))
            if part.findings:
                return file.fault(node, part.findings[0].message)
            for module, other in self._local(file, node):
                if other is None:
                    return file.fault(node, f"{module} is another file of the project, which is not found or not read")
                fault = self._at_import(other, seen)
                if fault is not None:
                    return fault
        return None

    def _reached(self, file: ImportedFile, name: str, seen: set[tuple[str, str]]) -> Fault | None:
        """The reason why processes cannot use a name of a file, or anything that it uses; None if they can."""
        if (file.script.path, name) in seen:
            return None
        seen.add((file.script.path, name))
        node = file.defined.get(name)
        if node is None:
            return file.fault(file.script.tree, f"{name} is not seen there")
        if isinstance(node, ast.Import | ast.ImportFrom):
            return self._handed_on(file, node, name, seen)
        fault = _kind(file, node) or _acts(file, node, modules_in_folder(self.script))
        if fault is not None:
            return fault
        for used in sorted(names_read(node) & set(file.defined)):
            fault = self._reached(file, used, seen)
            if fault is not None:
                return fault
        return None

    def _handed_on(
        self, file: ImportedFile, node: ast.Import | ast.ImportFrom, name: str, seen: set[tuple[str, str]]
    ) -> Fault | None:
        local = self._local(file, node)
        if local and isinstance(node, ast.Import):
            return file.fault(node, "a file that imports another one as a module is not followed")
        for _, other in local:
            if other is None:
                return file.fault(node, "this file of the project is not found or not read")
            return self._reached(other, _original(node, name), seen)
        return None


def _original(node: ast.Import | ast.ImportFrom, name: str) -> str:
    """The name that an import takes, before `as`."""
    return next((alias.name for alias in node.names if (alias.asname or alias.name) == name), name)


def check_project(script: Script) -> ImportedFiles:
    """Refuse imports from files beside the script that several processes cannot share unchanged."""
    project = ImportedFiles(script)
    check_calls(script, frozenset(project.may), frozenset(project.refused))
    _check_named(project)
    return project


def _check_named(project: ImportedFiles) -> None:
    """Refuse functions of other files that are passed on as values, so that it is not seen what they are given."""
    script = project.script
    named: list[ast.Name | ast.Attribute] = [*script.nodes(ast.Name), *script.nodes(ast.Attribute)]
    for node in named:
        above = script.parent(node)
        called = isinstance(above, ast.Call) and (above.func is node or _applies(above))
        if called or (isinstance(above, ast.keyword) and above.arg in _GIVEN):
            continue
        if isinstance(node.ctx, ast.Load) and project.function(script.name(node)) is not None:
            script.finding(node, "TMG299 passed_on", code=ast.unparse(node))


def _applies(call: ast.Call) -> bool:
    """Whether a call gives a function each layer of a model: net.apply(init_weights), in all processes alike."""
    return method_name(call) == "apply" and len(call.args) == 1


def check_given(project: ImportedFiles, training: Training) -> None:
    """Refuse functions of other files that are given the model, a loader or the optimizer, and may use them."""
    script = training.script
    for call in script.calls:
        found = project.function(script.name(call.func))
        if found is None:
            continue
        file, function = found
        for value in all_arguments(call):
            what = next(filter(None, (_whole(training, name) for name in nodes_of(ast.Name, value))), "")
            if what and not _only_reads(function):
                about = {"place": file.fault(function, "").place, "name": function.name}
                script.finding(call, "TMG299 given_to_other_file", code=ast.unparse(call.func), what=what, **about)
                break


def _whole(training: Training, node: ast.Name) -> str:
    """The role of a name in the training: "the model", "the optimizer" or "a loader"; "" for none of these."""
    above = training.script.parent(node)
    if training.is_net(node):
        return "" if isinstance(above, ast.Call) and above.func is node else "the model"
    for made in training.scopes.calls_behind(node):
        if made is training.optimizer:
            return "the optimizer"
        if training.script.name(made.func) == LOADER:
            return "" if plain_name(above) == "len" else "a loader"
    return ""


def _only_reads(function: ast.FunctionDef) -> bool:
    """Whether a function only counts parameters: it calls nothing that it is given but `parameters()` and the like."""
    given = set(parameters(function)) - {one.arg for one in (function.args.vararg, function.args.kwarg) if one}
    attributes = list(nodes_of(ast.Attribute, function))
    reading = [one.value for one in attributes if one.attr in ("parameters", "named_parameters", "state_dict")]
    used = [one for one in nodes_of(ast.Name, function) if one.id in given and isinstance(one.ctx, ast.Load)]
    parts: list[ast.Attribute | ast.Subscript] = [*attributes, *nodes_of(ast.Subscript, function)]
    changes = any(not isinstance(one.ctx, ast.Load) for one in parts) or any(a.attr.endswith("_") for a in attributes)
    return not changes and all(one in reading for one in used)


def _read(path: str) -> ImportedFile | None:
    try:
        text = read(path).text
        return ImportedFile(Script(path, text, parse_text(text)))
    except (OSError, Refusal, SyntaxError, ValueError):
        return None


def _is_quiet(script: Script, node: ast.stmt) -> bool:
    """Whether a statement of a module only defines."""
    if isinstance(node, ast.If):
        return "__name__" in ast.unparse(node.test) and not node.orelse  # not taken where the file is imported
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr):
        return isinstance(node, _DEFINES)
    calls = nodes_of(ast.Call, node)
    return all(script.name(call.func).startswith(_MAKES) or plain_name(call) in _BUILTINS for call in calls)


def _kind(file: ImportedFile, node: ast.stmt) -> Fault | None:
    """A class that is neither a model nor a dataset: its objects may keep what differs between the processes."""
    if not isinstance(node, ast.ClassDef) or _is_made_of(file, node, (MODEL, *DATASETS), set()):
        return None
    if any(file.script.name(base).endswith("IterableDataset") for base in node.bases):
        return file.fault(node, f"the IterableDataset {node.name} gives every process all of its examples")
    return file.fault(node, f"the class {node.name} is no model and no dataset: what it keeps is not followed")


def _is_made_of(file: ImportedFile, node: ast.ClassDef, bases: tuple[str, ...], seen: set[str]) -> bool:
    seen.add(node.name)
    if any(file.script.name(base) in bases for base in node.bases):
        return True
    own = (file.defined.get(base.id) for base in node.bases if isinstance(base, ast.Name))
    own_classes = (one for one in own if isinstance(one, ast.ClassDef) and one.name not in seen)
    return any(_is_made_of(file, one, bases, seen) for one in own_classes)


def _acts(file: ImportedFile, node: ast.stmt, beside: frozenset[str]) -> Fault | None:
    """The reason why a definition cannot run in several processes (files, devices, …); None if it can."""
    part = Script(file.script.path, file.script.text, file.script.tree)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import | ast.ImportFrom) and list(check_import(part, inner, beside)):
            return file.fault(inner, "this import of another file stands inside of a definition")
        if isinstance(inner, ast.Global | ast.Nonlocal) and isinstance(node, ast.FunctionDef):
            return file.fault(inner, "this function changes variables of its file")
    inside = set(nodes_of(ast.Call, node))
    for call in filter(inside.__contains__, part.calls):
        if reason := _act(part, call, isinstance(node, ast.FunctionDef)):
            return file.fault(call, reason)
    check_calls(part, frozenset())
    begin, end = part.span(node)
    change = next((one for one in device_changes(part) if begin <= one.begin < end), None)
    lines = range(node.lineno, (node.end_lineno or 0) + 1)
    found = next((one for one in part.findings if one.line in lines), None)
    if found is not None:
        return Fault(f"{os.path.basename(found.path)}:{found.line}:{found.column}", found.message)
    if change is not None:
        line = part.text.count("\n", 0, change.begin) + 1
        name = os.path.basename(part.path)
        return Fault(f"{name}:{line}:1", "each process needs its own GPU here, or loads to the CPU first")
    return None


def _act(script: Script, call: ast.Call, in_function: bool) -> str:
    """The reason why several processes cannot make a call; "" if they can."""
    name = script.name(call.func)
    optimizes = name.startswith("torch.optim.") and not name.startswith("torch.optim.lr_scheduler")
    draws = in_function and name.startswith(_OWN) and name not in _SEEDS
    reasons = (
        (call in backwards(script), "the gradients are taken here"),
        (name == LOADER, "the DataLoader is made here, and a loader of training data must be seen"),
        (optimizes, "the optimizer is made here"),
        (writes(script, call), "this writes a file, in every process"),
        (downloads(call), "this may download data, in every process"),
        (draws, f"what {name} gives differs between the processes"),
    )
    return next((reason for holds, reason in reasons if holds), "")


def modules_in_folder(script: Script) -> frozenset[str]:
    """Modules and packages in a script's folder."""
    folder = os.path.dirname(os.path.abspath(script.path))
    names = os.listdir(folder) if os.path.isdir(folder) else []
    own = os.path.splitext(os.path.basename(script.path))[0]
    found = {name[:-3] for name in names if name.endswith(".py")}
    found |= {name for name in names if _holds_modules(os.path.join(folder, name))}
    return frozenset(found - {own})


def _holds_modules(path: str) -> bool:
    """Whether a folder can be imported: it has modules in it, with or without `__init__.py`."""
    return os.path.isdir(path) and any(name.endswith(".py") for name in os.listdir(path))
