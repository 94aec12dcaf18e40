"""Stand-ins for the values of a script while it builds its graph.

The walk (walk.py) runs the script on these stand-ins instead of on TensorFlow. Each value knows
what it was made from (`inputs`) and where (`site`), so that the planner can ask which statements
lie between a batch and a loss.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from dataclasses import field
from functools import cached_property
from itertools import count
from math import inf
from typing import Literal

from converter.analysis.reasons import Why
from converter.analysis.traits import Trait, has
from converter.dataclass import dataclass

_uids = count(1)
_frames = count(1)

Kind = Literal["free", "example", "reduced", "opaque"]
How = Literal["mean", "sum", "other"]
Factor = int | str | None  # of an axis: a number, one that is known by a name alone, or one that is not known
Axis = tuple[Factor, ...]  # the product of its factors, of which the last counts fastest
Shape = tuple[Axis, ...]
Lengths = tuple[Factor, ...] | None  # of axes, None inside for one that is not known

BATCH = "batch"  # the factor that is the number of examples
OPEN = "open"  # how the names of lengths begin that TensorFlow does not know while it builds the graph
OF_SHARD = "steps of a shard"  # how the names of lengths begin that the longest sequence of a tower's own shard tells
ROWS: Axis = (BATCH,)  # an axis with one entry for each example


@dataclass(frozen=True)
class Batch:
    """How a tensor depends on the batch.

    kind: "free" not at all; "example" it has one entry (or a fixed number) for each example along
        `axis`; "reduced" examples were combined, as `how` says; "opaque" it depends on the batch
        in a way that the analysis does not know.
    rows: for "example", the factors of this axis, of which the batch is one (`tensors/factors.py`).
    per: for a sum, the origins of the numbers it was divided by: a sum over the examples divided
        by the batch size is a mean.
    affine: for a sum, True where a term that does not depend on the batch was added.
    over: for a mean, what it is taken over where that is not the examples; for examples, what
        counts the rows where each example has any number of them.
    why: for "other" and "opaque", the reason. about: the call or the value that the reason speaks of.
    """

    kind: Kind = "free"
    axis: int = 0
    rows: Axis = ROWS
    how: How = "mean"
    per: frozenset[Origin] = frozenset()
    affine: bool = False
    why: Why | None = None
    about: str = ""
    over: Counted | None = None

    @property
    def packed(self) -> Literal["", "major", "minor"]:
        """What else lies along the axis of examples.

        "" nothing, one row an example; "major" several rows for each example, example after example (the towers' parts
        can be concatenated); "minor" several rows in another order (they cannot).
        """
        return "" if self.rows == ROWS else "major" if self.rows[:1] == ROWS else "minor"

    @property
    def reason(self) -> str:
        """The reason in words, "" where there is none."""
        return self.why.value.format(self.about) if self.why is not None else ""


class Told(int):
    """The length of an axis that a number of the script says, or a list that is written out; by: that value."""

    by: Value


def told_by(length: int, by: Value) -> Told:
    """A length that a value says."""
    made = Told(length)
    made.by = by
    return made


@dataclass(frozen=True)
class Counted:
    """The denominator of a masked mean.

    how: "value" by the tensor itself, a sum over the examples; "mean" by the tensor times the
        number of examples; "sum" by the sum of its elements; "nonzero" by the number of those that
        are not zero; "rows" by its length.
    """

    tensor: Tensor
    how: Literal["value", "mean", "sum", "nonzero", "rows"]


FREE = Batch()
OPEN_ENDED = "decoder without a given end"  # the op of what has as many steps as the longest output of a shard
ARRAY = "TensorArray"  # the op of a tensor array: its tensor stands for one of the elements
STATE = "state"  # of a tensor that is the state of a cell, or a part of it
EXAMPLE = "number of an example"  # the op of the counter of a loop that takes one example after the other
STATES = "states"  # of a tensor that may be a list or tuple of several: the state of a cell that is not known
ENTRIES = "NamespaceDict"  # the kind of an object that is the dict of parsed arguments: `vars(args)`
KEPT_PROPERTY = "kept property"  # a property of a class that is computed once for each object
OPTIMIZER = "Optimizer"  # the kind of an optimizer, of the library or of a class of the script that is derived from one
ATTRIBUTES = "attribute dict"  # the kind of a namespace whose attributes are its items, too
MEMBER = "Enum member"  # the kind of a member of an enumeration of the script
COLLECTION = "collection "  # what begins the op that stands for all that a collection holds unseen
LISTED = "listed variables"  # the op that stands in a list of the graph's variables for all that are not seen


def opaque(why: Why, about: str = "") -> Batch:
    """A batch that is not followed any further, and why; about: the call or value that the reason names."""
    return Batch("opaque", why=why, about=about)


def other(why: Why, about: str = "") -> Batch:
    """A batch that was reduced, but by no mean and no sum, and why; about: the call or value that the reason names."""
    return Batch("reduced", how="other", why=why, about=about)


@dataclass(frozen=True)
class Origin:
    """The expression at which a number enters the script: a literal, a flag, an argument."""

    node: ast.AST = field(compare=False)
    key: tuple[object, ...]
    name: str = ""
    path: str = ""

    @property
    def line(self) -> int:
        """The line in the source, 0 where there is none."""
        return getattr(self.node, "lineno", 0)


FED = "fed"  # the kind of an origin, and the op of an input, that is known when the graph runs


class Value:
    """Anything. By itself: a host object that the analysis knows nothing of.

    maybe_other: some branch has a value of another kind in its place.
    """

    __slots__ = ("inputs", "label", "maybe_other", "roots", "site", "time", "uid")

    def __init__(self, inputs: Iterable[Value] = ()) -> None:
        self.uid = next(_uids)
        self.inputs = tuple(inputs)
        self.site: Site | None = None
        self.time = 0
        self.label = ""
        self.maybe_other = False
        self.roots: frozenset[Value] = _roots(self.inputs)  # the sharded inputs that it depends on

    @property
    def source(self) -> Value | None:
        """The first value that it was made of: the function called, the object that it is a method or an entry of.

        None for what was made of nothing; what a script puts into it later is younger than it is.
        """
        return self.inputs[0] if self.inputs and self.inputs[0].uid < self.uid else None

    def parts(self) -> Iterator[Value]:
        """The values that this one holds; none for most."""
        return iter(())


def _roots(inputs: Iterable[Value]) -> frozenset[Value]:
    roots: frozenset[Value] = frozenset()
    for value in inputs:
        found = value.roots
        if isinstance(value, (Sequence, Mapping)):
            found = found | _held(value)  # it may have been filled since it was made
        if found and found is not roots:
            roots = roots | found if roots else found
    return roots


def _held(whole: Value) -> frozenset[Value]:
    """The inputs that the parts of a container depend on, at any depth; a container may hold itself."""
    roots: frozenset[Value] = frozenset()
    seen, todo = {whole.uid}, [whole]
    while todo:
        for part in todo.pop().parts():
            if part.roots and part.roots is not roots:
                roots = roots | part.roots if roots else part.roots
            if isinstance(part, (Sequence, Mapping)) and part.uid not in seen:
                seen.add(part.uid)
                todo.append(part)
    return roots


class Host(Value):
    """A Python object that is not followed; `call` names the function that returned it.

    either: the values of which it is one, where branches leave data by other numbers; it looks as the first of them.
    operands: what it was made of. `inputs` has behind these what was put into it since, as `rows[0] = row` does.
    """

    __slots__ = ("call", "either", "node", "operands")

    def __init__(self, inputs: Iterable[Value] = (), call: str = "", node: ast.AST | None = None) -> None:
        super().__init__(inputs)
        self.call = call
        self.node = node
        self.operands = self.inputs
        self.either: tuple[Value, ...] = ()

    def parts(self) -> Iterator[Value]:
        """The values that it is one of; none where it is no choice."""
        return iter(self.either)


class Constant(Value):
    """A Python constant that is not a number: a string, None, a boolean, bytes."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class Absent(Value):
    """The result of asking for an attribute or a key that is not there.

    unheld: there may not even be a dict that could have it.
    """

    __slots__ = ("unheld",)

    def __init__(self, unheld: bool = False) -> None:
        super().__init__()
        self.unheld = unheld


LARGEST = 2**1000  # of all numbers that are followed: larger ones count as unknown, so that each fits a float
SCALES = ("multiply", "divide", "int")  # operators of Python whose result grows with their first number


class Number(Value):
    """A Python number: its value where known, and the origins it was computed from.

    linear: the origins that it is a multiple of: scaling one of them scales the number.
    chosen: it is one of its inputs, and only a run can tell which.
    op: what computed it from its inputs: the name of an operator or of a function; "" where that is not followed.
    turn: of a number that a loop counts by, what is the same for all numbers of its range; 0 for any other number.
    branching: of a chosen one, what is the same for all that the branches of one `if` leave, in their order; 0 else.
    """

    __slots__ = ("branching", "chosen", "linear", "op", "origins", "turn", "value")

    def __init__(
        self,
        value: int | float | None,
        origins: frozenset[Origin] = frozenset(),
        linear: frozenset[Origin] = frozenset(),
        inputs: Iterable[Value] = (),
        chosen: bool = False,
    ) -> None:
        super().__init__(inputs)
        self.value = value if value is None or -LARGEST < value < LARGEST else None
        self.op = ""
        self.turn = 0
        self.branching = 0
        self.origins = origins
        self.linear = linear
        self.chosen = chosen

    def options(self) -> Iterator[Value]:
        """The values that it is one of: itself, where it is no choice, or all of them are multiples of one number."""
        ahead: list[Value] = [self]
        while ahead:
            one = ahead.pop()
            if isinstance(one, Number) and one.chosen and one.inputs and not one.linear:
                ahead += one.inputs[::-1]
            else:
                yield one

    def factors(self) -> frozenset[Origin]:
        """The origins that it is a multiple of; those of each branch that may choose it, if all have some."""
        numbers = [v for v in self.inputs if isinstance(v, Number)] if self.op in SCALES else []
        if not all(v.linear for v in numbers):
            first, *others = numbers
            if self.op == "multiply":
                return self.linear.union(first.factors(), *(other.factors() for other in others))
            return self.linear | first.factors().difference(*(other.origins for other in others))
        found: set[Origin] = set()
        for one in self.options():
            if not isinstance(one, Number) or not one.linear:
                return frozenset()
            found |= one.linear
        return frozenset(found)


def grows_with(value: object, sizes: Collection[Origin]) -> bool:
    """Whether a value is a number, and a multiple of one of these; of one that a branch chooses, in each branch."""
    if not isinstance(value, Number):
        return False
    return all(isinstance(one, Number) and not one.linear.isdisjoint(sizes) for one in value.options())


def grows_by_key(value: object, keys: Container[tuple[object, ...]]) -> bool:
    """The same for the keys of those numbers."""
    origins = value.origins if isinstance(value, Number) else ()
    return grows_with(value, {origin for origin in origins if origin.key in keys})


class Length(Number):
    """The length of an axis of a tensor, which is not that of the examples; factor: how shapes know it."""

    __slots__ = ("factor",)

    def __init__(self, value: int | None, shape: ShapeOf, factor: Factor) -> None:
        super().__init__(value, inputs=(shape,))
        if value is not None or shape.tensor.batch.kind != "opaque":  # of what is followed it is that of each example
            self.roots = frozenset()
        self.factor = factor

    @property
    def is_open(self) -> bool:
        """Whether TensorFlow does not know it while it builds the graph: `x.shape[1]` is None."""
        return isinstance(self.factor, str) and self.factor.startswith(OPEN)


class Count(Value):
    """A number of examples read off a tensor: `tf.shape(x)[0]`, `x.get_shape()[0]`."""

    __slots__ = ("scaled", "tensor")

    def __init__(self, tensor: Value, inputs: Iterable[Value] = (), scaled: bool = False) -> None:
        super().__init__((*inputs, tensor))
        self.tensor = tensor
        self.scaled = scaled  # a multiple or a fraction of it


class Tensor(Value):
    """A tensor or operation of the graph.

    lengths: those of its axes, None where their number is not known; that of the examples is told by its batch.
    """

    __slots__ = ("_lengths", "batch", "control", "node", "op", "scopes")

    def __init__(
        self,
        batch: Batch = FREE,
        inputs: Iterable[Value] = (),
        lengths: Lengths = None,
        op: str = "",
        node: ast.AST | None = None,
    ) -> None:
        super().__init__(inputs)
        self.batch = batch
        self._lengths = lengths
        self.op = op
        self.node = node
        self.scopes: tuple[str, ...] = ()
        self.control: tuple[Value, ...] = ()  # the last of its inputs, which it waits for

    @property
    def operands(self) -> tuple[Value, ...]:
        """The inputs that it is computed from; it may wait for one of them, too."""
        waits = self.control if self.inputs[len(self.inputs) - len(self.control) :] == self.control else ()
        return self.inputs[: len(self.inputs) - len(waits)]

    @property
    def lengths(self) -> Lengths:
        """The length of each axis: a number, or a name that stands for the same one in each tensor that has it."""
        if self._lengths is None or None not in self._lengths:
            return self._lengths
        return tuple(f"{self.uid}.{i}" if length is None else length for i, length in enumerate(self._lengths))

    @lengths.setter
    def lengths(self, lengths: Lengths) -> None:
        self._lengths = lengths

    @property
    def dims(self) -> tuple[int | None, ...] | None:
        """The lengths that are known as numbers, None inside for others."""
        if self._lengths is None:
            return None
        return tuple(length if isinstance(length, int) else None for length in self._lengths)

    @property
    def axes(self) -> Shape | None:
        """Each axis as a product of factors, of which the batch is one; None where their number is not known."""
        rows = self.batch.axis if self.batch.kind == "example" else None
        if self.lengths is None:
            return None
        return tuple(self.batch.rows if i == rows else (length,) for i, length in enumerate(self.lengths))

    @property
    def rank(self) -> int | None:
        """The number of axes, None where it is not known."""
        return None if self._lengths is None else len(self._lengths)


class Input(Tensor):
    """A tensor through which batches enter: a placeholder, an iterator's or a queue's output."""

    __slots__ = ("ambiguous", "dtype", "entries", "shape")

    def __init__(self, op: str, lengths: Lengths, shape: Value | None, dtype: str) -> None:
        super().__init__(FREE, (), lengths, op)
        self.shape = shape
        self.dtype = dtype
        self.ambiguous = False
        self.entries: dict[str, Tensor] = {}  # where it is a dict of what came in together, those that were read

    def leave_open(self, written: Iterable[Value]) -> None:
        """Names the lengths for which the script writes None: a run alone tells them."""
        self.lengths = tuple(
            f"{OPEN} {self.uid}.{i}" if is_none(entry) else length
            for i, (entry, length) in enumerate(zip(written, self._lengths or (), strict=False))
        )

    def another(self) -> Input:
        """Another component of the same batch: images and labels of one get_next()."""
        made = Input(self.op, None, self.shape if has(self.op, Trait.FROM_QUEUE) else None, "")
        if self.batch.kind == "example":
            made.shard(0)
        elif self.is_own:
            made.own()
        made.inputs = self.inputs
        return made

    @property
    def is_own(self) -> bool:
        """Whether each tower has an input of its own in its place, for an example that has a shape of its own."""
        return self.batch.why is Why.OWN

    @property
    def is_batch(self) -> bool:
        """Whether each tower gets something else of it: its rows, or an example of its own."""
        return self.batch.kind == "example" or self.is_own

    def shard(self, axis: int) -> None:
        """Marks it as cut among the towers along an axis."""
        self.batch = Batch("example", axis)
        self.roots = frozenset((self,))

    def own(self) -> None:
        """Marks it as one of which each tower has its own: what is computed of it belongs to that tower's example."""
        self.batch = opaque(Why.OWN)
        self.roots = frozenset((self,))


def is_of_own(value: Value) -> bool:
    """Whether a value is computed from an input of which each tower has its own."""
    return any(isinstance(root, Input) and root.is_own for root in value.roots)


class Variable(Tensor):
    """A variable.

    raw: its name follows the name scope (`tf.Variable`) and not the variable scope.
    trainable: `tf.trainable_variables()` may hold it; False where the script says so.
    """

    __slots__ = ("raw", "trainable")

    def __init__(self, raw: bool, inputs: Iterable[Value], lengths: Lengths, op: str, trainable: bool = True) -> None:
        super().__init__(FREE, inputs, lengths, op)
        self.raw, self.trainable = raw, trainable


class ShapeOf(Value):
    """The shape of a tensor, static or as a tensor."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        super().__init__((tensor,))
        self.tensor = tensor


class Sequence(Value):
    """A list or tuple whose elements are known, or (`many`) one that holds any number like the first.

    open: tensors were put into it in a loop, or in a branch, and only a run can tell how many. Its elements are those
    that the walk saw.
    ends: where something was put in or taken out at a place that only a run knows: how many elements at the beginning
    and at the end still stand at a known place; None where all do. Places are read by `found` and `in_turn`
    of python/containers.py.
    """

    __slots__ = ("elements", "ends", "many", "mutable", "open")

    def __init__(self, elements: Iterable[Value], mutable: bool = False, many: bool = False) -> None:
        self.elements = list(elements)
        super().__init__(self.elements)
        self.mutable = mutable
        self.many = many
        self.open = False
        self.ends: tuple[int, int] | None = None

    def parts(self) -> Iterator[Value]:
        """The elements."""
        return iter(self.elements)

    @property
    def unmeasured(self) -> bool:
        """Whether only a run can tell how many elements it holds, or which of them stands where."""
        return self.many or self.open or self.ends is not None

    def level(self) -> Sequence:
        """This sequence; of any number of inputs that one expression makes only the first, which stands for each."""
        alike = len({e.node for e in self.elements if isinstance(e, Input)}) == 1
        if (self.many or self.open) and alike and all(isinstance(e, Input) for e in self.elements):
            self.elements, self.many, self.open = self.elements[:1], True, False
        return self

    def like(self, *others: Value) -> Sequence:
        """This sequence, as one of as many elements as others have, in their order: open where one of these is."""
        lists = [other for other in others if isinstance(other, Sequence)]
        ends = [other.ends for other in lists if other.ends is not None]
        self.open = any(other.open for other in lists)
        self.ends = (min(head for head, _ in ends), min(tail for _, tail in ends)) if ends else None
        return self

    def copy(self) -> Sequence:
        """Another sequence with the same elements."""
        return Sequence(self.elements, self.mutable, self.many).like(self)

    def take(self, other: Sequence) -> None:
        """Holds from now on what another sequence holds."""
        self.elements, self.many = list(other.elements), other.many
        self.open, self.ends = other.open, other.ends


class Record(Sequence):
    """A named tuple: a tuple whose elements have names too.

    cls: what the script calls to make it; None for one of a library, and where that is not known.
    """

    __slots__ = ("cls", "fields")

    def __init__(self, fields: tuple[str, ...], elements: Iterable[Value], cls: Value | None = None) -> None:
        super().__init__(elements)
        self.fields = fields
        self.cls = cls

    def field(self, name: str) -> Value | None:
        """The element of a name, None where there is none."""
        return next((e for f, e in zip(self.fields, self.elements, strict=False) if f == name), None)


class Mapping(Value):
    """A dict as pairs of values; keys that are constants compare by value, others by identity."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[Value, Value]] = ()) -> None:
        self.pairs = list(pairs)
        super().__init__([v for pair in self.pairs for v in pair])

    def parts(self) -> Iterator[Value]:
        """The keys and values."""
        for key, value in self.pairs:
            yield key
            yield value

    def get(self, key: Value) -> Value | None:
        """The value under a key, None where it is not known."""
        for known, value in reversed(self.pairs):
            if same_key(known, key):
                return value
        return None

    def set(self, key: Value, value: Value) -> None:
        """Puts a value under a key, in place of the one before: a key that is there keeps its place."""
        if self.get(key) is None:
            self.pairs.append((key, value))
        else:
            self.pairs = [(k, value if same_key(k, key) else v) for k, v in self.pairs]

    def drop(self, key: Value) -> None:
        """Takes a key out."""
        self.pairs = [(k, v) for k, v in self.pairs if not same_key(k, key)]


def same_key(one: Value, two: Value) -> bool:
    """Whether two keys of a dict are known to be the same."""
    if one is two:
        return True
    if isinstance(one, (Constant, Number)) and isinstance(two, (Constant, Number)):
        return one.value is not None and one.value == two.value
    return False


class Instance(Value):
    """An object of a class of the script, or (`cls` None) a namespace whose attributes are followed.

    base: where its class is derived from one of a library, such as a cell: the object that the library's constructor
    makes, whose methods are those that its class does not define; None where it is not known.
    options: where it is one of several objects of different classes, of which only a run can tell which, all of them.
    """

    __slots__ = ("attributes", "base", "cls", "kind", "options")

    def __init__(self, cls: Class | None, kind: str = "", inputs: Iterable[Value] = ()) -> None:
        super().__init__(inputs)
        self.cls = cls
        self.kind = kind
        self.base: Typed | None = None
        self.options: tuple[Instance, ...] = ()
        self.attributes: dict[str, Value] = {}

    def parts(self) -> Iterator[Value]:
        """The attributes' values."""
        return iter(self.attributes.values())


class Function(Value):
    """A function of the script with the frame it closes over.

    injected: a decorator that is not followed may give it arguments in place of its defaults.
    """

    __slots__ = ("closure", "defaults", "injected", "name", "node", "owner")

    def __init__(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, closure: Frame, defaults: dict[str, Value]
    ) -> None:
        super().__init__()
        self.node = node
        self.closure = closure
        self.defaults = defaults
        self.name = getattr(node, "name", "<lambda>")
        self.owner: Class | None = None
        self.injected = False


class Class(Value):
    """A class of the script."""

    __slots__ = ("attributes", "bases", "name", "node")

    def __init__(self, node: ast.ClassDef, bases: list[Value]) -> None:
        super().__init__()
        self.node = node
        self.name = node.name
        self.bases = bases
        self.attributes: dict[str, Value] = {}

    def lineage(self) -> Iterator[Class]:
        """The class and the classes of the script that it inherits from."""
        yield self
        for base in self.bases:
            if isinstance(base, Class):
                yield from base.lineage()

    def find(self, name: str) -> Value | None:
        """An attribute of the class or of one of its bases, None where there is none."""
        if name in self.attributes:
            return self.attributes[name]
        for base in self.bases:
            if isinstance(base, Class) and (found := base.find(name)) is not None:
                return found
        return None


class Bound(Value):
    """A method of a value: a function of the script with its object, or a name on a followed value."""

    __slots__ = ("function", "name", "receiver")

    def __init__(self, receiver: Value, name: str, function: Function | None = None) -> None:
        super().__init__((receiver,))
        self.receiver = receiver
        self.name = name
        self.function = function


class Partial(Value):
    """`functools.partial(function, …)`."""

    __slots__ = ("args", "function", "kwargs")

    def __init__(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> None:
        super().__init__((function, *args, *kwargs.values()))
        self.function = function
        self.args = args
        self.kwargs = kwargs


class Choice(Value):
    """One of several functions or classes; which one, only a run of the script can tell."""

    __slots__ = ("options",)

    def __init__(self, options: Iterable[Value]) -> None:
        self.options = tuple(options)
        super().__init__(self.options)


class Symbol(Value):
    """Something with a dotted name in a library: `tf.nn.relu` is Symbol("tf", "nn.relu")."""

    __slots__ = ("library", "name")

    def __init__(self, library: str, name: str) -> None:
        super().__init__()
        self.library = library
        self.name = name


class Module(Value):
    """Another file of the project, by the frame in which its top level was executed."""

    __slots__ = ("frame",)

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame


class Typed(Value):
    """An object of a library that the rules know by its type, such as "Optimizer" or "Session".

    options: where it is one of several, of which only a run can tell which, all of them; its name is "" then.
    """

    __slots__ = ("args", "kind", "kwargs", "name", "node", "options", "state")

    def __init__(
        self,
        kind: str,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        node: ast.Call | None,
        options: tuple[Typed, ...] = (),
    ) -> None:
        super().__init__((*args, *kwargs.values(), *options))
        self.options = options
        self.kind = kind
        self.name = name
        self.args = args
        self.kwargs = kwargs
        self.node = node
        self.state: dict[str, Value] = {}


def stands_for_unseen(tensor: Tensor) -> bool:
    """Whether an entry of a list stands for all that the graph holds of a kind and that is not seen."""
    return tensor.op == LISTED or tensor.op.startswith(COLLECTION)


def is_none(value: Value | None) -> bool:
    """Whether an argument is not given, or given as None."""
    return value is None or (isinstance(value, Constant) and value.value is None)


def tensors_in(value: Value, seen: set[int] | None = None) -> Iterator[Tensor]:
    """Every tensor in a value, through lists, dicts and objects."""
    seen = set() if seen is None else seen
    if value.uid in seen:
        return
    seen.add(value.uid)
    if isinstance(value, Tensor):
        yield value
    for part in value.parts():
        yield from tensors_in(part, seen)


def closure(values: Iterable[Value], onward: Callable[[Value], Iterable[Value]]) -> Iterator[Value]:
    """Some values and all that is reached from them, each once. onward: the values that one leads to."""
    todo, seen = [*values], set[int]()
    while todo:
        value = todo.pop()
        if value.uid not in seen:
            seen.add(value.uid)
            yield value
            todo += onward(value)


def needed(values: Iterable[Value], known: Collection[int] = ()) -> dict[int, Value]:
    """All values that some values were computed from, up to and including the inputs, and those that are `known`."""
    return up_to(values, _is_input if not known else lambda value: _is_input(value) or value.uid in known)


def depends_on(values: Iterable[Value], sizes: Collection[Origin]) -> bool:
    """Whether one of these numbers is behind some values."""
    return any(isinstance(v, Number) and not v.origins.isdisjoint(sizes) for v in needed(values).values())


def built_from(values: Iterable[Value]) -> dict[int, Value]:
    """All values that some tensors are built from: numbers that a session gave, of no batch, are no more than numbers.

    What a first graph computes, such as the features of a picture, is a constant for the graph that is trained. The
    length of an axis that is not that of the examples is the same for the whole batch, too.
    """
    return up_to(values, lambda value: _is_input(value) or isinstance(value, Length) or _is_given_by_run(value))


def read_by(values: Iterable[Value]) -> dict[int, Value]:
    """All values that some tensors are computed from in each run: a variable is read, its initial value is not."""
    return up_to(values, lambda value: isinstance(value, (Input, Variable)))


def up_to_numbers(values: Iterable[Value]) -> dict[int, Value]:
    """All values that some values are made of, up to and including numbers: not what these are computed from."""
    return up_to(values, lambda value: isinstance(value, (Input, Number)))


def _is_input(value: Value) -> bool:
    return isinstance(value, Input)


def _is_given_by_run(value: Value) -> bool:
    return isinstance(value, Host) and value.call == "run" and not value.roots


def up_to(values: Iterable[Value], ends: Callable[[Value], bool]) -> dict[int, Value]:
    """All values that some values were computed from, up to and including those at which `ends` says so."""
    found: dict[int, Value] = {}
    chosen = list(values)
    todo = list(chosen)
    while todo:
        value = todo.pop()
        if value.uid in found:
            continue
        found[value.uid] = value
        if isinstance(value, Tensor):
            if not ends(value):
                todo += value.inputs
            continue
        if isinstance(value, Instance):
            return _behind_by_then(chosen, ends)
        if ends(value):
            continue
        todo += value.inputs
        if isinstance(value, (Sequence, Mapping, Host)):
            todo += value.parts()
    return found


def _behind_by_then(values: Iterable[Value], ends: Callable[[Value], bool]) -> dict[int, Value]:
    """The same, where objects are among it: a tensor needs none of the attributes that were set after it was made."""
    found: dict[int, Value] = {}
    until: dict[int, float] = {}
    todo = [(value, inf) for value in values]
    while todo:
        value, limit = todo.pop()
        limit = value.time if isinstance(value, Tensor) and value.time else limit
        if until.get(value.uid, -1) >= limit:
            continue
        until[value.uid], found[value.uid] = limit, value
        if ends(value):
            continue
        held = value.parts() if not isinstance(value, Instance) else (p for p in value.parts() if p.time <= limit)
        todo += [(v, limit) for v in (*value.inputs, *held)]
    return found


# -- where the script is being executed ----------------------------------------------------------


class Frame:
    """One execution of a function body, or of the module's."""

    __slots__ = (
        "began",
        "bound",
        "by_default",
        "call",
        "call_site",
        "chosen",
        "closure",
        "function",
        "globals",
        "locals",
        "node",
        "owner",
        "returns",
        "uid",
    )

    def __init__(
        self,
        node: ast.AST,
        closure: Frame | None,
        call_site: Site | None,
        function: Value | None = None,
        began: int = 0,
    ) -> None:
        self.uid = next(_frames)
        self.node = node
        self.closure = closure
        self.call_site = call_site
        self.call: ast.AST | None = None  # the expression that called the function
        self.chosen: dict[ast.AST, int] = {}  # which of several that is, by what chooses: see Site.sides
        self.function = function
        self.owner: Value | None = None
        self.locals: dict[str, Value] = {}
        self.began = began  # the walk's clock when this execution began
        self.by_default: frozenset[str] = frozenset()  # parameters that the call left at their defaults
        self.bound: dict[str, int] = {}  # and when a name was bound to what it stands for
        self.globals: set[str] = set()  # names declared global or nonlocal
        self.returns: list[Value] = []

    @property
    def module(self) -> Frame:
        """The frame of the module that this one was defined in."""
        frame = self
        while frame.closure is not None:
            frame = frame.closure
        return frame

    def lookup(self, name: str) -> tuple[Frame, Value] | None:
        """The frame in which a name is bound, and its value, by Python's rules of scope."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.locals and not (frame is not self and isinstance(frame.node, ast.ClassDef)):
                return frame, frame.locals[name]
            frame = frame.closure
        return None


def options_in(frame: Frame | None, instance: Instance) -> tuple[Instance, ...]:
    """The objects of several classes that one may stand for in a frame: in a method, those of the method's class."""
    options = instance.options
    while frame is not None and options:
        owner = frame.owner
        if isinstance(owner, Class) and next(iter(frame.locals.values()), None) is instance:
            own = tuple(each for each in options if each.cls is not None and owner in each.cls.lineage())
            options = own or options
        frame = frame.call_site.frame if frame.call_site is not None else None
    return options


Sides = dict[tuple[int, ast.AST], object]  # conditions by their frames, and on which side of them something stands


@dataclass(frozen=True, eq=False)
class Site:
    """A statement being executed: in which frame, inside which compound statement, called from where."""

    frame: Frame
    stmt: ast.stmt
    parent: Site | None = field(default=None)  # enclosing statement in this frame, or the caller's statement
    scopes: tuple[str, ...] = ()  # name and variable scopes around it, "?" for one that is not a constant

    def chain(self) -> Iterator[Site]:
        """This site and the sites around it, innermost first, through callers up to the module."""
        site: Site | None = self
        while site is not None:
            yield site
            site = site.parent

    def sides(self) -> Sides:
        """The conditions that this site stands under, by their frames, and whether in the body or after the else.

        So are calls of one of several functions, with the number of the one that is called, and conditional
        expressions. A condition in a loop is asked again each time, and is left out.
        """
        return self._sides[0]

    @cached_property
    def _sides(self) -> tuple[Sides, bool]:
        """The same, and whether this site is a loop or stands in one."""
        above, is_loop = self.parent, isinstance(self.stmt, (ast.For, ast.While))
        if above is None:
            return {}, is_loop
        sides, looped = above._sides
        if self._is_called_once(above):
            looped = above.parent is not None and above.parent._sides[1]
        if not looped and isinstance(above.stmt, ast.If):
            sides = {(above.frame.uid, above.stmt): self.stmt in above.stmt.body, **sides}
        if not looped and self.frame is not above.frame and self.frame.chosen:
            sides = {**{(above.frame.uid, node): side for node, side in self.frame.chosen.items()}, **sides}
        return sides, looped or is_loop

    def _is_called_once(self, above: Site) -> bool:
        """Whether its function is called by what a loop goes over: `for batch in batches():` calls it once."""
        if self.frame is above.frame or not isinstance(above.stmt, ast.For):
            return False
        return any(node is self.frame.call for node in ast.walk(above.stmt.iter))

    def excludes(self, other: Site) -> bool:
        """True if a condition that is asked once chooses between this site and the other."""
        return self.leaves_out(other.sides())

    def leaves_out(self, sides: Sides) -> bool:
        """True if this site stands on another side of one of these conditions."""
        mine = self.sides() if sides else {}
        return any(mine[at] != side for at, side in sides.items() if at in mine)
