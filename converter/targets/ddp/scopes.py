"""Where the names of a script are bound, followed through the parameters of its functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from converter.dataclass import dataclass
from converter.syntax.script import Script, argument, elements, nodes_of, parameters, parts_of, plain_name

_LOOPS = (ast.For, ast.While)
Scope = ast.FunctionDef | None  # None: the module


@dataclass(frozen=True)
class ScopedName:
    """A name of a function, or of the module."""

    scope: Scope
    name: str


@dataclass(frozen=True)
class Binding:
    """A statement that gives a name its value.

    value: None where that is no expression of its own (loop, with, augmented assignment). place: which of the
    value's elements the name gets, None for all of it.
    """

    stmt: ast.stmt
    value: ast.expr | None
    place: int | None = None


@dataclass
class Scopes:
    """The functions of a script with what they bind and who calls them."""

    script: Script

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """Functions that are no methods, by names that only one has."""
        found: dict[str, list[ast.FunctionDef]] = {}
        for node in self.script.nodes(ast.FunctionDef):
            if self.script.class_around(node) is None:
                found.setdefault(node.name, []).append(node)
        return {name: some[0] for name, some in found.items() if len(some) == 1}

    def scope(self, node: ast.AST) -> Scope:
        """The function in whose body a node runs."""
        return self.script.function(node)

    def called(self, call: ast.AST | None) -> ast.FunctionDef | None:
        """The script's own function that a call runs; None for anything else."""
        return self.functions.get(plain_name(call))

    def calls_of(self, function: ast.FunctionDef) -> list[ast.Call]:
        """The calls of one of the script's functions."""
        return [call for call in self.script.calls if self.called(call) is function]

    @cached_property
    def bindings(self) -> dict[ScopedName, list[Binding]]:
        """All that is bound, parameters excepted."""
        found: dict[ScopedName, list[Binding]] = {}
        for node in ast.walk(self.script.tree):
            if isinstance(node, ast.stmt):
                scope = self.scope(node)
                shared = self._shared(scope)
                for name, binding in _bound(node):
                    where = None if name in shared else scope
                    found.setdefault(ScopedName(where, name), []).append(binding)
        return found

    def _shared(self, scope: Scope) -> set[str]:
        """Names that a function declares as the module's."""
        nodes = ast.walk(scope) if scope else ()
        return {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}

    def home(self, name: ast.Name) -> ScopedName:
        """Where a name is bound as it stands: a local, a parameter, a name of a function around, or the module's."""
        scope = self.scope(name)
        while scope is not None:
            origin = ScopedName(scope, name.id)
            if name.id in parameters(scope) or origin in self.bindings:
                return origin
            scope = self.scope(scope)
        return ScopedName(None, name.id)

    def origins(self, node: ast.expr) -> set[ScopedName]:
        """The expressions that give a name its value, through parameters to calls' arguments; empty for other names."""
        found: set[ScopedName] = set()
        todo, seen = [node], set[ScopedName]()
        while todo:
            one = todo.pop()
            if not isinstance(one, ast.Name):
                continue
            home = self.home(one)
            if home in seen:
                continue
            seen.add(home)
            if home.scope is None or home.name not in parameters(home.scope):
                found.add(home)
                continue
            given = [self.given(call, home.scope, home.name) for call in self.calls_of(home.scope)]
            if not given or not all(isinstance(value, ast.Name) for value in given):
                found.add(home)
            todo += [value for value in given if isinstance(value, ast.Name)]
        return found

    def given(self, call: ast.Call, function: ast.FunctionDef, name: str) -> ast.expr | None:
        """The argument that a call gives for a parameter."""
        places = [one.arg for one in [*function.args.posonlyargs, *function.args.args]]
        return argument(call, places.index(name) if name in places else -1, name)

    def values(self, origin: ScopedName) -> list[Binding]:
        """The values that a name can have, followed through functions that return it."""
        found = []
        for binding in self.bindings.get(origin, []):
            value = binding.value
            function = self.called(value)
            returned = self._returned(function, binding.place) if function else None
            if returned is None:
                found.append(binding)
            elif isinstance(returned, ast.Name):
                found += [inner for one in self.origins(returned) for inner in self.values(one)]
            else:
                found.append(Binding(self.script.statement(returned), returned))
        return found

    def bound(self, node: ast.expr) -> list[Binding]:
        """The values that an expression can have which is a name; none for another one."""
        return [binding for origin in self.origins(node) for binding in self.values(origin)]

    def calls_behind(self, node: ast.expr) -> list[ast.Call]:
        """The calls that make the values of a name."""
        return [binding.value for binding in self.bound(node) if isinstance(binding.value, ast.Call)]

    def _returned(self, function: ast.FunctionDef, place: int | None) -> ast.expr | None:
        """The expression that a function with a single return returns."""
        found = [n.value for n in nodes_of(ast.Return, function) if self.scope(n) is function]
        if len(found) != 1:
            return None
        if place is None:
            return found[0]
        parts = elements(found[0])
        return parts[place] if isinstance(found[0], ast.Tuple) and place < len(parts) else None

    def loops(self, node: ast.AST) -> list[ast.For | ast.While]:
        """The loops around a node in its function, innermost first."""
        found: list[ast.For | ast.While] = []
        for one in self.script.above(node):
            if isinstance(one, ast.FunctionDef | ast.ClassDef):
                break
            if isinstance(one, _LOOPS):
                found.append(one)
        return found


def _bound(node: ast.stmt) -> Iterator[tuple[str, Binding]]:
    """The names that a statement itself binds."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _targets(node, target, node.value)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from _targets(node, node.target, node.value)
    elif isinstance(node, ast.AugAssign | ast.For):
        yield from _targets(node, node.target, None)
    elif isinstance(node, ast.With):
        for item in node.items:
            if item.optional_vars is not None:
                yield from _targets(node, item.optional_vars, None)
    expressions = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    for inner in nodes_of(ast.NamedExpr, *expressions):
        yield inner.target.id, Binding(node, inner.value)


def _targets(node: ast.stmt, target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, Binding]]:
    for part, given, place in parts_of(target, target if value is None else value):
        while isinstance(part, ast.Starred):
            part, place = part.value, -1
        if isinstance(part, ast.Name):
            known = value is not None and place != -1
            yield part.id, Binding(node, given, place) if known else Binding(node, None)
