"""Imports: of other files of the project, which are executed, and of libraries."""

from __future__ import annotations

import ast
import os
import re
from functools import partial
from typing import TYPE_CHECKING

from converter.analysis.effects import EffectKind
from converter.analysis.facts import LocalModule
from converter.analysis.frames import Place
from converter.analysis.library import naming, symbol_of
from converter.analysis.project import TurnedPython2
from converter.analysis.python.joins import join
from converter.analysis.values import Class, Constant, Frame, Function, Instance, Module, Symbol, Value
from converter.analysis.walk import MAX_PER_LINE, lines_of
from converter.source.quick_checks import imports_its_folder, modules_beside

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

_CONVERTED = re.compile(rb"^# tf-multigpu \S+: converted from ", re.MULTILINE)
_WRITES = re.compile(rb"\b(?:globals|locals|vars|setattr)\(")  # into the names of a module


def import_module(walk: Walk, alias: ast.alias, stmt: ast.Import) -> None:
    """Executes one name of `import …`."""
    root, _, rest = alias.name.partition(".")
    _note_library(walk, alias.name, stmt)
    local = local_module(walk, alias.name, stmt, 0)
    if local is not None and (alias.asname or not rest):
        _bind(walk, alias.asname or root, local, stmt)
    elif local is not None:
        package = local_module(walk, root, stmt, 0)
        _bind(walk, root, package or _package(walk, root, rest, local), stmt)
    elif alias.asname is None:
        _bind(walk, root, symbol_of(root, ""), stmt)
    else:
        _bind(walk, alias.asname, symbol_of(root, rest), stmt)


def _note_library(walk: Walk, name: str, stmt: ast.stmt) -> None:
    """Notes that a script imports a library that spreads training over GPUs; its parts that only load data do not."""
    root = name.partition(".")[0]
    if root in naming().distributing and not f"{name}.".startswith(naming().loading):
        walk.effect(EffectKind.DISTRIBUTED, root, None, stmt)


def _package(walk: Walk, root: str, rest: str, local: Module) -> Value:
    """`import models.vgg` binds `models`: an object that leads to the module."""
    known = walk.frame.locals.get(root)
    holder = known if isinstance(known, Instance) else Instance(None, "package")
    first = holder
    *between, last = rest.split(".")
    for name in between:
        inner = holder.attributes.setdefault(name, Instance(None, "package"))
        holder = inner if isinstance(inner, Instance) else Instance(None, "package")
    holder.attributes[last] = local
    return first


def import_from(walk: Walk, stmt: ast.ImportFrom, alias: ast.alias) -> None:
    """Executes one name of `from … import …`."""
    module = stmt.module or ""
    root, _, rest = module.partition(".")
    if root == "__future__":
        return
    inner = f"{module}.{alias.name}" if module else alias.name
    _note_library(walk, inner, stmt)
    local = local_module(walk, module, stmt, stmt.level) if module or stmt.level else None
    if local is not None:
        _import_name(walk, local, alias, stmt, module)
    elif (found := local_module(walk, inner, stmt, stmt.level)) is not None:  # of a folder without __init__.py
        _bind(walk, alias.asname or alias.name, found, stmt)
    elif alias.name == "*":
        symbol = symbol_of(root, rest)
        if symbol.library == naming().library:
            walk.stars.setdefault(walk.frame.uid, []).append(symbol)
    else:
        name = f"{rest}.{alias.name}" if rest else alias.name
        if stmt.level:
            root, name = "." * stmt.level + root, name
        _bind(walk, alias.asname or alias.name, symbol_of(root, name), stmt)


def _import_name(walk: Walk, local: Module, alias: ast.alias, stmt: ast.ImportFrom, module: str) -> None:
    if alias.name == "*":
        for name, value in list(local.frame.locals.items()):
            if not name.startswith("_"):
                _bind(walk, name, value, stmt)
        if stars := walk.stars.get(local.frame.uid):
            walk.stars.setdefault(walk.frame.uid, []).extend(stars)
        return
    found = local.frame.locals.get(alias.name)
    if found is None:  # a module of a package
        inner = f"{module}.{alias.name}" if module else alias.name
        found = local_module(walk, inner, stmt, stmt.level) or Symbol(module, alias.name)
        if isinstance(found, Symbol) and local.frame in walk.importing:
            walk.effect(EffectKind.CIRCULAR_IMPORT, f"{alias.name} of {module}", None, stmt)
    _bind(walk, alias.asname or alias.name, found, stmt)


def local_module(walk: Walk, name: str, stmt: ast.AST, level: int) -> Module | None:
    """A module of the project, executed when it is first imported; None for any other."""
    beside = walk.facts.foreign.get(stmt) or os.path.abspath(walk.facts.path)
    found = walk.project.where(name, beside, level)
    if found is None or found.path == os.path.abspath(walk.facts.path):
        return None
    path = found.path
    parent, _, last = name.rpartition(".")
    package = local_module(walk, parent, stmt, level) if parent else None  # Python imports it first
    if not level:
        walk.facts.found.setdefault((name, found.folder), (found, stmt))
    if path not in walk.modules:
        read = walk.project.read(path)
        if read is None:
            what = f"{os.path.basename(path)} is valid neither in Python 3 nor in Python 2"
            walk.effect(EffectKind.UNREAD_MODULE, what, None, stmt)
            return None
        if walk.project.python2 and not walk.python2:
            raise TurnedPython2
        data, tree = read
        if b": converted from " in data and _CONVERTED.search(data):
            walk.effect(EffectKind.CONVERTED_MODULE, os.path.basename(path), None, stmt)
        frame = Frame(tree, None, walk.site, began=walk.clock)
        frame.locals["__name__"] = Constant(name)
        frame.locals["__file__"] = Constant(path)
        walk.modules[path] = frame
        walk.facts.modules[path] = LocalModule(data, tree, frame)
        walk.facts.foreign.update(dict.fromkeys(ast.walk(tree), path))
        _execute(walk, frame)
        if imports_its_folder(path, data):
            _import_all(walk, frame, name, stmt, level)
    module = Module(walk.modules[path])
    if package is not None:  # the package's attribute from now on, under whatever name it goes
        package.frame.locals[last] = module
    return module


def _import_all(walk: Walk, package: Frame, name: str, stmt: ast.AST, level: int) -> None:
    """Imports the modules of a package that it looks for in its own folder: `for f in glob(…): import_module(f)`.

    Their public classes and functions are the package's, too, where it writes into its own names.
    """
    path = str(getattr(package.locals["__file__"], "value", ""))
    names = [os.path.basename(file)[:-3] for file in modules_beside(path)]
    found = [local_module(walk, f"{name}.{each}" if name else each, stmt, level) for each in names]
    modules = {each: module for each, module in zip(names, found, strict=True) if module is not None}
    writes = _WRITES.search(walk.facts.modules[path].data)
    taken: dict[str, Value] = {}
    for module in modules.values() if writes else ():
        for key, value in module.frame.locals.items():
            if not key.startswith("_") and isinstance(value, (Class, Function)):
                taken[key] = join(taken.get(key), value)  # the order of the files is that of their folder
    package.locals.update(taken)
    package.locals.update(modules)


def imported_beside(walk: Walk, stmt: ast.Try) -> list[ast.stmt] | None:
    """The handler of an import, if it imports from beside the script what is tried from a folder above it.

    `try: from pkg.net import f`, `except ImportError: from net import f`: the folder need not be on the path then.
    Nor need a package's own folder: `try: from net import f`, `except ImportError: from pkg.net import f`.
    """
    handler = next((handler for handler in stmt.handlers if _catches_imports(handler)), None)
    if handler is None:
        return None
    tried, caught = _modules(stmt.body), _modules(handler.body)
    alike = len(tried) == len(caught) and all(
        one.endswith(f".{other}") for one, other in zip(caught, tried, strict=True)
    )
    if tried and alike and all(map(partial(_is_there, walk, stmt), caught)):
        return None if any(map(partial(_is_there, walk, stmt), tried)) else handler.body
    above, beside = _files(walk, stmt.body, True), _files(walk, handler.body, False)
    return handler.body if above and above == beside else None


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in names) for kind in kinds)


def _files(walk: Walk, body: list[ast.stmt], above: bool) -> set[str] | None:
    """The files that a block's absolute imports lead to; None if one of them does not lie where it should."""
    found: set[str] = set()
    beside = walk.facts.foreign.get(body[0]) or os.path.abspath(walk.facts.path)
    for module in _modules(body):
        there = walk.project.where(module, beside, 0)
        if there is None or there.above is not above:
            return None
        found.add(there.path)
    return found or None


def _is_there(walk: Walk, stmt: ast.stmt, module: str) -> bool:
    """Whether the project has a module under its whole name."""
    return walk.project.where(module, walk.facts.foreign.get(stmt) or os.path.abspath(walk.facts.path), 0) is not None


def _modules(body: list[ast.stmt]) -> list[str]:
    """The modules that a block imports by their whole names; none if it does anything else."""
    found: list[str] = []
    for stmt in body:
        if isinstance(stmt, ast.ImportFrom) and not stmt.level and stmt.module:
            found.append(stmt.module)
        elif isinstance(stmt, ast.Import):
            found += [alias.name for alias in stmt.names]
        else:
            return []
    return found


def _execute(walk: Walk, frame: Frame) -> None:
    """Executes the top level of another file of the project."""
    from converter.analysis.python.statements import execute_block

    assert isinstance(frame.node, ast.Module)
    walk.most += MAX_PER_LINE * lines_of(frame.node)
    walk.importing.append(frame)
    with walk.inside(frame):
        execute_block(walk, frame.node.body)
    walk.importing.remove(frame)


def _bind(walk: Walk, name: str, value: Value, stmt: ast.stmt) -> None:
    walk.stamp(value, stmt)
    walk.frame.locals[name] = value
    if isinstance(value, Symbol) and value.library == naming().library and walk.frame.closure is None:
        walk.facts.imports.setdefault(walk.facts.path_of(stmt), {}).setdefault(name, value.name)
    walk.write(Place("name", walk.frame.uid, name, frame=walk.frame), value, stmt)
