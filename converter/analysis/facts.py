"""The results of a walk: plain records for the planner."""

from __future__ import annotations

import ast
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import field
from enum import Enum
from functools import cached_property
from itertools import chain
from typing import TypeVar

from converter.analysis.counts.size_names import named_batch
from converter.analysis.counts.terms import Terms
from converter.analysis.effects import EffectKind
from converter.analysis.flow.constants import Constant, Taken
from converter.analysis.frames import Access, Place
from converter.analysis.nodes import Node, Nodes
from converter.analysis.project import FoundModule, Project
from converter.analysis.values import (
    Frame,
    Host,
    Input,
    Number,
    Origin,
    Sequence,
    Site,
    Tensor,
    Typed,
    Value,
    Variable,
    built_from,
    needed,
)
from converter.dataclass import dataclass
from converter.source.project.above import seen_from

Key = tuple[ast.AST, str]  # the operation that data goes into, and by which of its arguments
End = tuple[ast.stmt, ast.expr, set[Place]]  # a statement that may end a loop, its condition, and what that reads
# by the uid of an array, and from where it is read: how deep it was followed, and its rows
KnownRows = dict[tuple[int, frozenset[Site]], tuple[int, Number | None]]
By = TypeVar("By")
SIZE, OWN = -1, -2
# expression, or a statement that joins branches -> batch axis, None: shared, SIZE: the number of the examples, OWN:
# each tower has an input of its own
Decisions = dict[ast.AST, int | None]


@dataclass(frozen=True)
class GraphOperand:
    """Data of Python that an operation of the graph takes.

    meets: the other operand of the operation. columns: True if a matrix is multiplied with the data from the left.
    summed: for a product of matrices, the axis of the other operand that is summed over, counted from the end.
    """

    key: Key
    value: Value
    meets: Value | None = None
    columns: bool = False
    summed: int | None = None


class StepKind(Enum):
    """How a script asks for gradients."""

    MINIMIZE = "minimize"
    COMPUTE = "compute_gradients"
    GRADIENTS = "gradients"
    FUNCTION = "a function that builds the whole training step"


@dataclass(frozen=True)
class TrainStep:
    """Where gradients are taken.

    function: the name of the function or method that is called for them. loss_node: the loss as that call is given
    it, None where it is not written there. result: what it gives. given: the gradient of the loss that the others
    begin with, where the call is given one (`grad_ys`, `grad_loss`). stops: what they end at (`stop_gradients`).
    """

    kind: StepKind
    function: str
    loss: Tensor
    optimizer: Value | None
    call: ast.Call
    site: Site
    time: int
    loss_node: ast.expr | None
    variables: Value | None
    result: Tensor
    given: Value | None = None
    stops: Value | None = None
    chosen: bool = False  # the loss is one of several of which a branch chooses

    @cached_property
    def behind(self) -> Mapping[int, Value]:
        """All values that the loss is computed from, as it is once the walk is over."""
        return built_from([self.loss])


@dataclass(frozen=True)
class Mapped:
    """What a function that a data set is given makes of one of its elements: `Dataset.map`, `Dataset.filter`.

    size: behind `batch`, where an element is a whole batch, the number of its rows; None for single examples. given:
    the tensors of the element. made: what the function returns.
    """

    size: Value | None
    given: tuple[Value, ...]
    made: Value
    call: ast.Call


@dataclass(frozen=True)
class RateSite:
    """Where an optimizer, or a function that makes one, is given its learning rate.

    call: the call. name: the function that is called. rate: the rate as it is written in the call, None for none.
    value: the rate, as far as it is followed. passed: whether the call has arguments that are not written in it
    (functools.partial, **settings).
    """

    call: ast.Call
    name: str
    rate: ast.expr | None
    value: Value | None
    passed: bool


def gradients_in_losses(steps: Iterable[TrainStep]) -> frozenset[ast.AST]:
    """The calls whose gradients the loss of another step is computed from: no steps, but parts of a model.

    What only waits for a step, or comes after one, is not computed from its gradients.
    """
    taken = {s.result.uid: s for s in steps if s.kind in (StepKind.COMPUTE, StepKind.GRADIENTS)}
    found: set[ast.AST] = set()
    for step in steps if taken else ():
        todo: list[Value] = [step.loss]
        seen: set[int] = set()
        while todo:
            value = todo.pop()
            if value.uid in seen or isinstance(value, Input) or (isinstance(value, Tensor) and value.op == "train op"):
                continue
            seen.add(value.uid)
            if value.uid in taken and taken[value.uid] is not step:
                found.add(taken[value.uid].call)
            todo += [*(value.operands if isinstance(value, Tensor) else value.inputs), *value.parts()]
    return frozenset(found)


def behind_losses(steps: Iterable[TrainStep]) -> Mapping[int, Value]:
    """All values that the losses of some steps are computed from, as they are once the walk is over."""
    steps = [*steps]
    if len(steps) == 1:
        return steps[0].behind
    return {uid: value for step in reversed(steps) for uid, value in step.behind.items()}


@dataclass(frozen=True)
class RunCall:
    """A `session.run`, or a call such as `tensor.eval` that does the same.

    handle: for a partial run, its handle; the feeds then include the feeds of the parts before this one.
    feed_node: the argument that gives the feeds, None if there is none.
    unseen: feeds that something makes which is not followed.
    """

    call: ast.Call
    site: Site
    fetches: tuple[Value, ...]
    feeds: tuple[tuple[Value, Value], ...]
    time: int
    handle: Value | None = None
    feed_node: ast.expr | None = None
    unseen: tuple[Value, ...] = ()

    @cached_property
    def behind(self) -> dict[int, Value]:
        """Everything that the fetches are computed from, as it is once the walk is over."""
        return built_from(self.fetches)

    @cached_property
    def fed(self) -> Mapping[int, Value]:
        """Everything that the feeds are computed from, as it is once the walk is over."""
        return needed(value for _, value in self.feeds)

    def computes(self, uids: Set[int]) -> bool:
        """Whether the run computes one of these values."""
        return any(uid in self.behind for uid in uids)  # of which there are few


@dataclass(frozen=True)
class Threaded:
    """A call that makes a thread; what the thread runs is followed between two times of the walk."""

    call: ast.Call
    site: Site
    begin: int
    end: int

    def makes(self, run: RunCall) -> bool:
        """Whether the thread makes this run."""
        return self.begin < run.time <= self.end


@dataclass(frozen=True)
class StepNumber:
    """An argument of a call of the library that counts training steps: `decay_steps`, `save_steps`.

    function: TensorFlow's name of what is called. node: the argument as it is written. value: what it is.
    counter: what a schedule takes for the number of the step; None for what TensorFlow counts itself.
    """

    function: str
    node: ast.expr
    value: Value
    counter: Value | None


@dataclass(frozen=True)
class SessionSite:
    """A call that makes a session, and the config it is given; keyword: the name of that argument.

    creator: TensorFlow's name of what must be given there with the config in it, "" where it is the config itself.
    """

    call: ast.Call
    site: Site
    name: str
    config: Value | None
    config_node: ast.expr | None
    keyword: str = "config"
    creator: str = ""


@dataclass(frozen=True)
class Effect:
    """Something done to the graph beside returning a value."""

    kind: EffectKind
    name: str
    value: Value | None
    node: ast.AST
    site: Site
    time: int


@dataclass(frozen=True)
class Maybe:
    """A value that only some branches of a condition leave in a place.

    unset: after the other branches nothing may be there. none: None may be there. plain: a value that is no tensor
    may be there.
    """

    place: Place
    value: Value
    unset: bool
    none: bool
    plain: bool
    site: Site


def _components(yielded: Value) -> Iterator[Value]:
    """The components of what a generator gives each time: of a tuple its parts, else itself."""
    for each in yielded.elements if isinstance(yielded, Sequence) else ():
        yield from each.elements if isinstance(each, Sequence) and not each.mutable else (each,)


@dataclass(frozen=True)
class FlagDefinition:
    """`parser.add_argument('--batch_size', …)`, `tf.app.flags.DEFINE_integer('batch_size', …)`.

    parser: of argparse, by its number; 0 if it is not known. fallback: the value of its default, None where it has none
    or is not known. choices: the texts of which the user may give one, where the definition lists them.
    """

    name: str
    call: ast.Call
    site: Site
    style: str  # "argparse" | "flags"
    time: int = 0
    parser: int = 0
    fallback: object = None
    choices: tuple[str, ...] = ()

    @property
    def words(self) -> dict[str | None, ast.expr]:
        """What the definition is given by names."""
        return {keyword.arg: keyword.value for keyword in self.call.keywords}

    @property
    def default(self) -> ast.expr | None:
        """The expression of the default, where one is written."""
        positional = self.call.args[1] if self.style == "flags" and len(self.call.args) > 1 else None
        return self.words.get("default", self.words.get("default_value", positional))


@dataclass(frozen=True)
class Fallback:
    """What a flag or another setting is where the user does not give it: `default=BATCH_SIZE`.

    setting: the key of the setting's origin. node: the expression of its default.
    """

    setting: tuple[object, ...]
    node: ast.expr


@dataclass(frozen=True)
class LocalModule:
    """Another file of the project: its bytes, syntax tree, and the frame of its execution."""

    data: bytes
    tree: ast.Module
    frame: Frame


def grouped(accesses: Iterable[Access], key: Callable[[Access], By]) -> Mapping[By, list[Access]]:
    """The reads and writes by a key of each, in their order."""
    found = defaultdict[By, list[Access]](list)
    for access in accesses:
        found[key(access)].append(access)
    return found


@dataclass
class Facts:
    """All that the planner knows about a script."""

    path: str
    tree: ast.Module
    module: Frame
    project: Project
    data_axes: dict[Key, int] = field(default_factory=dict)  # data that is read as inputs, along which axes
    decisions: Decisions = field(default_factory=dict)  # how expressions were read as inputs
    may_be_single: set[ast.Assign] = field(default_factory=set)  # what sets a batch size to 1 in a branch
    single: set[ast.Assign] = field(default_factory=set)  # those that were left out of account: one tower takes them
    accesses: list[Access] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    train_steps: list[TrainStep] = field(default_factory=list)
    step_numbers: list[StepNumber] = field(default_factory=list)
    rates: list[RateSite] = field(default_factory=list)  # in the order in which optimizers are made
    runs: list[RunCall] = field(default_factory=list)
    data: list[GraphOperand] = field(default_factory=list)  # arrays, lists and constants on their way into the graph
    beside: list[GraphOperand] = field(default_factory=list)  # what tensors are set against, element by element
    cut: dict[int, Input] = field(default_factory=dict)  # uid of an array or a list -> the input that it is
    operands: dict[ast.AST, dict[Site | None, list[Value]]] = field(default_factory=dict)  # numbers that are used
    by_row: set[ast.AST] = field(default_factory=set)  # Python code that makes a row of each row of an input
    told_by_position: bool = False  # entries of a list of the graph's variables are picked by their places
    called: frozenset[ast.AST] = frozenset()  # the functions and classes that a run of the script comes to
    endless: ast.AST | None = None  # where the walk gave up: more statements were executed than may be
    uncut: str = ""  # why data that the training steps take from the graph cannot be cut
    named: list[tuple[Tensor, str, ast.AST]] = field(default_factory=list)  # asked for by their names: name, where
    threads: list[Threaded] = field(default_factory=list)
    sessions: list[SessionSite] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    effects_by_kind: dict[EffectKind, list[Effect]] = field(default_factory=dict)  # of those that were asked for so far
    maybe: list[Maybe] = field(default_factory=list)
    flags: list[FlagDefinition] = field(default_factory=list)
    fallbacks: list[Fallback] = field(default_factory=list)  # the defaults of flags and other settings
    namespaces: list[tuple[Typed, Site]] = field(default_factory=list)  # parsed argparse results
    parsers: dict[int, int] = field(default_factory=dict)  # the parser of each of these, both by their numbers
    batch_sizes: list[tuple[Number | Host | Input, str, ast.AST]] = field(default_factory=list)  # value, why, where
    size_keys: set[tuple[object, ...]] = field(default_factory=set)  # keys of the numbers in the first `keyed` of these
    keyed: int = 0
    mapped: list[Mapped] = field(default_factory=list)  # in the order in which data sets are given functions
    regrouped: dict[int, tuple[Value, ...]] = field(default_factory=dict)  # uid of a data set of which no element
    # depends on how large the batches were that it is made of -> all else that it is made of
    yielded: dict[int, Value] = field(default_factory=dict)  # uid of a data set -> what the generator behind it gives
    fed_sizes: list[Number] = field(default_factory=list)  # numbers of examples that are fed
    counted: list[Number] = field(default_factory=list)  # what stands for the batch in shapes that the model writes
    set_shapes: list[tuple[Tensor, Value, ast.AST, Site]] = field(default_factory=list)  # how many rows, and where
    divided: list[Origin] = field(default_factory=list)  # named as batch sizes: sums divided by them are means
    results: dict[tuple[int, ast.AST], Value] = field(default_factory=dict)  # uid of a frame, a call in it -> its value
    given_to_host: set[int] = field(default_factory=set)  # uids of what calls took that gave no tensors
    several_rows: set[int] = field(default_factory=set)  # uids of `tf.range(2 * n)`, n examples
    grown: set[int] = field(default_factory=set)  # uids of arrays filled until all examples of a tower are done
    set_in: set[int] = field(default_factory=set)  # uids of values of which an entry or an attribute was set
    turned: dict[Site, Value] = field(default_factory=dict)  # for loops -> what they go over
    comprehended: list[tuple[ast.expr, Value]] = field(default_factory=list)  # the same for comprehensions
    turns: dict[Site, list[int]] = field(default_factory=dict)  # loops -> the times at which their turns began
    sides: dict[Site, set[bool]] = field(default_factory=dict)  # conditions -> the branches that were followed
    returned: set[ast.AST] = field(default_factory=set)  # return statements that a run may come to
    iterators: set[int] = field(default_factory=set)  # uids of map(…), zip(…), (… for …): read once, then empty
    generators: set[int] = field(default_factory=set)  # uids of what generator functions of the script give
    listed: dict[int, Value] = field(default_factory=dict)  # uid of a list, a comprehension's -> what it goes over
    zipped: dict[int, list[Value]] = field(default_factory=dict)  # uid of what zip() gives -> what it goes over
    unpacked: dict[int, tuple[Value, ...]] = field(default_factory=dict)  # `[*rows, row]` -> `rows`, a 1 for each row
    ranges: dict[int, list[Value]] = field(default_factory=dict)  # uid of what range() gives -> its arguments
    range_calls: dict[int, ast.Call] = field(default_factory=dict)  # uid of a range -> the call that made it
    origin_names: dict[tuple[object, ...], set[str]] = field(default_factory=dict)
    unfollowed: list[ast.Call] = field(default_factory=list)  # calls into code that is not followed
    foreign: dict[ast.AST, str] = field(default_factory=dict)  # nodes of other files of the project -> path
    open: frozenset[Constant] = frozenset()  # constants of which conditions do not take the value that is written
    within: frozenset[ast.AST] = frozenset()  # calls that take gradients which are a part of the model
    constants: dict[ast.stmt, Constant] = field(default_factory=dict)  # the others, by where they are written
    decided: dict[ast.If | ast.IfExp, Taken] = field(default_factory=dict)  # conditions that rest on them
    modules: dict[str, LocalModule] = field(default_factory=dict)  # those files, by path
    found: dict[tuple[str, str], tuple[FoundModule, ast.AST]] = field(default_factory=dict)  # by dotted name and folder
    made_of: dict[int, Mapping[int, Value]] = field(default_factory=dict)  # uid -> what `behind` gave for it
    named_for: dict[int, frozenset[Origin]] = field(default_factory=dict)  # uid of what is fed -> named batch sizes
    rows: dict[tuple[Site, bool], KnownRows] = field(default_factory=dict)  # see arrays.rows
    below: dict[frozenset[ast.stmt], list[Access]] = field(default_factory=dict)  # see writes_below
    terms: dict[tuple[int, frozenset[Origin], Site], Terms] = field(default_factory=dict)  # see arrays.rows
    spans: dict[int, Number | None] = field(default_factory=dict)  # uid of a slice's bounds -> rows that it takes
    blocks: dict[tuple[int, int], object] = field(default_factory=dict)  # see block_of in planner/region/block.py
    repeated: dict[tuple[ast.AST, ast.AST], bool] = field(default_factory=dict)  # reader, loop: see planner/own
    names_set: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)  # of loops that were asked for
    ends: dict[ast.stmt, list[End]] = field(default_factory=dict)  # of loops that were asked for
    imports: dict[str, dict[str, str]] = field(default_factory=dict)  # by path: name -> TensorFlow's ("" is the top)

    def keys_of_sizes(self) -> set[tuple[object, ...]]:
        """The keys of the numbers that are batch sizes, as far as the walk has come."""
        for size, _, _ in self.batch_sizes[self.keyed :]:
            self.size_keys.update(origin.key for origin in (size.factors() if isinstance(size, Number) else ()))
        self.keyed = len(self.batch_sizes)
        return self.size_keys

    def effects_of(self, kind: EffectKind) -> Iterator[Effect]:
        """The effects of a kind, in the order of the walk."""
        for effect in self.effects[sum(map(len, self.effects_by_kind.values())) :]:
            self.effects_by_kind.setdefault(effect.kind, []).append(effect)
        return iter(self.effects_by_kind.get(kind, ()))

    @cached_property
    def changes_by_value(self) -> Mapping[int, list[Effect]]:
        """The places where code changes a list, a dict or another object, by its uid, once the walk is over."""
        found: dict[int, list[Effect]] = {}
        for effect in self.effects_of(EffectKind.MUTATION):
            if effect.value is not None:
                found.setdefault(effect.value.uid, []).append(effect)
        return found

    def changes_of(self, value: Value) -> list[Effect]:
        """The places where code changes a list, a dict or another object, in the order of the walk."""
        return self.changes_by_value.get(value.uid, [])

    def flags_named(self, name: object) -> list[FlagDefinition]:
        """The definitions of a flag, by the attribute under which it is read."""
        return [flag for flag in self.flags if flag.name.lstrip("-").replace("-", "_") == name]

    def path_of(self, node: ast.AST) -> str:
        """The file that a node stands in: "" for the script itself."""
        return self.foreign.get(node, "")

    def shown(self, node: ast.AST) -> str:
        """The path of a node's file as the user would write it, beside the script's own."""
        path = self.path_of(node)
        return seen_from(os.path.dirname(self.path), path) if path else self.path

    def trees(self) -> list[ast.Module]:
        """The syntax trees of the script and of the files that it imports."""
        return [self.tree, *(module.tree for module in self.modules.values())]

    def tree_of(self, path: str) -> ast.Module:
        """The syntax tree of a file: "" for the script itself."""
        return self.modules[path].tree if path else self.tree

    def nodes(self, kind: type[Node], tree: ast.AST | None = None) -> Iterator[Node]:
        """The nodes of a kind, of one of the trees or of all of them, from the top of each down."""
        found = self.walked.values() if tree is None else [self.walked[tree]]
        return chain.from_iterable(nodes.of(kind) for nodes in found)

    @cached_property
    def walked(self) -> dict[ast.AST, Nodes]:
        """The nodes of each tree."""
        return {tree: Nodes(tree) for tree in self.trees()}

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """For each node of the trees, but contexts and operators, the one that it is a part of."""
        return {node: parent for nodes in self.walked.values() for node, parent in nodes.parents.items()}

    @cached_property
    def read_or_written(self) -> Mapping[ast.AST, Value]:
        """What each node read or wrote when it was last walked."""
        return {access.node: access.value for access in self.accesses}

    @cached_property
    def places_read(self) -> Mapping[ast.AST, set[Place]]:
        """The places that each node read, once the walk is over."""
        return {node: {a.place for a in all_of if not a.write} for node, all_of in self.accesses_by_node.items()}

    @cached_property
    def accesses_by_node(self) -> Mapping[ast.AST, list[Access]]:
        """The reads and writes of each node, as they are once the walk is over."""
        return grouped(self.accesses, lambda access: access.node)

    @cached_property
    def numbers(self) -> list[tuple[Access, Number]]:
        """The reads and writes of numbers, in the order of the walk, once that is over."""
        return [(access, access.value) for access in self.accesses if isinstance(access.value, Number)]

    def operands_of(self, node: ast.AST, within: Site | None = None) -> list[Value]:
        """The numbers that an expression was, where it was computed with or compared; within: the place around."""
        met = self.operands.get(node, {})
        sites = (site for site in met if within is None or (site is not None and within in site.chain()))
        return [value for site in sites for value in met[site]]

    def accesses_at(self, node: ast.AST) -> list[Access]:
        """The reads and writes of a node, in the order of the walk."""
        return self.accesses_by_node.get(node, [])

    @cached_property
    def accesses_by_value(self) -> Mapping[int, list[Access]]:
        """The reads and writes of each value, by its uid, as they are once the walk is over."""
        return grouped(self.accesses, lambda access: access.value.uid)

    @cached_property
    def accesses_by_site(self) -> Iterable[tuple[Site, list[tuple[int, Access]]]]:
        """The reads and writes at each site, numbered in the order of the walk: one look at the site tells for all."""
        found: dict[int, tuple[Site, list[tuple[int, Access]]]] = {}
        for number, access in enumerate(self.accesses):
            found.setdefault(id(access.site), (access.site, []))[1].append((number, access))
        return found.values()

    def writes_below(self, stmts: frozenset[ast.stmt]) -> list[Access]:
        """The writes below some statements, looked up once the walk is over."""
        if stmts not in self.below:
            found = [a for a in self.accesses if a.write and any(around.stmt in stmts for around in a.site.chain())]
            self.below[stmts] = found
        return self.below[stmts]

    @cached_property
    def accesses_by_frame(self) -> Mapping[Frame, list[tuple[Site, list[tuple[int, Access]]]]]:
        """As `accesses_by_site`, of the sites in each execution of a function or file, and in what it calls."""
        found = defaultdict[Frame, list[tuple[Site, list[tuple[int, Access]]]]](list)
        for site, accesses in self.accesses_by_site:
            for frame in dict.fromkeys(step.frame for step in site.chain()):
                found[frame].append((site, accesses))
        return found

    @cached_property
    def frames_by_node(self) -> Mapping[ast.AST, dict[Frame, None]]:
        """The executions of each function and file, in their order."""
        found = defaultdict[ast.AST, dict[Frame, None]](dict)
        for site, _ in self.accesses_by_site:
            found[site.frame.node].setdefault(site.frame)
        return found

    @cached_property
    def writes_by_place(self) -> Mapping[Place, list[Access]]:
        """The writes of each place, as they are once the walk is over."""
        return grouped((access for access in self.accesses if access.write), lambda access: access.place)

    @cached_property
    def filled_by_name(self) -> Mapping[Place, tuple[int, Sequence]]:
        """For each name the first list with elements that code changes, once the walk is over; before it its access."""
        found: dict[Place, tuple[int, Sequence]] = {}
        for number, access in enumerate(self.accesses):
            value = access.value if access.place.kind == "name" else None
            if isinstance(value, Sequence) and value.elements and self.changes_of(value):
                found.setdefault(access.place, (number, value))
        return found

    def accesses_of(self, value: Value) -> list[Access]:
        """The reads and writes of a value, in the order of the walk."""
        return self.accesses_by_value.get(value.uid, [])

    def looks_into(self, value: Value) -> Iterator[Access]:
        """The reads of a list or dict that may see what it holds: all but those that fill it, `names.append(name)`."""
        filled = {
            id(effect.node.func.value)
            for effect in self.changes_by_value.get(value.uid, ())
            if isinstance(effect.node, ast.Call) and isinstance(effect.node.func, ast.Attribute)
        }
        for access in self.accesses_of(value):
            if not access.write and not (id(access.node) in filled and isinstance(access.site.stmt, ast.Expr)):
                yield access

    @cached_property
    def _results_by_node(self) -> Mapping[ast.AST, list[Value]]:
        found = defaultdict[ast.AST, list[Value]](list)
        for (_, node), value in self.results.items():
            found[node].append(value)
        return found

    def results_of(self, call: ast.AST) -> list[Value]:
        """What a call gave in each frame, once the walk is over."""
        return self._results_by_node.get(call, [])

    def runs_of(self, steps: Iterable[TrainStep]) -> list[RunCall]:
        """The runs that take one of these training steps."""
        trained = {step.result.uid for step in steps}
        return [run for run in self.runs if run.computes(trained)]

    def writes_to(self, place: Place) -> list[Access]:
        """The writes of a place, in the order of the walk."""
        return self.writes_by_place.get(place, [])

    @cached_property
    def _item_writes(self) -> Mapping[int, list[Access]]:
        writes = (a for a in self.accesses if a.write and a.place.kind == "item" and a.place.holder is not None)
        return grouped(writes, lambda access: access.place.owner)

    def item_writes(self, holder: Value) -> list[Access]:
        """The writes of items of a value, in the order of the walk."""
        return self._item_writes.get(holder.uid, [])

    @cached_property
    def selections(self) -> dict[ast.AST, ast.Attribute | ast.Subscript]:
        """For each expression `x` in `x.name` or `x[key]`, the whole expression."""
        nodes: Iterator[ast.Attribute | ast.Subscript] = chain(self.nodes(ast.Attribute), self.nodes(ast.Subscript))
        return {node.value: node for node in nodes}

    @cached_property
    def handed_over(self) -> set[ast.AST]:
        """The parts of what generators give to their callers, and of what is put into lists by `append`."""
        appends = (c for c in self.nodes(ast.Call) if isinstance(c.func, ast.Attribute) and c.func.attr == "append")
        given = chain(self.nodes(ast.Yield), (part for call in appends for part in call.args))
        return {node for part in given for node in ast.walk(part)}

    @cached_property
    def measured(self) -> set[ast.AST]:
        """Expressions whose length is asked for: `layers` in `len(layers)`."""
        calls = (c for c in self.nodes(ast.Call) if isinstance(c.func, ast.Name) and c.func.id == "len")
        return {arg for call in calls for arg in call.args}

    def yielded_for(self, inputs: Iterable[Input]) -> list[tuple[Input, Value]]:
        """What generators of the script give for inputs that come from data sets of them: each with all components."""
        given = (
            (one, self.yielded[uid])
            for one in inputs
            if self.yielded
            for uid in needed(one.inputs).keys() & self.yielded
        )
        return [(one, part) for one, made in given for part in _components(made)]

    def frame_of(self, path: str) -> Frame:
        """The frame in which a file's top level was executed."""
        return self.modules[path].frame if path else self.module

    def origin_of(self, node: ast.AST, kind: str = "literal") -> Origin:
        """The identity of a number in the source: the same for each execution of the same expression."""
        return Origin(node, (kind, self.path_of(node), getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))

    def behind(self, value: Value) -> Mapping[int, Value]:
        """Everything that a value is computed from, as it is once the walk is over."""
        if value.uid not in self.made_of:
            self.made_of[value.uid] = needed([value])
        return self.made_of[value.uid]

    def names_of(self, origin: Origin) -> set[str]:
        """The names in the script under which a number is known."""
        return self.origin_names.get(origin.key, set())

    def named_sizes(self, numbers: Iterable[Origin]) -> set[Origin]:
        """Those numbers that the script names as a batch size: where several may be one, their names decide."""
        return {origin for origin in numbers if named_batch(self.names_of(origin))}
