"""Scripts whose model, gradients or batch size stand in other files of their project."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.python.following import not_followed
from converter.analysis.python.settings import default_of
from converter.analysis.rows import table
from converter.analysis.values import Bound, Constant, Host, Number, Sequence, Symbol, Value

FOLDERS: dict[str, Callable[[list[str]], str]] = {
    "os.path.join": lambda parts: os.path.join(*parts),
    "os.path.dirname": lambda parts: os.path.dirname(parts[0]),
    "os.path.normpath": lambda parts: os.path.normpath(parts[0]),
}
IN_FULL = ("resolve", "absolute")  # methods of paths
JOINED = ("pathlib.Path", "divide", "joinpath", "str", "as_posix", "os.fspath")
ABSOLUTE = ("os.path.abspath", "os.path.realpath")
NAMED = {
    "os.sep": os.sep,
    "os.path.sep": os.sep,
    "os.pardir": os.pardir,
    "os.path.pardir": os.pardir,
    "os.curdir": os.curdir,
    "os.path.curdir": os.curdir,
}


def _add_path(call: Call) -> Value:
    """A folder in which modules are looked for: `sys.path.append('src')`, `sys.path.insert(0, 'src')`."""
    given = call.get(1 if call.name.endswith("insert") else 0)
    listed = given.elements if call.name.endswith("extend") and isinstance(given, Sequence) else [given]
    for folder in listed:
        path = _folder(folder, call.walk.facts.path) if folder is not None else None
        if path is not None:
            call.walk.project.add_path(path)
    return Constant(None)


def _folder(value: Value, script: str) -> str | None:
    """A path that is written out, or computed from where a file lies; scripts are run from their own folder."""
    if isinstance(value, Constant):
        text = value.value if isinstance(value.value, str) else None
        return os.path.abspath(script) if text == script else text
    if isinstance(value, Symbol):
        return NAMED.get(f"{value.library}.{value.name}")
    here = os.path.dirname(os.path.abspath(script))
    if isinstance(value, Host) and (value.call == "os.getcwd" or _is_first_path(value)):
        return here
    if isinstance(value, Host) and (pieces := pieces_of(value)) is not None:
        written = [piece if isinstance(piece, str) else _folder(piece, script) for piece in pieces]
        return None if None in written else "".join(filter(None, written))
    if isinstance(value, Host) and value.call in (*FOLDERS, *ABSOLUTE):
        given = [part for part in value.inputs if not (isinstance(part, Symbol) and _is_called(part, value.call))]
        parts = [_folder(part, script) for part in given]
        known = [part for part in parts if part is not None]
        if len(known) == len(parts) > 0:
            in_full = value.call in ABSOLUTE
            return os.path.normpath(os.path.join(here, known[0])) if in_full else FOLDERS[value.call](known)
    return _by_pathlib(value, script) if isinstance(value, Host) else None


def _by_pathlib(value: Host, script: str) -> str | None:
    """A path of pathlib, or the first part of `os.path.split(…)`: `Path(__file__).resolve().parent / 'lib'`."""
    here = os.path.dirname(os.path.abspath(script))
    if value.call == "pathlib.Path.cwd":
        return here
    inputs = [part for part in value.inputs if not (isinstance(part, Symbol) and _is_called(part, value.call))]
    if not inputs:
        return None
    first, *rest = inputs
    method = isinstance(first, Host) and isinstance(first.node, ast.Attribute) and bool(first.inputs)
    if isinstance(value.node, ast.Call) and method:
        first = first.inputs[0]  # the object whose method is called
    if value.call == "[]" and isinstance(first, Host) and first.inputs and rest and isinstance(rest[0], Number):
        at, inner = rest[0].value, _folder(first.inputs[-1], script)
        if inner is None or not isinstance(at, int) or (first.call == "os.path.split" and at):
            return None
        up = {"os.path.split": 1, "parents": at + 1}.get(first.call, 0)
        for _ in range(up):
            inner = os.path.dirname(inner)
        return inner if up else None
    parts = [_folder(part, script) for part in (first, *rest)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if value.call in IN_FULL:
        return os.path.normpath(os.path.join(here, known[0]))
    if value.call == "parent":
        return os.path.dirname(known[0])
    return os.path.join(*known) if value.call in JOINED else None


def _is_first_path(value: Host) -> bool:
    """Whether a value is `sys.path[0]`: the folder of the script."""
    holder, key = value.inputs[:2] if value.call == "[]" and len(value.inputs) == 2 else (None, None)
    first = isinstance(holder, Symbol) and f"{holder.library}.{holder.name}" == "sys.path"
    return first and isinstance(key, Number) and key.value == 0


def pieces_of(value: Host) -> list[str | Value] | None:
    """What a text is put together from: `a + '/b'`, `'%s/b' % a`, `'{}/b'.format(a)`, `f'{a}/b'`; None for no such."""
    node, given = value.node, list(value.inputs)
    if isinstance(node, ast.JoinedStr):
        return [str(p.value) if isinstance(p, ast.Constant) else given.pop(0) for p in node.values]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return list(given)
    formatted = isinstance(node, ast.Call) and value.call == "format" and not node.keywords
    if not formatted and not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)):
        return None
    first, rest = given[0], given[1:]
    text = getattr(first.receiver if isinstance(first, Bound) else first, "value", None)
    if len(rest) == 1 and isinstance(rest[0], Sequence) and not formatted:
        rest = rest[0].elements
    between = text.split("{}" if formatted else "%s") if isinstance(text, str) else []
    if len(between) != len(rest) + 1 or any(mark in piece for piece in between for mark in ("{", "%")):
        return None
    filled: list[str | Value] = [between[0]]
    for put_in, piece in zip(rest, between[1:], strict=True):
        filled += [put_in, piece]
    return filled


def _is_called(symbol: Symbol, name: str) -> bool:
    """Whether a symbol is the function of this dotted name, or a module that contains it."""
    return f"{name}.".startswith(f"{symbol.library}.{symbol.name}".rstrip(".") + ".")


def _import_module(call: Call) -> Value:
    """`importlib.import_module('model')`: a module of the project; for the value of a flag, the flag's default."""
    from converter.analysis.python.imports import local_module

    given = call.get(0, "name")
    name = given.value if isinstance(given, Constant) else _name_of(call.walk.facts, given)
    name = _below(call.constant(1, "package"), name)
    level = len(name) - len(name.lstrip(".")) if isinstance(name, str) else 0
    found = local_module(call.walk, name[level:], call.node, level) if isinstance(name, str) and name else None
    if found is not None and not isinstance(given, Constant):
        path = next(path for path, frame in call.walk.modules.items() if frame is found.frame)
        call.walk.effect(EffectKind.CHOSEN_MODULE, path, None, call.node)
    return found or Host(call.values(), call.name, call.node)


def _below(package: object, name: object) -> object:
    """`import_module('.mlp', 'nets')`: a name that begins with dots is looked for in the package that is named."""
    if not isinstance(package, str) or not isinstance(name, str) or not name.startswith("."):
        return name
    above = len(name) - len(name.lstrip(".")) - 1
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - above], name.lstrip(".")]) if above < len(parts) else name


def _name_of(facts: Facts, value: Value | None) -> object:
    """The name of a module: a flag's default, or what is put together of it, as `'nets.' + args.model`."""
    if isinstance(value, Constant):
        return value.value
    pieces = pieces_of(value) if isinstance(value, Host) else None
    if pieces is None:
        return default_of(facts, value)
    names = [piece if isinstance(piece, str) else _name_of(facts, piece) for piece in pieces]
    return "".join(name for name in names if isinstance(name, str)) if all(isinstance(n, str) for n in names) else None


def _imported(call: Call) -> Value:
    """`__import__('model')`: the module; where its name has dots and no names are asked for, it would be another."""
    name = call.constant(0, "name")
    dotted = isinstance(name, str) and "." in name and call.get(3, "fromlist") is None
    found = Host() if dotted else _import_module(call)
    if not isinstance(found, Host):
        return found
    function = Symbol("builtins", "__import__")
    return not_followed(call, function, "builtins.__import__")


CALLS: dict[str, Handler] = table(
    ("sys.path.append sys.path.insert sys.path.extend", _add_path),
    ("importlib.import_module", _import_module),
    ("builtins.__import__", _imported),
)
