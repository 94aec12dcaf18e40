"""The terms of the numbers that the walk computed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from math import isfinite

from converter.analysis.counts.terms import ONE_OF, Of, Terms, atom, function, number, taken_together
from converter.analysis.traits import Trait, has
from converter.analysis.values import Constant, Count, Host, Number, Origin, Sequence, Symbol, Tensor, Value

Length = Callable[[Value], Number | None]  # of what `len(…)` is asked for; None where it is not followed
UNFOLLOWED = "value "  # how the name of what is no number begins
SPAN = "span"  # the op of the distance of two numbers, of which the first moves on
MOVING = "?"
TURN = "turn"  # begins the atom of how many turns of a loop are over
SIZE = "the batch size"  # the atom that stands for all origins of it

MOST = 12  # monomials of a number that is followed; a larger one is an atom of its own
HEAVY = 400  # atoms and functions that a number is written with; of a larger one only the atoms are kept
DEEP = 40  # operations behind one another that are followed
SAME = frozenset(  # functions of one number that give the same number, or the whole one next to it
    ("int", "float", "round", "floor", "ceil", "rint", "trunc", "around", "fix", "abs", "absolute", "long", "item")
    + ("array", "asarray", "int16", "int32", "int64", "float32", "float64", "int_", "copy", "astype", "squeeze")
    + ("max", "min", "sum", "maximum", "minimum")  # of a single number
)
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "negative", ast.UAdd: "int"}
LEAST, MOST_OF = ("min", "minimum", "amin", "least"), ("max", "maximum", "amax")
SUMS, PRODUCTS = ("sum", "fsum", "add"), ("prod", "mul", "multiply", "matmul")
MOVES = ("add", "subtract")  # a number on from another one
ROOTS = ("sqrt", "isqrt")
QUOTIENTS = ("divide", "floordiv", "truediv", "floor_divide", "true_divide")


class TermReader:
    """Reads the terms of values that Python computes, each once.

    sizes: the origins that are the batch size; other numbers that are written out are plain ones. moving: a number that
        is another one in each turn of a loop, of which the walk knows that of one turn.
    """

    _followed: tuple[type[Value], ...] = (Number, Host, Constant)

    def __init__(self, sizes: frozenset[Origin], length: Length, moving: Value | None = None) -> None:
        self._sizes = sizes
        self._length = length
        self._moving = moving
        self._known: dict[int, Terms] = {}
        self._others: dict[int, TermReader] = {}  # by what moves on: one for all distances from it

    def _with_moving(self, moving: Value) -> TermReader:
        """The reader of the numbers in which a number moves on."""
        if moving.uid not in self._others:
            reader = self._others[moving.uid] = TermReader(self._sizes, self._length, moving)
            reader._others = self._others
        return self._others[moving.uid]

    def of(self, value: Value, deep: int = DEEP) -> Terms:
        """The terms of a value; of what is no number, or is not followed, an atom of its own."""
        if value is self._moving:
            return atom(MOVING)
        if value.uid not in self._known:
            self._known[value.uid] = atom(("value", value.uid))  # where a value is computed from itself
            made = self._read(value, deep - 1) if deep else self._known[value.uid]
            if made.weight > HEAVY:
                inside = dict.fromkeys(one for one in made.atoms if not isinstance(one, Of))
                made = function(f"{UNFOLLOWED}{value.uid}", *map(atom, inside))
            self._known[value.uid] = made if len(made.parts) <= MOST else self._unknown(value, value.inputs, deep - 1)
        return self._known[value.uid]

    def _read(self, value: Value, deep: int) -> Terms:
        if isinstance(value, Number):
            return self._of_number(value, deep)
        if isinstance(value, Host):
            return self._of_host(value, deep)
        known = value.value if isinstance(value, Constant) else None
        return number(known) if isinstance(known, bool) else atom(("value", value.uid))

    def _of_number(self, value: Number, deep: int) -> Terms:
        if value.op == SPAN:
            upper, lower = value.inputs
            reading = self._with_moving(lower)
            return taken_together(reading.of(upper, deep) - reading.of(lower, deep))
        if value.turn:
            return self._of_turn(value.turn, value.inputs, deep)
        if value.op and value.inputs:
            return self._computed(value, value.op, list(value.inputs), deep)
        if value.chosen and value.linear & self._sizes:
            return atom(SIZE)
        if value.chosen and value.inputs:
            return function(ONE_OF, *(self.of(v, deep) for v in value.inputs), branching=value.branching)
        if len(value.origins) == 1 and value.origins == value.linear:
            (origin,) = value.origins
            if origin in self._sizes:
                return atom(SIZE)
            if value.inputs:
                return self._of_computed(value, origin, deep)
            return atom(origin) if value.value is None else _plain(value.value)
        if not value.origins and not value.inputs and value.value is not None:
            return _plain(value.value)
        if value.value is not None and not value.origins and all(isinstance(v, Sequence) for v in value.inputs):
            length = self._length(value)
            return _plain(value.value) if length is None else self.of(length, deep)
        return function(f"number {value.uid}", *(atom(SIZE) for _ in value.origins & self._sizes))

    def _of_computed(self, value: Number, origin: Origin, deep: int) -> Terms:
        """The length of a list, or a number that has the name of a batch size, and is computed from the batch size.

        What is computed from something else may be a batch size itself: it is an atom.
        """
        length = self._length(value)
        if length is not None:
            return self.of(length, deep)
        made = self.of(value.inputs[0], deep) if isinstance(value.inputs[0], (Host, Number)) else None
        if made is not None and SIZE in made.atoms and is_followed(made):
            return made
        return atom(origin) if value.value is None else _plain(value.value)

    def _of_turn(self, turn: int, bounds: tuple[Value, ...], deep: int) -> Terms:
        """A number of a range: `begin + turn * step`."""
        begin = self.of(bounds[0], deep) if len(bounds) > 1 else number(0)
        step = self.of(bounds[2], deep) if len(bounds) > 2 else number(1)
        return begin + atom((TURN, turn)) * step

    def _of_host(self, value: Host, deep: int) -> Terms:
        node, name = value.node, value.call.rpartition(".")[2]
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and len(value.inputs) == 2:
            op = "floordiv" if isinstance(node.op, ast.FloorDiv) else value.call
            return self._computed(value, _shift(node.op) or op, list(value.inputs), deep)
        if isinstance(node, ast.UnaryOp) and len(value.inputs) == 1:
            return self._computed(value, UNARY.get(type(node.op), "not"), [*value.inputs], deep)
        source = value.inputs[0] if name == "item" and value.inputs else None
        if isinstance(source, Host) and source.call in ("numpy.arange", "itertools.count"):
            bounds = source.inputs[1:]  # of `count`, where it begins and by how much it goes on
            return self._of_turn(source.uid, bounds if source.call == "numpy.arange" else (*bounds[:1], *bounds), deep)
        if name == "item":
            return atom(("value", value.uid))
        if value.call == "[]" and len(value.inputs) == 2:
            return self._item(value, deep)
        if not isinstance(node, ast.Call):
            return self._unknown(value, value.inputs, deep)
        given = self._given(value, node)
        return self._computed(value, name, given, deep) if given else self._unknown(value, value.inputs, deep)

    def _given(self, value: Host, node: ast.Call) -> list[Value]:
        """What a call is given: its arguments, of a method of a number this one before them."""
        positions = len(node.args) + len(node.keywords)
        holder = value.inputs[0] if len(value.inputs) == positions + 1 else None
        given = list(value.inputs[-positions:]) if positions else []
        if isinstance(holder, Host) and holder.call == value.call and isinstance(holder.node, ast.Attribute):
            source = holder.inputs[0] if holder.inputs else None
            given = [source] if isinstance(source, (Number, Host)) and value.call in SAME else given
        if len(given) == 1 and isinstance(given[0], Sequence) and not given[0].unmeasured:
            given = list(given[0].elements)
        return given

    def _computed(self, value: Value, name: str, given: list[Value], deep: int) -> Terms:
        """What an operator or a function of numbers gives."""
        shared = name in QUOTIENTS and isinstance(given[0], Symbol)  # `data.num_examples // size` of an unknown object
        if not all(isinstance(v, self._followed) for v in (given[1:] if shared else given)):
            return self._unknown(value, given, deep)
        terms = [self.of(v, deep) for v in given]
        made = combined(name, terms)
        return function(name, *terms) if made is None else made

    def _item(self, value: Host, deep: int) -> Terms:
        """`divmod(n, b)[0]`, `rows.shape[0]`."""
        if (length := self._length(value)) is not None:
            return self.of(length, deep)
        whole, key = value.inputs
        known = key.value if isinstance(key, Number) else None
        pair = isinstance(whole, Host) and whole.call.rpartition(".")[2] == "divmod" and len(whole.inputs) > 1
        if pair and known in (0, 1):
            return self._computed(value, "mod" if known else "divide", list(whole.inputs[-2:]), deep)
        return self._unknown(value, value.inputs, deep)

    def _unknown(self, value: Value, given: tuple[Value, ...] | list[Value], deep: int) -> Terms:
        """A number of its own, that depends on what numbers there are among its inputs."""
        parts = [self.of(v, deep) for v in given if isinstance(v, (Number, Host)) and deep > 0]
        return function(f"{UNFOLLOWED}{value.uid}", *(part for part in parts if part.value is None))


def is_followed(terms: Terms) -> bool:
    """Whether a number is computed from numbers, by operators and functions of numbers alone."""
    return not any(isinstance(one, Of) and one.name.startswith(UNFOLLOWED) for one in terms.atoms)


class GraphTermReader(TermReader):
    """As `TermReader`, of numbers that the graph computes, too: a number of rows read off a tensor is the batch's."""

    _followed = (Number, Host, Constant, Count, Tensor)

    def _read(self, value: Value, deep: int) -> Terms:
        if isinstance(value, Count):
            return atom(SIZE)
        if not isinstance(value, Tensor) or value.batch.kind != "free" or not value.operands:
            return super()._read(value, deep)
        if has(value.op, Trait.CASTS):
            return self.of(value.operands[0], deep)
        return self._computed(value, value.op, list(value.operands), deep)


def combined(name: str, terms: list[Terms]) -> Terms | None:
    """The terms that an operation makes of others; None where it makes a new atom of them."""
    first = terms[0] if terms else None
    if first is None or (name in SAME and len(terms) == 1):
        return first
    if name in LEAST or name in MOST_OF:
        return _extreme("least" if name in LEAST else "most", terms)
    if name in SUMS:
        return sum(terms[1:], first)
    if name == "negative":
        return first * number(-1)
    if name in ROOTS and len(terms) == 1:
        return first.raised(number(Fraction(1, 2)))
    if name in SAME and name not in PRODUCTS:
        return first if all(t.value is not None for t in terms[1:]) else None
    if len(terms) != 2:
        return None
    return _binary(name, first, terms[1])


def _binary(name: str, one: Terms, two: Terms) -> Terms | None:
    if name in ("subtract", "sub"):
        return taken_together(one - two)
    if name in PRODUCTS:
        return one * two
    if name in QUOTIENTS:
        return one.divided(two)
    if name in ("pow", "power"):
        return one.raised(two)
    if name in ("left_shift", "lshift", "right_shift", "rshift") and two.value is not None:
        places = min(max(int(two.value), 0), 64)
        return one * number(Fraction(2) ** (places if name.startswith("l") else -places))
    return None


def _extreme(name: str, terms: list[Terms]) -> Terms:
    """The least or the largest of numbers, where these are known or one is a multiple of the others."""
    values = [t.value for t in terms]
    known = [v for v in values if v is not None]
    if len(known) == len(values):
        return number(min(known) if name == "least" else max(known))
    return function(name, *terms)


def _plain(value: float) -> Terms:
    return number(value) if isfinite(value) else atom(("number", str(value)))


def _shift(op: ast.operator) -> str:
    return "lshift" if isinstance(op, ast.LShift) else "rshift" if isinstance(op, ast.RShift) else ""
