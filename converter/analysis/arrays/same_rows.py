"""Rows that each turn of a loop takes anew, and are the same in each: `data[:n]` of data that stays as it is."""

from __future__ import annotations

import ast
from collections.abc import Collection

from converter.analysis.arrays.moves import turns_of_loop
from converter.analysis.arrays.shapes import ARITHMETIC, LIKE, SAME
from converter.analysis.counts.degrees import RESTS
from converter.analysis.counts.reading import LEAST, MOST_OF, PRODUCTS, SUMS, TURN
from converter.analysis.counts.reading import SAME as SAME_NUMBER
from converter.analysis.counts.terms import Atom
from converter.analysis.facts import Facts
from converter.analysis.frames import Access, Place
from converter.analysis.values import Constant, Host, Number, Sequence, Site, Symbol, Value

COPIES = ("list", "tuple", "sorted")  # functions of Python that put the rows of data into a new list
PICKS = ("[]", "slice", "shape", "reshape", "tolist", *COPIES)
PURE = (*LIKE, "arange", "reshape", "tile", "linspace")  # functions of NumPy
OF_NUMBERS = {*SAME_NUMBER, *LEAST, *MOST_OF, *SUMS, *PRODUCTS, *RESTS, "divmod"} - {"item"}  # loops give items
LOOKS = ("len", "range", "xrange", *COPIES)  # calls that only look at data


def are_same(facts: Facts, value: Value, loops: Collection[ast.stmt]) -> bool:
    """Whether a value that some loops compute is the same in each of their turns; False where that is not certain."""
    return _AreSame(facts, loops).of(value)


class _AreSame:
    """Looks through what values are computed from, each once."""

    def __init__(self, facts: Facts, loops: Collection[ast.stmt]) -> None:
        self._facts, self._loops = facts, frozenset(loops)
        self._known: dict[int, bool] = {}
        self._turns: frozenset[Atom] = frozenset()  # of the comprehensions in the value
        self._gone_over: set[int] = set()  # what these comprehensions go over, by uid

    def of(self, value: Value) -> bool:
        """Whether a value is the same in each turn of the loops."""
        if value.uid not in self._known:
            self._known[value.uid] = False  # where a value is computed from itself
            self._known[value.uid] = self._read(value)
        return self._known[value.uid]

    def _read(self, value: Value) -> bool:
        if isinstance(value, (Constant, Symbol)):
            return True
        if isinstance(value, Number):
            if value.turn:
                return (TURN, value.turn) in self._turns
            known = bool(value.op or (not value.chosen and (value.value is not None or value.origins)))
            return known and self._stays(value) and all(map(self.of, value.inputs))
        if not self._is_inside(value):
            return isinstance(value, (Host, Sequence)) and self._stays(value)
        if isinstance(value, Sequence):
            over = self._facts.ranges.get(value.uid)
            return all(map(self.of, over)) if over is not None else self._are_picked(value)
        return isinstance(value, Host) and not value.either and self._is_pure(value) and all(map(self.of, value.inputs))

    def _are_picked(self, rows: Sequence) -> bool:
        """Whether a comprehension takes the same rows each time: `[data[k] for k in range(n)]`."""
        over = self._facts.listed.get(rows.uid)
        if over is None or not self.of(over):
            return False
        self._turns |= turns_of_loop(over)
        self._gone_over.add(over.uid)
        return all(self._is_inside(row) and self.of(row) for row in rows.elements)

    def _is_pure(self, value: Host) -> bool:
        """Whether a value depends on nothing but its inputs."""
        if isinstance(value.node, (ast.BinOp, ast.UnaryOp, ast.Slice)):
            return isinstance(value.node, ast.Slice) or value.call in ARITHMETIC
        if value.call == "item":
            return value.inputs[0].uid in self._gone_over
        library, _, name = value.call.rpartition(".")
        return value.call in (*PICKS, *SAME) or name in OF_NUMBERS or (library == "numpy" and name in PURE)

    def _is_inside(self, value: Value) -> bool:
        return value.site is not None and self._has(value.site)

    def _stays(self, value: Value) -> bool:
        """Whether nothing in the loops may change a value, or put another one where it was read."""
        facts, accesses = self._facts, self._facts.accesses_of(value)
        read = [a for a in accesses if not a.write and self._has(a.site)]
        places = {self._named(a.place) for a in read if a.place.kind in ("name", "attr")}
        own = {a.node for a in accesses if a.write}
        written = any(w.node not in own and self._named(w.place) in places for w in facts.writes_below(self._loops))
        changed = [*(a.site for a in facts.item_writes(value)), *(e.site for e in facts.changes_of(value))]
        return not (written or any(map(self._has, changed))) and (
            isinstance(value, Number) or all(map(self._looks, read))
        )

    def _named(self, place: Place) -> object:
        """A place; of an attribute the name, as an object has that of its class until it is set."""
        return place.key if place.kind == "attr" else place

    def _looks(self, access: Access) -> bool:
        """Whether an expression takes a part of data, and gives the whole to no one who might change it."""
        above = self._facts.parents.get(access.node)
        if isinstance(above, ast.Call):
            return getattr(above.func, "id", "") in LOOKS
        taken = isinstance(above, ast.Subscript) and above.value is access.node and isinstance(above.ctx, ast.Load)
        return taken or isinstance(above, (ast.BinOp, ast.Compare))

    def _has(self, site: Site) -> bool:
        return any(around.stmt in self._loops for around in site.chain())
