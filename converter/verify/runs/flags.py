"""The choices that a script's command line offers: listed values, switches, and values that branches ask for.

Read from the text of the script and of the modules in its folder that it imports, under argparse, tf.app.flags and
absl.flags; constants of these modules that branches ask for are choices, too. Each choice differs from the defaults in
one flag or constant, or in two flags that one branch asks for.
"""

from __future__ import annotations

import ast
import operator
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from converter.dataclass import dataclass
from converter.diagnostics import Refusal
from converter.source import parse, read
from converter.source.project.above import imported_files, start_of
from converter.verify.checks.figures import listing
from converter.verify.data import ConstantChoice, LedgerLine
from converter.verify.runs.constants import constants_in, tests_of_constants

CHOICES = "choices of the command line"  # in the ledger

_TOWERS = "num_gpus"
_ORDERS = {ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.LtE: operator.le}
_NONE = object()  # a default that cannot be read from the text


@dataclass(frozen=True)
class FlagChoice:
    """The arguments of one run, and `file:line` of the flag that offers this choice.

    constants: the values of modules' constants in it.
    """

    args: tuple[str, ...]
    place: str
    constants: tuple[ConstantChoice, ...] = ()

    @property
    def name(self) -> str:
        """What a report calls it."""
        set_ = (f"{Path(one.module).stem}.{one.name} = {one.text}" for one in self.constants)
        return f"with {' '.join([shlex.join(self.args), *set_]).strip()}"


@dataclass(frozen=True)
class Flag:
    """One flag. option: as it is written; name: of its attribute; values: those that are listed.

    on, off: the arguments that turn a switch on and off, "" for a flag that takes a value.
    """

    option: str
    name: str
    default: Any
    place: str
    on: str = ""
    off: str = ""
    values: tuple[Any, ...] = ()


def choices_of(script: Path, given: Iterable[str] = ()) -> tuple[FlagChoice, ...]:
    """The choices that a script's flags offer; none for flags that the user has set."""
    trees, flags = project(script), flags_of(script)
    fixed = {argument.split("=")[0].lstrip("-").replace("-", "_") for argument in given if argument.startswith("-")}
    asked = _compared_values(trees.values(), frozenset(flags))
    found: dict[tuple[str, ...], FlagChoice] = {}
    of_flags: dict[str, FlagChoice] = {}
    for flag in flags.values():
        if flag.name in fixed or flag.name == _TOWERS or flag.option.lstrip("-") in fixed:
            continue
        for args in _args(flag, asked.get(flag.name, [])):
            of_flags.setdefault(flag.name, found.setdefault(args, FlagChoice(args, flag.place)))
    constants = _of_constants(trees, next(iter(trees), ""))
    pairs = (
        FlagChoice((*of_flags[one].args, *of_flags[other].args), place)
        for one, other, place in _meeting(trees, frozenset(of_flags))
    )
    return (*found.values(), *constants, *pairs)


def flags_of(script: Path) -> dict[str, Flag]:
    """The flags of a script and of the modules that it imports, by name."""
    return {flag.name: flag for name, tree in project(script).items() for flag in _flags(name, tree)}


def _of_constants(trees: Mapping[str, ast.Module], script: str) -> Iterator[FlagChoice]:
    """The choices that constants of modules offer, which no argument sets."""
    for (module, name), tests in tests_of_constants(trees, script).items():
        default, line = constants_in(trees[module])[name]
        for value in dict.fromkeys(_other_values(default, tests, name)):
            if value != default:
                yield FlagChoice((), f"{module}:{line}", (ConstantChoice(module, name, repr(value)),))


def _other_values(default: Any, tests: Iterable[ast.expr], name: str) -> Iterator[Any]:
    """Values of a constant that tests ask for."""
    flag = Flag(name, name, default, "")
    for test in tests:
        if isinstance(default, bool):
            yield not default
        elif isinstance(test, ast.Compare):
            left, right = _literal(test.left), _literal(test.comparators[0])
            value, turned = (right, False) if right is not _NONE else (left, True)
            yield from _fitting(flag, _values(test.ops[0], value, turned))


def _meeting(trees: Mapping[str, ast.Module], names: frozenset[str]) -> Iterator[tuple[str, str, str]]:
    """Pairs of flags that one branch asks for, itself or inside of another one; with `file:line` of it."""
    seen: set[frozenset[str]] = set()
    for file, tree in trees.items():
        local = _aliases(tree)
        for outer in ast.walk(tree):
            if not isinstance(outer, ast.If | ast.IfExp):
                continue
            mine = _tested(outer.test, local, names)
            inner = [node for node in ast.walk(outer) if isinstance(node, ast.If | ast.IfExp)]
            for node in inner:
                for one in mine:
                    for other in _tested(node.test, local, names):
                        pair = frozenset((one, other))
                        if len(pair) == 2 and pair not in seen:
                            seen.add(pair)
                            yield one, other, f"{file}:{node.lineno}"


def _tested(test: ast.expr, local: frozenset[str], names: frozenset[str]) -> list[str]:
    """The flags that a condition asks for."""
    found = (_key(node, local) for node in ast.walk(test) if isinstance(node, ast.expr))
    return [name for name in dict.fromkeys(found) if name in names]


def not_run(script: Path, given: Iterable[str] = ()) -> Iterator[LedgerLine]:
    """What a ledger says of the choices that a script's flags offer, where only the given arguments were run."""
    found = choices_of(script, given)
    if found:
        single = (choice.args[0].split("=")[0] if choice.args else choice.constants[0].name for choice in found)
        flags = list(dict.fromkeys(single))
        plural = "s" if len(found) > 1 else ""
        detail = f"{len(found)} other choice{plural}, of {listing(flags)}, not run (--each-choice, or -- ARGS)"
        yield LedgerLine("unchecked", CHOICES, detail, float(len(found)))


def modules_of(root: Path, name: str) -> frozenset[str]:
    """The files below a folder that one of its scripts imports, itself or through others, by their paths from there."""
    return frozenset(project(root / name, root)) - {name}


def project(script: Path, root: Path | None = None) -> dict[str, ast.Module]:
    """The trees of a script and of what it imports from its project, or from `root`, by their names from there."""
    script = Path(os.path.abspath(script))
    root = Path(os.path.abspath(root or start_of(str(script)).root))
    trees = _read(script, root)
    for tree in list(trees.values()):
        for path in map(Path, imported_files(str(script), tree)):
            trees |= _read(path, root) if path.is_relative_to(root) else {}
    return trees


def _read(path: Path, root: Path) -> dict[str, ast.Module]:
    """The tree of a file by its name; nothing for one that cannot be read."""
    try:
        return {str(path.relative_to(root)): parse(read(str(path)))}
    except (Refusal, OSError, SyntaxError, RecursionError):
        return {}


def _flags(name: str, tree: ast.Module) -> Iterator[Flag]:
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            place = f"{name}:{node.lineno}"
            if called in ("add_argument", "add_option"):
                yield from _of_argparse(node, place, constants)
            elif called.startswith("DEFINE_"):
                yield from _of_absl(node, called, place, constants)


def _of_argparse(call: ast.Call, place: str, constants: dict[str, ast.expr]) -> Iterator[Flag]:
    options = [value for value in map(_literal, call.args) if isinstance(value, str) and value.startswith("-")]
    if not options:
        return
    option = next((one for one in options if one.startswith("--")), options[0])
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    plain = option.lstrip("-")
    name = _literal(given.get("dest")) if "dest" in given else plain.replace("-", "_")
    default = _literal(given["default"]) if "default" in given else None
    action = _literal(given.get("action"))
    if action == "store_true":
        yield Flag(option, name, False, place, on=option)
    elif action == "store_false":
        yield Flag(option, name, True, place, off=option)
    elif "action" in given and "BooleanOptionalAction" in ast.dump(given["action"]):
        yield Flag(option, name, default, place, on=option, off=f"--no-{plain}")
    elif "action" not in given:
        by_text = getattr(given.get("type"), "id", "") == "bool"  # any text but an empty one is true
        if by_text or isinstance(default, bool):
            yield Flag(option, name, default, place, on=f"{option}=True", off=f"{option}={'' if by_text else False}")
        else:
            yield Flag(option, name, default, place, values=_listed(given.get("choices"), constants))


def _of_absl(call: ast.Call, called: str, place: str, constants: dict[str, ast.expr]) -> Iterator[Flag]:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    parts = [*call.args, *[ast.Constant(None)] * 3]
    name = _literal(given.get("name", parts[0]))
    if not isinstance(name, str):
        return
    default = _literal(given.get("default", parts[1]))
    if called in ("DEFINE_bool", "DEFINE_boolean"):
        yield Flag(f"--{name}", name, default, place, on=f"--{name}", off=f"--no{name}")
    elif called in ("DEFINE_enum", "DEFINE_string", "DEFINE_integer", "DEFINE_float"):
        listed = given.get("enum_values", parts[2]) if called == "DEFINE_enum" else None
        yield Flag(f"--{name}", name, default, place, values=_listed(listed, constants))


def _literal(node: ast.expr | None) -> Any:
    """The value of an expression of constants, else _NONE."""
    if node is None:
        return _NONE
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return _NONE


def _listed(node: ast.expr | None, constants: dict[str, ast.expr]) -> tuple[Any, ...]:
    """The values of a list, a constant, or the keys of a dict."""
    if isinstance(node, ast.Call):  # list(CHOICES), CHOICES.keys(), sorted(CHOICES)
        node = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(node, ast.Call):
        return _listed(node, constants)
    if isinstance(node, ast.Name):
        node = constants.get(node.id)
    if isinstance(node, ast.Dict):
        return tuple(value for value in map(_literal, node.keys) if value is not _NONE)
    value = _literal(node)
    return tuple(value) if isinstance(value, (list, tuple, set, range)) else ()


def _args(flag: Flag, asked: list[Any]) -> Iterator[tuple[str, ...]]:
    """The arguments for each choice of a flag other than its default."""
    if flag.on and flag.default is not True:
        yield (flag.on,)
    if flag.off and (flag.default is True or flag.default is _NONE):
        yield (flag.off,)
    if not flag.on and not flag.off:
        values = list(dict.fromkeys(flag.values or _fitting(flag, asked)))
        if values == [flag.default] and flag.default and not flag.values:  # the other branch names no value
            values = [flag.default + 1 if isinstance(flag.default, (int, float)) else f"not_{flag.default}"]
        for value in values:
            if value != flag.default and value is not None:
                yield (f"{flag.option}={value}",)


def _fitting(flag: Flag, asked: list[Any]) -> Iterator[Any]:
    """Values of the default's type; for a number that is compared with, one on the other side of it."""
    number = isinstance(flag.default, (int, float)) and not isinstance(flag.default, bool)
    for ask in asked:
        if callable(ask):
            if number:
                yield ask(flag.default)
        elif isinstance(ask, bool):
            continue
        elif number == isinstance(ask, (int, float)) and (flag.default is not None or isinstance(ask, str)):
            yield ask


def _on_the_other_side(op: ast.cmpop, number: float, turned: bool, default: float) -> float:
    """A value for which a comparison with a number gives another answer than for the default."""
    ask, tried = _ORDERS[type(op)], (number, number - 1, number + 1)
    answers = [ask(number, one) if turned else ask(one, number) for one in (default, *tried)]
    return next((one for one, answer in zip(tried, answers[1:], strict=True) if answer != answers[0]), number)


def _compared_values(trees: Iterable[ast.Module], names: frozenset[str]) -> dict[str, list[Any]]:
    """The values that flags are compared with: {name of a flag: values}."""
    found: dict[str, list[Any]] = {}
    for tree in trees:
        local = _aliases(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Compare) or len(node.ops) != 1:
                continue
            left, right, op = node.left, node.comparators[0], node.ops[0]
            for one, other, turned in ((left, right, False), (right, left, True)):
                name = _key(one, local)
                if name in names:
                    found.setdefault(name, []).extend(_values(op, _literal(other), turned))
    return found


def _values(op: ast.cmpop, value: Any, turned: bool) -> list[Any]:
    if isinstance(op, (ast.Eq, ast.NotEq)):
        return [value] if isinstance(value, (str, int, float)) else []
    if isinstance(op, (ast.In, ast.NotIn)) and not turned and isinstance(value, (list, tuple, set)):
        return [one for one in value if isinstance(one, (str, int, float))]
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return []
    return [partial(_on_the_other_side, op, value, turned)] if type(op) in _ORDERS else []


def _key(node: ast.expr, local: frozenset[str]) -> str:
    """The flag's name in an expression that may read it: FLAGS.name, args['name'], or a name bound to one of these."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:  # .lower(), .strip()
        return _key(node.func.value, local)
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        key = _literal(node.slice)
        return key if isinstance(key, str) else ""
    return node.id if isinstance(node, ast.Name) and node.id in local else ""


def _aliases(tree: ast.Module) -> frozenset[str]:
    """Names that are parameters, or are assigned from an attribute or item of the same name."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if _key(node.value, frozenset()) == name:
                found.add(name)
    return frozenset(found)
