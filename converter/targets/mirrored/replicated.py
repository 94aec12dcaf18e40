"""Code of a script that every replica runs: with its own share of the batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.library import naming
from converter.analysis.traits import Trait
from converter.syntax.known import is_known
from converter.syntax.script import Script, all_arguments
from converter.targets.mirrored.elsewhere import definition, definition_of_class

_TAKE_CODE = ("compile", "add_loss", "add_metric")


def reachable(script: Script, function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, and of the functions of its file that it names."""
    open_, seen = [function], {id(function)}
    while open_:
        for node in ast.walk(open_.pop()):
            yield node
            name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
            for other in script.functions.get(name, ()):
                if id(other) not in seen:
                    seen.add(id(other))
                    open_.append(other)


class Code:
    """What a function runs in all files: functions that it calls, and methods of the classes whose objects it makes.

    A method of another file is run where something that is run reads an attribute of its name. folder: of the script
    that Python was started with.
    """

    def __init__(self, script: Script, function: ast.AST, folder: str) -> None:
        self._folder = folder
        self._files: dict[int, tuple[Script, list[ast.AST]]] = {}
        self._attributes: set[str] = set()
        self._methods: list[tuple[Script, ast.AST]] = []
        todo, seen = [(script, function)], set[int]()
        while todo:
            where, one = todo.pop()
            if id(one) not in seen:
                seen.add(id(one))
                todo += self._run(where, list(reachable(where, one)))
            if not todo:
                todo = [(file, one) for file, one in self._methods if id(one) not in seen and self._is_named(one)]

    def files(self) -> list[tuple[Script, list[ast.AST]]]:
        """The files, that of the function first, and the nodes of each that are run."""
        return list(self._files.values())

    def _is_named(self, method: ast.AST) -> bool:
        name = getattr(method, "name", "")
        return name in self._attributes or name.startswith("__")

    def _run(self, where: Script, nodes: list[ast.AST]) -> list[tuple[Script, ast.AST]]:
        """Note nodes that are run; return the functions of other files that their calls lead to."""
        self._files.setdefault(id(where), (where, []))[1].extend(nodes)
        self._attributes.update(node.attr for node in nodes if isinstance(node, ast.Attribute))
        led: list[tuple[Script, ast.AST]] = []
        for node in nodes:
            if not isinstance(node, ast.Call) or where.name(node.func).partition(".")[0] == naming().library:
                continue
            if found := definition(where, node.func, self._folder):
                led += [found] if found[0] is not where else []
            elif made := definition_of_class(where, node.func, self._folder):
                self._methods += [(made[0], one) for one in made[1].body if isinstance(one, ast.FunctionDef)]
        return led


def keras_code(script: Script) -> list[ast.AST]:
    """The code of the script that replicas of a Keras model run: losses, metrics, own layers."""
    roots: list[ast.AST] = list(script.functions.get("call", ()))
    for call in script.calls:
        if script.method(call) in _TAKE_CODE or is_known(script, call.func, Trait.BUILDS_MODEL):
            roots += all_arguments(call)
    found: list[ast.AST] = []
    for root in roots:
        inner = [root] if isinstance(root, ast.FunctionDef) else list(_functions(script, root))
        for function in inner:
            found += reachable(script, function)
    return found


def _functions(script: Script, given: ast.AST) -> Iterator[ast.AST]:
    """The functions that an argument names, makes or calls to get one."""
    for node in ast.walk(given):
        yield from [node] if isinstance(node, ast.Lambda) else script.functions.get(getattr(node, "id", ""), ())
