"""Which expressions of a script are datasets, iterators of datasets, or tensors that an iterator gives."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum
from functools import cached_property
from typing import TypeGuard

from converter.analysis.traits import Trait, has
from converter.dataclass import dataclass
from converter.syntax.known import is_known
from converter.syntax.script import Script, argument, elements, is_on, names_read
from converter.targets.mirrored.elsewhere import definition

# Attributes of a dataset that are no dataset.
_NO_DATASETS = ("output_shapes", "output_types", "output_classes", "element_spec", "reduce", "cardinality")


class Kind(Enum):
    """The kind of value that an expression gives."""

    DATASET = "a dataset"
    ITERATOR = "an iterator"
    ELEMENT = "tensors"
    UNKNOWN = "something that is not followed"


@dataclass
class Body:
    """A function's statements, as far as they are about datasets.

    kinds: of its names at the end. made: the dataset behind an iterator's name, as an expression. taken: the
        statement that takes an element, by the iterator's expression. returns: its return statements.
    """

    kinds: dict[str, Kind] = field(default_factory=dict)
    made: dict[str, ast.expr] = field(default_factory=dict)
    returns: list[tuple[ast.Return, Kind]] = field(default_factory=list)


class Reader:
    """Follows datasets through the functions of one script, and of the files that it imports.

    folder: of the script that Python is started with; None: of this one.
    """

    def __init__(self, script: Script, folder: str | None = None) -> None:
        self.script = script
        self.folder = os.path.dirname(os.path.abspath(script.path)) if folder is None else folder
        self._open: list[ast.FunctionDef] = []
        self._others: dict[str, Reader] = {}

    def body(self, function: ast.FunctionDef, given: Mapping[str, Kind] | None = None) -> Body:
        """Follow the statements of a function that concern datasets; `given`: kinds of its parameters."""
        body = Body(dict(given or {}))
        self._open.append(function)
        self._run(function.body, body)
        self._open.pop()
        return body

    def kind(self, node: ast.expr, kinds: Mapping[str, Kind] | None = None) -> Kind:
        """The kind of an expression, given kinds of names; other names are looked up in the whole script."""
        kinds = kinds or {}
        if isinstance(node, ast.Name | ast.Attribute) and not self.script.name(node):
            if ast.unparse(node) in kinds:
                return kinds[ast.unparse(node)]
            name = ast.unparse(node)
            bound = self.script.bindings.get(name, [])
            if self._loaded.get(name) is False:
                return one_of({Kind.DATASET, *(self.kind(value, {**kinds, name: Kind.DATASET}) for value in bound)})
            first = [self.kind(value, {**kinds, name: Kind.UNKNOWN}) for value in bound[:1]]
            return one_of([*first, *(self.kind(value, {**kinds, name: first[0]}) for value in bound[1:])])
        if isinstance(node, ast.Subscript):
            held = self._loads(self.script.value(node.value)) or self._loaded.get(ast.unparse(node.value))
            return Kind.DATASET if held else Kind.UNKNOWN
        if isinstance(node, ast.IfExp):
            return one_of([self.kind(node.body, kinds), self.kind(node.orelse, kinds)])
        return self._call(node, kinds) if isinstance(node, ast.Call) else Kind.UNKNOWN

    def _loads(self, node: ast.expr) -> TypeGuard[ast.Call]:
        """True for tfds.load(...): one dataset, or several in a list or a dict (tensorflow_datasets 1 to 4)."""
        return isinstance(node, ast.Call) and self.script.name(node.func) == "tensorflow_datasets.load"

    @cached_property
    def _loaded(self) -> dict[str, bool]:
        """Names bound by tuples of tfds.load(...), each with whether it holds a dict or a list of datasets, not one.

        `train, test = tfds.load(…, split=[…])`, `(train, test), info = …`, `sets, info = tfds.load(…, with_info=True)`.
        """
        found: dict[str, bool] = {}
        for node in self.script.nodes(ast.Assign):
            if not self._loads(node.value):
                continue
            split, informed = argument(node.value, 1, "split"), _is_told(node.value, "with_info")
            listed = isinstance(split, ast.List | ast.Tuple)
            parts = [part for target in node.targets for part in elements(target)[: 1 if informed else None]]
            for part in parts if informed or listed else ():
                if isinstance(part, ast.Name):
                    found[part.id] = informed and (listed or split is None)
                found |= {one.id: False for one in elements(part) if isinstance(one, ast.Name)}
        return found

    def _call(self, call: ast.Call, kinds: Mapping[str, Kind]) -> Kind:
        name = self.script.name(call.func)
        if _makes_iterator(self.script, call.func):
            return Kind.ITERATOR
        if is_known(self.script, call.func, Trait.DATA_SET):
            return Kind.DATASET
        if self._loads(call):
            split = argument(call, 1, "split")
            several = split is None or isinstance(split, ast.List | ast.Tuple) or _is_told(call, "with_info")
            return Kind.UNKNOWN if several else Kind.DATASET
        if isinstance(call.func, ast.Attribute) and not name:
            owner, method = self.kind(call.func.value, kinds), call.func.attr
            if owner is Kind.DATASET and has(method, Trait.MAKES_ITERATOR):
                return Kind.ITERATOR
            if owner is Kind.ITERATOR and has(method, Trait.NEXT_BATCH):
                return Kind.ELEMENT
            return Kind.DATASET if owner is Kind.DATASET and method not in _NO_DATASETS else Kind.UNKNOWN
        reader, function = self._defined(call.func)
        if function is None or function in reader._open:
            return Kind.UNKNOWN
        return one_of(kind for _, kind in reader.body(function, self.passed(call, function, kinds)).returns)

    def passed(
        self, call: ast.Call, function: ast.FunctionDef, kinds: Mapping[str, Kind] | None = None
    ) -> dict[str, Kind]:
        """The kinds of the arguments of a call, by the function's parameters."""
        parameters = [arg.arg for arg in function.args.args]
        given = {name: self.kind(arg, kinds) for name, arg in zip(parameters, call.args, strict=False)}
        return given | {k.arg: self.kind(k.value, kinds) for k in call.keywords if k.arg}

    def _defined(self, called: ast.expr) -> tuple[Reader, ast.FunctionDef | None]:
        """The function that is called, and the reader of the file that defines it."""
        if isinstance(called, ast.Name) and not self.script.name(called):
            own = self.script.functions.get(called.id, [])
            if own:
                return self, own[0] if len(own) == 1 else None
        if not isinstance(called, ast.Name) and not self.script.name(called):
            return self, None
        found = definition(self.script, called, self.folder)
        return (self.of_file(found[0]), found[1]) if found is not None else (self, None)

    def of_file(self, script: Script) -> Reader:
        """The reader of another file."""
        if script is self.script:
            return self
        reader = self._others.setdefault(script.path, Reader(script, self.folder))
        reader._others = self._others
        return reader

    def _run(self, block: Iterable[ast.stmt], body: Body) -> None:
        for stmt in block:
            if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1:
                self._bind(stmt.targets[0], stmt.value, body)
            elif isinstance(stmt, ast.Return):
                body.returns.append((stmt, self._returned(stmt.value, body)))
            elif isinstance(stmt, ast.If | ast.For | ast.While | ast.With | ast.Try):
                before = dict(body.kinds)
                self._run(stmt.body, body)
                if isinstance(stmt, ast.If):
                    after, body.kinds = body.kinds, before
                    self._run(stmt.orelse, body)
                    body.kinds = {n: one_of([k, body.kinds.get(n, k)]) for n, k in {**body.kinds, **after}.items()}

    def _bind(self, target: ast.expr, value: ast.expr, body: Body) -> None:
        kind = self.kind(value, body.kinds)
        if isinstance(target, ast.Tuple) and kind is Kind.ELEMENT:
            body.kinds |= {ast.unparse(item): Kind.ELEMENT for item in target.elts}
        elif isinstance(target, ast.Name):
            body.kinds[target.id] = kind
            if kind is Kind.ITERATOR:
                body.made[target.id] = value

    def _returned(self, value: ast.expr | None, body: Body) -> Kind:
        if value is None:
            return Kind.UNKNOWN
        kind = self.kind(value, body.kinds)
        made_of = any(body.kinds.get(name) is Kind.ELEMENT for name in names_read(value))
        return Kind.ELEMENT if kind is Kind.UNKNOWN and made_of else kind


def _is_told(call: ast.Call, name: str) -> bool:
    """True if a call is given an argument of this name that is not False."""
    return is_on(argument(call, -1, name))


def one_of(kinds: Iterable[Kind]) -> Kind:
    """The kind of an expression that is one of several."""
    found = set(kinds)
    return found.pop() if len(found) == 1 else Kind.UNKNOWN


def _makes_iterator(script: Script, function: ast.expr) -> bool:
    """Whether a function of TensorFlow's makes an iterator of the data set that it is given."""
    made = has(script.name(function).rpartition(".")[2], Trait.MAKES_ITERATOR)
    return made and is_known(script, function, Trait.DATA_SET)


def is_iterator_call(node: ast.expr, script: Script) -> TypeGuard[ast.Call]:
    """Whether an expression makes an iterator of a dataset."""
    if not isinstance(node, ast.Call):
        return False
    if script.name(node.func):
        return _makes_iterator(script, node.func)
    return isinstance(node.func, ast.Attribute) and has(node.func.attr, Trait.MAKES_ITERATOR)


def dataset_of(iterator: ast.Call, script: Script) -> ast.expr:
    """The dataset that an iterator is made of."""
    if _makes_iterator(script, iterator.func):
        return iterator.args[0]
    assert isinstance(iterator.func, ast.Attribute)
    return iterator.func.value
