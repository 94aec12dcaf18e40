"""Names that the tool's own lines read, and that a script binds to something else."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from itertools import chain

from converter.analysis.facts import Facts
from converter.analysis.nodes import children
from converter.analysis.values import Frame

BUILTINS = frozenset(dir(builtins))
BUILTINS_MODULE = ("builtins", "python_builtins")  # new names of the module

# Builtins among what `from … import *` binds (numpy 1 and 2, which matplotlib.pylab has too; tensorflow 1.4 to 1.15)
STARS = {
    "numpy": frozenset({"abs", "all", "any", "max", "min", "pow", "round", "sum"}),
    "tensorflow": frozenset({"abs", "bool", "complex", "map", "pow", "print", "range", "round", "slice", "tuple"}),
}
STARS |= dict.fromkeys(("pylab", "matplotlib", "scipy"), STARS["numpy"])
THEIR_OWN = {"six.moves", "builtins", "__builtin__", "future.builtins", "past.builtins"}  # builtins, or as good
OLD = {"xrange", "raw_input", "unicode", "long"}  # Python 2's, which take the names of their successors


class Builtins:
    """How the tool's own lines read Python's builtins where their names may mean something else.

    module: the name under which a file imports them for that, which is free in all files.
    """

    def __init__(self, facts: Facts, module: str) -> None:
        self.module = module
        self._facts = facts
        self._hidden: dict[Frame, frozenset[str]] = {}

    def hidden(self, frame: Frame, read: Iterable[str]) -> tuple[str, ...]:
        """Those of the builtins that are read in a frame which must be reached by the module."""
        if frame not in self._hidden:
            self._hidden[frame] = hidden_builtins(self._facts, frame)
        return tuple(sorted(self._hidden[frame] & set(read)))

    def text(self, frame: Frame, name: str) -> str:
        """The expression for one of them in a frame."""
        return f"{self.module}.{name}" if self.hidden(frame, [name]) else name


def hidden_builtins(facts: Facts, frame: Frame) -> frozenset[str]:
    """The builtins that do not mean themselves in a frame, as far as its file says."""
    scope: Frame | None = frame
    found: set[str] = set()
    while scope is not None:
        if scope is frame or not isinstance(scope.node, ast.ClassDef):
            found.update(_bound(scope.node))
        scope = scope.closure
    module = frame.module
    if any(n.names[0].name == "*" for n in facts.nodes(ast.ImportFrom, module.node)):
        found.update(module.locals)  # of another file of the project
    return BUILTINS & (found | _global(facts, module.node))


def taken_modules(facts: Facts, modules: set[str]) -> set[str]:
    """Those of the named modules whose names the script binds at its top level to something else."""
    bound = {name for name, node in _bindings(facts.tree) if not _imports(node, name)}
    return modules & (bound | _global(facts, facts.tree))


def _imports(node: ast.AST, name: str) -> bool:
    """Whether a binding is the import of the module of that name."""
    return isinstance(node, ast.alias) and node.asname is None and node.name.partition(".")[0] == name


def _bound(scope: ast.AST) -> set[str]:
    return {name for name, _ in _bindings(scope)}


def _global(facts: Facts, tree: ast.AST) -> set[str]:
    """The module-level names that functions bind with `global`."""
    declared = {name for stmt in facts.nodes(ast.Global, tree) for name in stmt.names}
    if not declared:
        return declared
    functions = chain(facts.nodes(ast.FunctionDef, tree), facts.nodes(ast.AsyncFunctionDef, tree))
    return {name for function in functions for name in _declared(function) & _bound(function)}


def _declared(function: ast.AST) -> set[str]:
    return {name for stmt in ast.walk(function) if isinstance(stmt, ast.Global) for name in stmt.names}


def _bindings(scope: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that a module, a class or a function binds itself, each with the node that does.

    Those of list comprehensions too, which leave them behind on Python 2.
    """
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        arguments = scope.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        yield from ((a.arg, a) for a in every if a is not None)
    todo = children(scope)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node
            continue
        if isinstance(node, ast.Assign) and getattr(node.value, "id", "") in OLD:
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id, node
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, node
        elif isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
            yield from ((name, node) for name in STARS.get((node.module or "").partition(".")[0], ()))
        elif isinstance(node, ast.ImportFrom) and node.module in THEIR_OWN:
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            whole = isinstance(node, ast.Import)
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                yield name, alias if whole else node
            continue
        if not isinstance(node, ast.Lambda):
            todo += children(node)
