"""A program of the package `keras`: its script, the files that it imports, and which of their code is run."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property

from converter.analysis.traits import Trait, has
from converter.dataclass import dataclass
from converter.diagnostics import Refusal
from converter.source import parse, read
from converter.source.project.above import imported_files, seen_from
from converter.source.viewed import viewed
from converter.syntax.script import Script, argument, called_name, elements, is_spread
from converter.targets.mirrored.elsewhere import definition
from converter.targets.mirrored.keras import compiled_models

_MOST_STEPS = 6  # through functions and parameters, from a model that is trained to the call that makes it

Place = tuple[Script, ast.expr]
Stop = Callable[[Script, ast.expr], bool]


@dataclass(frozen=True)
class Program:
    """The files of a program, its script first."""

    files: tuple[Script, ...]

    @property
    def main(self) -> Script:
        """The script that is started."""
        return self.files[0]

    @cached_property
    def folder(self) -> str:
        """The folder of the script, where all files look for modules."""
        return os.path.dirname(os.path.abspath(self.main.path))

    @cached_property
    def _run(self) -> set[ast.AST]:
        """The functions of imported files that are named in code which is run, one through the other."""
        found: set[ast.AST] = set()
        named = {name for node in ast.walk(self.main.tree) for name in _named(node)}
        for file in self.files[1:]:
            named |= {name for stmt in file.tree.body for node in _outside_functions(stmt) for name in _named(node)}
        others = [(file, function) for file in self.files[1:] for function in file.nodes(ast.FunctionDef)]
        while new := [one for file, one in others if one not in found and _is_named(file, one, named)]:
            found.update(new)
            named |= {name for function in new for node in ast.walk(function) for name in _named(node)}
        return found

    def runs(self, file: Script, node: ast.AST) -> bool:
        """Whether code may be run: all of the script, of other files the functions that running code names."""
        function = file.function(node)
        return file is self.main or function is None or function in self._run

    def calls(self) -> Iterator[tuple[Script, ast.Call]]:
        """The calls that may be run, with their files."""
        return ((file, call) for file in self.files for call in file.calls if self.runs(file, call))

    @cached_property
    def trainings(self) -> list[tuple[Script, ast.Call]]:
        """The calls that train a model of Keras, in code that runs."""
        return [
            (file, call)
            for file, call in self.calls()
            if isinstance(call.func, ast.Attribute)
            and has(file.method(call), Trait.FITS_MODEL)
            and is_model(self, file, call.func.value)
        ]

    def classes(self, name: str) -> Iterator[tuple[Script, ast.ClassDef]]:
        """The classes of this name, with their files."""
        return ((file, node) for file in self.files for node in file.nodes(ast.ClassDef) if node.name == name)

    def definition(self, file: Script, function: ast.expr) -> tuple[Script, ast.FunctionDef] | None:
        """The function of the program that an expression calls, and its file."""
        found = definition(file, function, self.folder)
        return found if found is not None and found[0] in self.files else None

    def origins(self, file: Script, node: ast.expr, stop: Stop, steps: int = _MOST_STEPS) -> Iterator[Place]:
        """The expressions that an expression may stand for, through names, parameters and what functions return.

        stop: whether an expression is not followed further. What cannot be followed stands for itself.
        """
        found: list[Place] = []
        if steps and not stop(file, node):
            found = [(file, value) for value in file.bound(node)] or list(self._given(file, node))
            found = found or list(self._of_object(file, node))
            found = list(self._returned(file, node)) if isinstance(node, ast.Call) else found
        if not found:
            yield file, node
        for where, value in found:
            yield from self.origins(where, value, stop, steps - 1)

    def _given(self, file: Script, node: ast.expr) -> Iterator[Place]:
        """If a name is a parameter of its function: the arguments that calls of the function pass for it."""
        function = file.function(node)
        if function is None or not isinstance(node, ast.Name):
            return
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
        if node.id not in names:
            return
        around = file.class_around(function)
        made = around.name if around is not None else ""
        for where, call in self.calls():
            if is_spread(call) or not self._calls(where, call, function, made):
                continue
            place = names.index(node.id) - (names[0] == "self")
            given = argument(call, place, node.id)
            if given is not None:
                yield where, given

    def _calls(self, file: Script, call: ast.Call, function: ast.FunctionDef, made: str) -> bool:
        """Whether a call is one of a function; made: the class that holds it, whose constructor is called by its name.

        A class below that one calls its constructor by `super().__init__(…)`.
        """
        called = called_name(call)
        if function.name == "__init__":
            around = file.class_around(call)
            return called == made or (called == "__init__" and around is not None and made in _bases(around))
        found = self.definition(file, call.func) if called == function.name else None
        return found is not None and found[1] is function

    def _of_object(self, file: Script, node: ast.expr) -> Iterator[Place]:
        """The values that a class assigns to `self.x`, for a read of x in a subclass or on an object of the class."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return
        if node.value.id == "self":
            around = file.class_around(node)
            names = _bases(around) if around is not None else []
        else:
            makers = (value.func for value in file.bound(node.value) if isinstance(value, ast.Call))
            names = [ast.unparse(one).rpartition(".")[2] for one in makers]
        for where, one in (pair for name in dict.fromkeys(names) for pair in self.classes(name)):
            values = where.bindings.get(f"self.{node.attr}", [])
            yield from ((where, value) for value in values if one in where.above(value))

    def _returned(self, file: Script, call: ast.Call) -> Iterator[Place]:
        found = self.definition(file, call.func)
        if found is not None:
            yield from ((found[0], value) for value in found[0].returned(found[1]))


def program_of(script: Script) -> Program:
    """The program of a script; files that cannot be read are left out."""
    folder, found = os.path.dirname(script.path), [script]
    script.files[os.path.abspath(script.path)] = script
    for path in imported_files(script.path, script.tree):
        with suppress(Refusal):
            source = viewed(read(seen_from(folder, path)))
            found.append(Script(source.path, source.text, parse(source), files=script.files))
            script.files[os.path.abspath(source.path)] = found[-1]
    return Program(tuple(found))


def _bases(node: ast.ClassDef) -> list[str]:
    """The names of the classes that a class is derived from."""
    return [ast.unparse(base).rpartition(".")[2] for base in node.bases]


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.ImportFrom):
        yield from (alias.name for alias in node.names if alias.name != "*")


def _outside_functions(stmt: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that run where its file is imported."""
    if isinstance(stmt, ast.FunctionDef | ast.Import | ast.ImportFrom):
        return
    if isinstance(stmt, ast.ClassDef):
        for inner in stmt.body:
            yield from _outside_functions(inner)
        return
    if isinstance(stmt, ast.If) and ast.unparse(stmt.test).startswith("__name__ =="):
        return
    yield from ast.walk(stmt)


def _is_named(file: Script, function: ast.FunctionDef, named: set[str]) -> bool:
    """Whether running code names a function; the methods with names of Python's own run with their class."""
    if not function.name.startswith("__"):
        return function.name in named
    around = file.class_around(function)
    return around is None or around.name in named


def is_model(program: Program, file: Script, model: ast.expr) -> bool:
    """Whether an expression is a model that the program compiles."""

    def is_compiled(where: Script, node: ast.expr) -> bool:
        return any(last(part) in compiled_in(where) for part in elements(node) or [node])

    return any(is_compiled(*place) for place in program.origins(file, model, is_compiled))


def compiled_in(file: Script) -> set[str]:
    """The last parts of the names of models that a file compiles: `model` of `self.model.compile(…)`."""
    return set(map(last, compiled_models(file)))


def last(node: ast.expr) -> str:
    """The last part of a dotted name, "" for another expression."""
    return ast.unparse(node).rpartition(".")[2] if isinstance(node, ast.Name | ast.Attribute) else ""
