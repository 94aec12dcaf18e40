"""The state of one walk through a script, which executes it on stand-ins for its values.

Module top level, calls into the script's own functions and methods, closures and attributes are
followed in execution order by the modules of `python/`; what a library's functions do to a batch is known to the rules.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from converter.analysis import values
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Decisions, Effect, Facts, Key, Maybe
from converter.analysis.flow.constants import Constant as Written
from converter.analysis.flow.constants import written_once
from converter.analysis.flow.joined import left_out
from converter.analysis.flow.repeats import Endless, Repeats
from converter.analysis.flow.undo import UndoLog
from converter.analysis.frames import Access, Place
from converter.analysis.project import Project
from converter.analysis.tensors.sparse import PART
from converter.analysis.values import (
    Choice,
    Constant,
    Frame,
    Function,
    Host,
    Input,
    Instance,
    Number,
    Origin,
    Sequence,
    Site,
    Symbol,
    Tensor,
    Typed,
    Value,
    Variable,
    options_in,
)
from converter.dataclass import dataclass

MAX_STATEMENTS = 100_000  # executed in one walk, beside MAX_PER_LINE of the script and of what it imports
MAX_PER_LINE = 4
MAX_DEPTH = 24
Switch = tuple[object, bool]  # what tells a flag from others, and whether a condition asks for its being on
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass(frozen=True)
class Known:
    """Knowledge from before a walk: from the options and from earlier walks.

    decisions: expressions that are read as inputs, or are known to be none. traced: what a run told of calls, by
    their places. data: where examples enter the graph that are fed to no placeholder.
    statements: what is executed in place of statements that a conversion has written. open: constants of which
    conditions do not take the value that is written there. within: calls that take gradients which are a part of the
    model, as of an inner step of learning or of a penalty. python2: the script is read by the view of a Python 2 text.
    defined: names of helpers, whose definitions are left out of a conversion's text.
    """

    decisions: Decisions = field(default_factory=dict)
    traced: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[Key, int] = field(default_factory=dict)
    statements: Mapping[ast.stmt, Callable[[Walk, Any], str | None]] = field(default_factory=dict)
    open: frozenset[Written] = frozenset()
    within: frozenset[ast.AST] = frozenset()
    python2: bool = False
    defined: frozenset[str] = frozenset()


class Walk:
    """The state of one walk; the folder python/ does the work.

    evaluate: gives the value of an expression.
    """

    def __init__(
        self,
        path: str,
        tree: ast.Module,
        project: Project,
        known: Known,
        evaluate: Callable[[Walk, ast.expr], Value],
    ) -> None:
        self.module = Frame(tree, None, None)
        self.project, self.python2 = project, project.python2  # whether it is taken for Python 2 since it began
        self.modules: dict[str, Frame] = {}  # other files of the project, by path
        self.importing: list[Frame] = []  # those of them whose top level is being executed
        self.stars: dict[int, list[Symbol]] = {}  # frame of a file -> library modules of which it imports all names
        self.module.locals["__name__"] = Constant("__main__")
        self.module.locals["__file__"] = Constant(path)
        self.facts = Facts(
            path=path,
            tree=tree,
            module=self.module,
            project=project,
            data_axes=dict(known.data),
            decisions=known.decisions,
        )
        self.decisions = known.decisions
        self.traced = known.traced
        self.written, self.defined = known.statements, known.defined
        self.facts.open, self.facts.within = known.open, known.within
        self._evaluate = evaluate
        self.frame = self.module
        self.site: Site | None = None
        self.clock = self.executed = self.turning = 0  # turning: how many comprehensions are being evaluated
        self.most = MAX_STATEMENTS + MAX_PER_LINE * lines_of(tree)  # that may be executed
        self.graph_clock = 0  # goes on only when something enters the graph
        self.repeats = Repeats()
        self.noted: set[tuple[object, ...]] = set()  # accesses of the innermost comprehension
        self.stack: list[Function] = []  # those being executed; one closure of a decorator may call another
        self.entered: set[ast.AST] = set()
        self.alternatives: dict[ast.If, bool] = {}  # whether several branches of it train
        self.assumed: set[int] = set()  # uids of defaults that callers which are not seen may replace
        self.constants: dict[int, ast.stmt] = {}  # uids of values that are written out, and where
        self._written_once: dict[ast.AST, dict[ast.stmt, Written]] = {}  # by tree
        self.switch: Switch | None = None  # what the last condition asked for, if it was nothing but that
        self.taken: dict[object, bool] = {}  # switches that are not known, in the branches that they choose
        self.counted: Tensor | None = None  # whose rows the last condition compared with 1
        self.of_one_row: list[Tensor] = []  # that have a single row in the branches around the current statement
        self.by_switch: dict[int, tuple[object, dict[bool, Value]]] = {}  # uids of what a switch chose, and both
        self.given: list[tuple[frozenset[ast.AST], dict[str, Value]]] = []  # what scopes give to functions
        self.arms: dict[ast.AST, int] = {}  # what chooses what is evaluated in this frame, and which it is: Site.sides
        self.control: list[Value] = []
        self.partly: dict[tuple[Place, int], tuple[bool, bool, bool]] = {}  # what only some branches left, as in Maybe
        self.only: dict[tuple[Place, int], frozenset[Switch]] = {}  # how switches stand wherever a place has a value
        self.one_of: dict[int, Instance] = {}  # objects of one class, by uid, and those that stand for several classes
        self.maybe_none: set[int] = set()  # uids of values in whose place there may be None
        self.undo_log: UndoLog = []  # what attributes and items stood for before they were changed
        self.scopes: list[str] = []
        self.collections: dict[object, list[Value]] = {}
        self.flags = Typed("Flags", "app.flags.FLAGS", [], {}, None)
        self.settings = Typed("Settings", "", [], {}, None)  # what files of settings hold, by name
        self.filled: set[int] = set()  # uids of dicts and objects that were given entries which are not seen
        self.replaced: set[tuple[int, object]] = set()  # uids and keys of entries that such files may have replaced

    def count(self) -> None:
        """Counts one more statement, or turn of a comprehension.

        Raises:
            Endless: they are too many.
        """
        self.executed += 1
        if self.executed > self.most:
            raise Endless

    @contextmanager
    def in_arm(self, node: ast.AST, side: int) -> Iterator[None]:
        """Within it one of several is evaluated, of which a run has one: an arm of an expression, a function called."""
        outer, self.arms = self.arms, {**self.arms, node: side}
        try:
            yield
        finally:
            self.arms = outer

    @contextmanager
    def taking(self, switch: Switch | None, side: bool) -> Iterator[None]:
        """Within it a switch is as the side of a branch has it; side: whether its condition holds there."""
        if switch is None:
            yield
            return
        self.taken[switch[0]] = side is switch[1]
        try:
            yield
        finally:
            del self.taken[switch[0]]

    @contextmanager
    def having_one_row(self, tensor: Tensor | None) -> Iterator[None]:
        """Within it a batch has a single row."""
        given = [] if tensor is None else [tensor]
        self.of_one_row += given
        try:
            yield
        finally:
            del self.of_one_row[len(self.of_one_row) - len(given) :]

    def chosen_by(self, switch: Switch | None, one: Value | None, two: Value | None, made: Value) -> None:
        """Notes that a switch chose one of two objects or functions; one: that where its condition holds."""
        joined = isinstance(made, (Choice, Instance, Typed)) and made not in (one, two)
        if joined and switch is not None and one is not None and two is not None:
            self.by_switch[made.uid] = switch[0], {switch[1]: one, not switch[1]: two}

    def function_taken(self, value: Value) -> Value:
        """Of two functions or layers of which a switch chose one, that of the branch which is executed."""
        return value if isinstance(value, Instance) else self.as_taken(value)

    def options_taken(self, instance: Instance) -> tuple[Instance, ...]:
        """The objects of several classes that one stands for in the branch and the method which are executed."""
        self.one_of.update((each.uid, instance) for each in instance.options)
        taken = self.as_taken(instance)
        if isinstance(taken, Instance) and taken is not instance:
            return taken.options or (taken,)
        return options_in(self.frame, instance)

    def attribute_of(self, holder: Value, name: str) -> Place:
        """The place of an attribute; of an object that is one of several, where that which stands for all has it.

        There it was written, and there it has another value in each tower.
        """
        while isinstance(holder, Instance) and (whole := self.one_of.get(holder.uid)) is not None:
            if name not in whole.attributes or whole.attributes[name] is not holder.attributes.get(name):
                break
            holder = whole
        return Place("attr", holder.uid, name, holder=holder)

    def as_taken(self, value: Value) -> Value:
        """Of two objects of which a switch chose one, that of the branch which is executed; else the value itself."""
        while (found := self.by_switch.get(value.uid)) is not None and found[0] in self.taken:
            value = found[1][self.taken[found[0]]]
        return value

    # -- values ------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression, with where and when it was made."""
        return self._evaluate(self, node)

    def note_constant(self, stmt: ast.stmt, value: Value) -> None:
        """Notes the value of an assignment that writes it out, if nothing else binds that name."""
        tree = self.frame.module.node
        if tree not in self._written_once:
            self._written_once[tree] = written_once(tree, self.facts.path_of(stmt))
        constant = self._written_once[tree].get(stmt)
        if constant in self.facts.open:
            self.assumed.add(value.uid)
        elif constant is not None:
            self.constants[value.uid] = stmt
            self.facts.constants[stmt] = constant

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
            value.control = (*value.control, *self.control)
        value.scopes = tuple(self.scopes)
        self.facts.tensors.append(value)
        if isinstance(value, Variable):
            self.facts.variables.append(value)
        elif isinstance(value, Input):
            self.facts.inputs.append(value)

    def variables(self) -> list[Variable]:
        """The variables made so far; none of a branch that runs in place of the current statement."""
        sides = self.site.sides() if self.site is not None else {}
        if not sides:
            return [*self.facts.variables]
        return [v for v in self.facts.variables if v.site is None or not v.site.leaves_out(sides)]

    def is_partly_none(self, value: Value) -> bool:
        """Whether other branches leave None, or nothing, in the place of a value."""
        return value.uid in self.maybe_none or any(left_out(value))

    def host(self, inputs: Iterable[Value] = (), call: str = "", node: ast.AST | None = None) -> Host:
        """A value outside of the graph."""
        return Host(inputs, call, node)

    def origin(self, node: ast.AST, kind: str, name: str = "") -> Origin:
        """The identity of a number, and the name under which it enters the script; a flag is the same everywhere."""
        key = (kind, name) if kind == "flag" else self.facts.origin_of(node, kind).key
        if name:
            self.facts.origin_names.setdefault(key, set()).add(name)
        return Origin(node, key, name)

    # -- places ------------------------------------------------------------------------------

    def read(self, place: Place, value: Value, node: ast.AST) -> None:
        """Notes that a place is read."""
        self._access(place, value, node, write=False)

    def write(self, place: Place, value: Value, node: ast.AST) -> None:
        """Notes that a place is written."""
        self.only.pop((place, value.uid), None)
        self._access(place, value, node, write=True)
        if value.uid in self.maybe_none and isinstance(value, Tensor) and self.site is not None:
            self.facts.maybe.append(
                Maybe(place=place, value=value, unset=False, none=True, plain=False, site=self.site)
            )

    def _access(self, place: Place, value: Value, node: ast.AST, write: bool) -> None:
        if self.site is not None and not self._is_noted(place, value, node, write):
            self.clock += 1
            if write and place.holder is not None:
                self.facts.set_in.add(place.holder.uid)
            self.facts.accesses.append(
                Access(time=self.clock, place=place, value=value, site=self.site, node=node, write=write)
            )

    def _is_noted(self, place: Place, value: Value, node: ast.AST, write: bool) -> bool:
        """True if an earlier turn of the comprehension being executed accessed the same, or another plain value.

        Without this, what a comprehension over strings reads would be most of what is known of a program.
        """
        if self.site is None or not isinstance(self.frame.node, COMPREHENSIONS):
            return False
        plain = isinstance(value, Constant) and place.frame is self.frame
        key = (place, None if plain else value.uid, node, write, id(self.site))
        if self.repeats.comprehended and key in self.noted:
            return True
        self.noted.add(key)
        return False

    def effect(self, kind: EffectKind, name: str, value: Value | None, node: ast.AST) -> None:
        """Notes something that happens beside the values: a device, a session, a call that is not followed."""
        if self.site is not None:
            self.clock += 1
            self.facts.effects.append(
                Effect(kind=kind, name=name, value=value, node=node, site=self.site, time=self.clock)
            )

    def left_there(
        self, place: Place, one: Value | None, two: Value | None, switch: Switch | None
    ) -> tuple[Value | None, Value | None]:
        """What two branches leave in a place, without values that are there only where the other branch is taken.

        A function that is called again finds what it left under the same conditions: one branch replaces it, and where
        the other one is taken it was never made.
        """
        if switch is None:
            return one, two
        key, holds = switch
        return self._unless(place, one, (key, not holds)), self._unless(place, two, (key, holds))

    def _unless(self, place: Place, value: Value | None, switch: Switch) -> Value | None:
        """A value, or what is there in its place where a switch stands otherwise than where it was made."""
        if value is None or switch not in self.only.get((place, value.uid), ()):
            return value
        unset, none, plain = self.partly.get((place, value.uid), (False,) * 3)
        if plain or unset is none:
            return value
        return None if unset else Constant(None)

    def maybe(self, place: Place, one: Value | None, two: Value | None, joined: Value) -> None:
        """Notes a place in which some branches leave a value, and others nothing, None, or a value that is no tensor.

        Branches may be nested, as with `elif`: what is missing after an inner branch is missing after the outer one.
        """
        if one is two:
            return
        unset = none = plain = False
        for value in (one, two):
            before = self.partly.get((place, value.uid), (False,) * 3) if value is not None else (True, False, False)
            is_none = isinstance(value, Constant) and value.value is None
            other = not is_none and isinstance(value, (Constant, Number, Host, Sequence, values.Mapping))
            unset, none, plain = unset or before[0], none or before[1] or is_none, plain or before[2] or other
        if none:
            self._note_none(joined)
        plain &= isinstance(joined, Tensor)
        joined.maybe_other |= plain
        if (unset or none or plain) and self.site is not None:
            self.partly[place, joined.uid] = (unset, none, plain)
            if isinstance(joined, (Tensor, Sequence, values.Mapping, values.Instance)):
                self.facts.maybe.append(
                    Maybe(place=place, value=joined, unset=unset, none=none, plain=plain, site=self.site)
                )

    def note_only(
        self, place: Place, one: Value | None, two: Value | None, joined: Value, switch: Switch | None
    ) -> None:
        """Notes how switches stand wherever a place has what two branches leave there; switch: what chose of these."""
        found: list[frozenset[Switch]] = []
        for value, side in ((one, True), (two, False)):
            if value is not None and not values.is_none(value):
                chosen = frozenset() if switch is None else frozenset(((switch[0], side is switch[1]),))
                found.append(self.only.get((place, value.uid), frozenset()) | chosen)
        self.only[place, joined.uid] = frozenset.intersection(*found) if found else frozenset()

    def none_beside(self, one: Value, two: Value, joined: Value) -> None:
        """Notes a value in whose place another run of the script has None: `x if given else None`."""
        if values.is_none(one) != values.is_none(two):
            self._note_none(joined)

    def _note_none(self, value: Value) -> None:
        fed = isinstance(value, Input) or (isinstance(value, Tensor) and value.op == PART)
        if not fed and not isinstance(value, (Constant, Host)):
            self.maybe_none.add(value.uid)

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
        arms, self.arms = self.arms, {}
        try:
            yield
        finally:
            self.frame, self.arms = outer, arms


def lines_of(tree: ast.Module) -> int:
    """The lines of a file up to its last statement."""
    return (tree.body[-1].end_lineno or 0) if tree.body else 0
