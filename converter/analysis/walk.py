"""Walks through the building of the graph: executes a script on stand-ins for its values.

Module top level, calls into the script's own functions and methods, closures and attributes are
followed in execution order. What TensorFlow's functions do to a batch is known to the rules.

Executing a statement evaluates expressions, evaluating a call executes statements: the modules of
this package that do so need each other, and import each other inside functions, when all are loaded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace

from converter.analysis import values
from converter.analysis.facts import Effect, Facts, Maybe
from converter.analysis.frames import Access, Frame, Place, Site
from converter.analysis.inputs.embedded_data import Key
from converter.analysis.inputs.feeds import SIZE, Decisions, is_zero_state
from converter.analysis.project import Project
from converter.analysis.python import statements
from converter.analysis.python.expressions import EVALUATE
from converter.analysis.python.joins import left_out
from converter.analysis.python.repeats import Endless, Repeats
from converter.analysis.undo import Journal
from converter.analysis.values import (
    FED,
    FREE,
    Class,
    Constant,
    Count,
    Function,
    Host,
    Input,
    Instance,
    Number,
    Origin,
    Sequence,
    ShapeOf,
    Tensor,
    Typed,
    Value,
    Variable,
    needed,
)

MAX_STATEMENTS = 100_000  # executed in one walk, beside MAX_PER_LINE of the script and of what it imports
MAX_PER_LINE = 4
MAX_DEPTH = 24


class Walk:
    """The state of one walk; the work is done in statements.py, expressions.py and calling.py."""

    def __init__(
        self, path: str, tree: ast.Module, decisions: Decisions, project: Project, traced: Mapping[str, str],
        data: Mapping[Key, int] | None = None,
    ) -> None:  # fmt: skip
        self.module = Frame(tree, None, None)
        self.project = project
        self.modules: dict[str, Frame] = {}  # other files of the project, by path
        self.importing: list[Frame] = []  # those of them whose top level is being executed
        self.module.locals["__name__"] = Constant("__main__")
        self.module.locals["__file__"] = Constant(path)
        self.facts = Facts(path, tree, self.module, project)
        self.decisions = decisions
        self.traced = traced
        self.data = data or {}  # where examples enter the graph that are fed to no placeholder
        self.frame = self.module
        self.site: Site | None = None
        self.clock = 0
        self.executed = 0
        self.most = MAX_STATEMENTS + MAX_PER_LINE * lines_of(tree)  # that may be executed
        self.graph_clock = 0  # goes on only when something enters the graph
        self.repeats = Repeats()
        self.stack: list[Function] = []  # those being executed; one closure of a decorator may call another
        self.entered: set[ast.AST] = set()
        self.alternatives: dict[ast.If, bool] = {}  # whether several branches of it train
        self.assumed: set[int] = set()  # uids of defaults that callers which are not seen may replace
        self.control: list[Value] = []
        self.partly: dict[tuple[Place, int], tuple[bool, bool, bool]] = {}  # what only some branches left, as in Maybe
        self.maybe_none: set[int] = set()  # uids of values in whose place there may be None
        self.journal: Journal = []  # what attributes and items stood for before they were changed
        self.scopes: list[str] = []
        self.collections: dict[object, list[Value]] = {}
        self.flags = Typed("Flags", "app.flags.FLAGS", [], {}, None)
        self.settings = Typed("Settings", "", [], {}, None)  # what files of settings hold, by name

    def run(self) -> Facts:
        """Executes the whole script; gives what was found."""
        assert isinstance(self.module.node, ast.Module)
        try:
            statements.execute_block(self, self.module.node.body)
        except Endless:
            self.facts.endless = self.facts.accesses[-1].node if self.facts.accesses else self.module.node
            return self.facts
        with suppress(Endless):  # what nobody calls is no part of the model
            self._enter_uncalled()
        cut = self.facts.cut
        self.facts.accesses = [replace(a, value=cut.get(a.value.uid, a.value)) for a in self.facts.accesses]
        return self.facts

    def count(self) -> None:
        """Counts one more statement, or turn of a comprehension.

        Raises:
            Endless: they are too many.
        """
        self.executed += 1
        if self.executed > self.most:
            raise Endless

    def enter_module(self, frame: Frame) -> None:
        """Executes the top level of another file of the project."""
        assert isinstance(frame.node, ast.Module)
        self.most += MAX_PER_LINE * lines_of(frame.node)
        self.importing.append(frame)
        with self.inside(frame):
            statements.execute_block(self, frame.node.body)
        self.importing.remove(frame)

    def _enter_uncalled(self) -> None:
        """Functions and classes that nobody called may be called by code that is not followed: read them too.

        Those that no other one mentions come first: they know what they hand to the others.
        """
        from converter.analysis.python.calling import call_with_unknowns, use_with_unknowns

        left = {
            name: value for name, value in self.module.locals.items()
            if isinstance(value, (Function, Class)) and value.node not in self.entered and not name.startswith("__")
        }  # fmt: skip
        mentions = {name: _names_in(value.node) for name, value in left.items()}
        for name in sorted(left, key=lambda name: any(name in m for other, m in mentions.items() if other != name)):
            value = left[name]
            if isinstance(value, Function) and value.node not in self.entered:
                call_with_unknowns(self, value)
            elif isinstance(value, Class) and value.node not in self.entered:
                use_with_unknowns(self, value)

    # -- values ------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression, with where and when it was made."""
        value = EVALUATE[type(node)](self, node)
        if self.decisions.get(node) == SIZE:
            return self._fed_size(value, node)
        if node in self.decisions and isinstance(value, Tensor):
            value = self._decided(value, self.decisions[node])
        elif node in self.decisions and isinstance(value, Sequence) and is_zero_state(node):
            value = self._decided_nest(value, self.decisions[node])
        elif node in self.decisions and isinstance(value, Sequence):
            for element in value.elements:  # what comes out of a queue together
                if isinstance(element, Input) and element.ambiguous:
                    self._decided(element, self.decisions[node])
        return self.stamp(value, node)

    def joined(self, value: Value, stmt: ast.stmt) -> Value:
        """What two branches of a statement leave of one name: an input, where the towers are to read it as one."""
        decided = stmt in self.decisions and value.site is None
        if decided and isinstance(value, Tensor) and value.batch.kind == "example":
            value = self._decided(value, self.decisions[stmt])
        made = value.site is None
        self.stamp(value, stmt)
        if made and isinstance(value, Instance):  # one of two objects
            for name, part in value.attributes.items():
                self.write(Place("attr", value.uid, name, holder=value), part, stmt)
        return value

    def _decided_nest(self, value: Sequence, axis: int | None) -> Sequence:
        """The state of a recurrent net that is fed: each of its tensors is an input."""
        elements: list[Value] = []
        for element in value.elements:
            if isinstance(element, Sequence):
                element = self._decided_nest(element, axis)
            elif isinstance(element, Tensor):
                size = [v for v in element.inputs if isinstance(v, Number)][:1]
                element = self._decided(element, axis)
                if isinstance(element, Input):
                    element.shape = Sequence(size)
            elements.append(element)
        return Sequence(elements, value.mutable, value.many).like(value)

    def _fed_size(self, value: Value, node: ast.expr) -> Number:
        """A placeholder for the number of examples: a batch size that is known when the graph runs."""
        origins = frozenset((self.origin(node, FED),))
        number = Number(None, origins, origins, (self.stamp(value, node),))
        self.facts.fed_sizes.append(number)
        self.stamp(number, node)
        return number

    def _decided(self, value: Tensor, axis: int | None) -> Tensor:
        """A placeholder, or a tensor that is fed in a placeholder's stead, as what is fed to it tells."""
        if not isinstance(value, Input):
            fed = Input("fed", value.dims, _fixed_shape(value), "")
            fed.inputs, value = (value,), fed
        value.ambiguous = False
        if axis is not None:
            value.shard(axis)
        else:
            value.batch, value.roots = FREE, frozenset()
        return value

    def stamp(self, value: Value, node: ast.AST) -> Value:
        """Notes where and when a value was made, unless it is known."""
        if value.site is not None or self.site is None:
            return value
        self.clock += 1
        value.site, value.time = self.site, self.clock
        if isinstance(value, Tensor):
            self._enter_graph(value, node)
        for part in value.parts():
            if part.site is None:
                self.stamp(part, node)
        return value

    def _enter_graph(self, value: Tensor, node: ast.AST) -> None:
        self.graph_clock += 1
        if value.node is None:
            value.node = node
        if self.control:
            value.inputs = (*value.inputs, *self.control)
            value.control = tuple(self.control)
        value.scopes = tuple(self.scopes)
        self.facts.tensors.append(value)
        if isinstance(value, Variable):
            self.facts.variables.append(value)
        elif isinstance(value, Input):
            self.facts.inputs.append(value)

    def is_partly_none(self, value: Value) -> bool:
        """Whether other branches leave None, or nothing, in the place of a value."""
        return value.uid in self.maybe_none or any(left_out(value))

    def host(self, inputs: Iterable[Value] = (), call: str = "", node: ast.AST | None = None) -> Host:
        """A value outside of the graph."""
        return Host(inputs, call, node)

    def origin(self, node: ast.AST, kind: str, name: str = "") -> Origin:
        """The identity of a number in the source: the same for each execution of the same expression."""
        key: tuple[object, ...]
        if kind == "flag":
            key = (kind, name)
        else:
            file = self.facts.foreign.get(node, "")
            key = (kind, file, getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        origin = Origin(node, key, name)
        if name:
            self.facts.origin_names.setdefault(key, set()).add(name)
        return origin

    # -- places ------------------------------------------------------------------------------

    def read(self, place: Place, value: Value, node: ast.AST) -> None:
        """Notes that a place is read."""
        self._access(place, value, node, write=False)

    def write(self, place: Place, value: Value, node: ast.AST) -> None:
        """Notes that a place is written."""
        self._access(place, value, node, write=True)
        if value.uid in self.maybe_none and isinstance(value, Tensor) and self.site is not None:
            self.facts.maybe.append(Maybe(place, value, False, True, False, self.site))

    def _access(self, place: Place, value: Value, node: ast.AST, write: bool) -> None:
        if self.site is not None:
            self.clock += 1
            self.facts.accesses.append(Access(self.clock, place, value, self.site, node, write))

    def effect(self, kind: str, name: str, value: Value | None, node: ast.AST) -> None:
        """Notes something that happens beside the values: a device, a session, a call that is not followed."""
        if self.site is not None:
            self.clock += 1
            self.facts.effects.append(Effect(kind, name, value, node, self.site, self.clock))

    def maybe(self, place: Place, one: Value | None, two: Value | None, joined: Value) -> None:
        """Notes a place in which some branches leave a value and others nothing, None, or what is no tensor.

        Each branch may have branches of its own, as `elif` has: what these left out is left out of the whole, too.
        """
        if one is two:
            return
        unset = none = plain = False
        for value in (one, two):
            before = self.partly.get((place, value.uid), (False,) * 3) if value is not None else (True, False, False)
            is_none = isinstance(value, Constant) and value.value is None
            other = not is_none and isinstance(value, (Constant, Number, Host, Sequence, values.Mapping))
            unset, none, plain = unset or before[0], none or before[1] or is_none, plain or before[2] or other
        plain &= isinstance(joined, Tensor)
        if none and not isinstance(joined, (Constant, Host, Input)):
            self.maybe_none.add(joined.uid)
        if (unset or none or plain) and self.site is not None:
            self.partly[place, joined.uid] = (unset, none, plain)
            if isinstance(joined, (Tensor, Sequence, values.Mapping)):
                self.facts.maybe.append(Maybe(place, joined, unset, none, plain, self.site))

    # -- where we are ------------------------------------------------------------------------

    @contextmanager
    def at(self, stmt: ast.stmt, parent: Site | None) -> Iterator[None]:
        """While a statement is executed: values and accesses are noted as made by it."""
        outer, self.site = self.site, Site(self.frame, stmt, parent, tuple(self.scopes))
        try:
            yield
        finally:
            self.site = outer

    @contextmanager
    def inside(self, frame: Frame) -> Iterator[None]:
        """While the body of a frame is executed: names are looked up and bound in it."""
        outer, self.frame = self.frame, frame
        try:
            yield
        finally:
            self.frame = outer


def _fixed_shape(value: Tensor) -> Value | None:
    """The shape of the inputs that a tensor is made of, where it has their fixed number of rows; else None."""
    inputs = [root for root in value.roots if isinstance(root, Input)]
    measured = any(isinstance(v, (Count, ShapeOf)) for v in needed([value]).values())
    return inputs[0].shape if inputs and all(map(_is_fixed, inputs)) and not measured else None


def _is_fixed(value: Input) -> bool:
    """Whether TensorFlow knows an input's whole shape; it does so of what comes out of a queue."""
    entries = value.shape.elements if isinstance(value.shape, Sequence) else []
    rows = bool(entries) and isinstance(entries[0], Number) and entries[0].value != -1
    return rows and (value.op.startswith("train.") or (value.dims is not None and None not in value.dims[1:]))


def lines_of(tree: ast.Module) -> int:
    """The lines of a file up to its last statement."""
    return (tree.body[-1].end_lineno or 0) if tree.body else 0


def _names_in(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
