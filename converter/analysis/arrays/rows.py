"""The numbers in a script that determine how many rows its arrays and lists have."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import field, replace
from typing import TYPE_CHECKING

from converter.analysis.arrays.filled_lists import breaks, changes_of_length, filled, puts_one
from converter.analysis.arrays.shapes import (
    ARITHMETIC,
    DEEP,
    LIKE,
    MOVES,
    ROWS,
    ROWS_NAMED,
    SAME,
    SHAPED,
    TO_ONE,
    Arguments,
    arguments_of,
    name_of,
    reshaping,
    shape_of,
)
from converter.analysis.counts.degrees import is_computed, multiple, origins_behind
from converter.analysis.counts.reading import SPAN, TermReader
from converter.analysis.counts.terms import ONE_OF, Terms
from converter.analysis.values import Host, Number, Origin, Symbol, Value, needed
from converter.analysis.values import Sequence as List
from converter.dataclass import dataclass

if TYPE_CHECKING:
    from converter.analysis.facts import Effect, Facts, KnownRows
    from converter.analysis.values import Site

NEXT = "next"  # the call of what `next()` gives of a generator that is followed
TAKE_ONE = ("pop", "popleft", "remove")
LOOPS = (ast.For, ast.AsyncFor, ast.While)
BOOLEANS = (("builtins", "bool"), ("numpy", "bool"), ("numpy", "bool_"), ("", "bool"))
LEAST = ("min", "numpy.minimum")
SPLITS = ("split", "array_split", "vsplit")  # of NumPy: into a number of parts, or at some rows
LENGTHENS = {
    f"numpy.{name}" for name in ("broadcast_to", "resize", "append", "concatenate", "hstack", "pad", "tile", "vstack")
}
SPLICES = {"delete": 2, "insert": 3}  # of NumPy: take rows away, or put some between; where the axis stands
STACKED = ("stack", "row_stack")  # functions of NumPy that give a row for each entry of a list
PADS = "pad_sequences"  # of Keras and of libraries like it: a row for each sequence


def may_be_longer(value: Value) -> bool:
    """Whether a call of NumPy gives an array that may have more rows than those it is made of."""
    return isinstance(value, Host) and value.call in LENGTHENS


def rows_of(facts: Facts, value: Value | None, site: Site) -> Number | None:
    """The number of rows of an array or a list where it is read; None if it is not known."""
    return _known_rows(facts, value, site, True) if value is not None else None


def turns_of(facts: Facts, over: Value, site: Site) -> Number | None:
    """How many turns a loop has that goes over a value; None if it is not known."""
    return _known_rows(facts, over, site, False)


def _known_rows(facts: Facts, value: Value, site: Site, asks: bool) -> Number | None:
    """The number of rows, computed once for each value and place, also those of its parts: the walk is over by then."""
    known = facts.rows.setdefault((site, asks), {})
    return _rows(_At(facts, frozenset(site.chain()), asks, known), value, DEEP)


def terms_of(facts: Facts, value: Value, sizes: Iterable[Origin], site: Site) -> Terms:
    """The terms of a number where it is read; sizes: the origins of the batch size."""
    key = value.uid, frozenset(sizes), site
    if key not in facts.terms:
        at = _At(facts, frozenset(site.chain()))
        facts.terms[key] = TermReader(key[1], lambda number: at.length(number, DEEP)).of(value)
    return facts.terms[key]


@dataclass(frozen=True)
class _At:
    """Where it is asked: the statements around that place, through callers up to the module.

    asks: whether a function with "batch" in its name gives as many rows as it is asked for. known: the numbers of rows
        found so far, by the value's uid and from where, each with how deep its parts were followed.
    """

    facts: Facts
    around: frozenset[Site]
    asks: bool = True
    known: KnownRows = field(default_factory=dict)

    def asked(self, value: Host, deep: int) -> Number | None:
        """The first number among the arguments of an unfollowed call whose name contains `batch`."""
        if not self.asks or "batch" not in value.call.rpartition(".")[2].lower():
            return None
        computed = (v for v in value.inputs if isinstance(v, Host) and is_computed(v))
        number = next((v for v in value.inputs if isinstance(v, Number)), None) or next(computed, None)
        return self.measured(number, deep) if isinstance(number, Host) else number

    def measured(self, number: Number | Host, deep: int) -> Number | None:
        """A number with the origins that it is a multiple of, whatever it is computed by; None if it has none."""
        known = counted_by(number)
        rows = _rows(self, known, deep - 1) if known is not None else None
        if rows is not None:
            return rows
        if isinstance(number, Number) and not number.op:
            return number
        return multiple(number, lambda length: self.length(length, deep))

    def length(self, number: Value, deep: int) -> Number | None:
        """The number of rows of what `len(…)` is asked for, where a value is that; None where it is not known."""
        counted = counted_by(number)
        return _rows(self, counted, deep - 1) if counted is not None else None


def _rows(at: _At, value: Value | None, deep: int) -> Number | None:
    if deep <= 0 or not isinstance(value, (List, Host)):
        return None
    key = value.uid, at.around
    deepest, rows = at.known.get(key, (0, None))
    if deepest < deep:
        rows = _of_list(at, value, deep - 1) if isinstance(value, List) else _of_host(at, value, deep - 1)
        if rows is not None and isinstance(value, Host):
            rows = _changed(at, value, rows, deep - 1)
        at.known[key] = deep, rows
    return rows


# -- lists -----------------------------------------------------------------------------------------


def _of_list(at: _At, value: List, deep: int) -> Number | None:
    changes = changes_of_length(at.facts, value)
    cut = any(isinstance(v, Host) and isinstance(v.node, ast.Slice) for v in value.inputs)
    told = any(value.uid in known for known in (at.facts.listed, at.facts.zipped, at.facts.unpacked))
    made = _as_made(at, value, deep) if not changes or cut or told else None
    if made is not None or told:
        return _changed(at, value, made, deep) if made is not None else None
    further = [v for v in value.inputs if v not in value.elements]
    if cut and not changes:
        return None
    if further:  # `[row] * n`
        times = further[0] if len(further) == 1 and isinstance(further[0], Number) else None
        repeats = len(value.elements) if times is None or times.value is not None else 1
        return at.measured(times, deep) if times is not None and times.value in (None, repeats) else None
    if not changes and not value.many and not value.elements and (later := _filled_later(at, value)) is not None:
        return _of_list(at, later, deep)
    if not changes:
        return None if value.many else Number(len(value.elements))
    given = [a.site for a in at.facts.accesses_of(value) if not a.write and a.node in at.facts.handed_over]
    at = replace(at, around=at.around.union(*(site.chain() for site in given)))
    appended = _appended(at, value, changes, deep)
    if appended is not None:
        return appended
    full = filled(at.facts, value, at.around)
    return at.measured(full, deep) if full is not None else None


def _as_made(at: _At, value: List, deep: int) -> Number | None:
    """The length of a list by what it goes over: a comprehension, a range, a slice, `zip(…)`."""
    if value.uid in at.facts.listed:
        return _iterations(at, at.facts.listed[value.uid], deep)
    if value.uid in at.facts.ranges:
        return _iterations(at, value, deep)  # `x[range(i, i + n)]`, also of a few numbers that are known one by one
    if value.uid in at.facts.unpacked:
        return _sum(at, at.facts.unpacked[value.uid], deep)
    if value.uid in at.facts.zipped:
        lengths = [n for n in (_rows(at, v, deep) for v in at.facts.zipped[value.uid]) if n is not None]
        return _computed(at, "least", lengths, deep) if len(lengths) > 1 else lengths[0] if lengths else None
    cuts = [v for v in value.inputs if isinstance(v, Host) and isinstance(v.node, ast.Slice)]
    if cuts and isinstance(place := cuts[0].node, ast.Slice):  # `rows[i:i + n]`
        whole = next((v for v in value.inputs if isinstance(v, List) and v not in value.elements), None)
        return _spanned(at, cuts[0], place, deep, whole)
    return None


def _changed(at: _At, value: List | Host, made: Number, deep: int) -> Number | None:
    """The number of rows of a list that was made with as many rows, behind the methods that change it."""
    changes = changes_of_length(at.facts, value)
    full = filled(at.facts, value, at.around) if changes and all(map(puts_one, changes)) else None
    if not changes or (full is not None and (known := at.measured(full, deep)) and known.factors() == made.factors()):
        return made
    added = _Filling(at, value, made, deep).added(changes)
    return _computed(at, "sum", [made, added or _others()], deep)


def _others() -> Number:
    """How many rows something puts in or takes away, where that is not known."""
    number = Number(None)
    number.op = "changes"
    return number


@dataclass(frozen=True)
class _Filling:
    """A list that was made with so many rows, and is changed later."""

    at: _At
    value: List | Host
    made: Number
    deep: int

    def added(self, changes: list[Effect]) -> Number | None:
        """How many rows these places put in, in all turns of the loops that began behind the list.

        None where that is not known: in a loop that goes on where it is asked, or where only a branch of a loop makes
        the list, so that it holds rows of several turns, or where each turn may choose one of several lists.
        """
        outside = _blocks_around(self.value.site)
        apart = (_blocks_around(change.site)[: len(outside)] != outside for change in changes)
        if any(map(_is_of_several, changes)) or any(apart):
            return None
        return self._within([*{change.node: change for change in changes}.values()], len(outside))

    def _within(self, changes: list[Effect], around: int) -> Number | None:
        """The same for places that stand in so many blocks together."""
        parts: list[Number | None] = []
        groups: dict[Site | None, list[Effect]] = {}
        for change in changes:
            blocks = _blocks_around(change.site)
            groups.setdefault(blocks[around] if len(blocks) > around else None, []).append(change)
        for block, inner in groups.items():
            if block is None:
                parts += map(self._at_once, inner)
            elif len(self.at.facts.sides.get(block, ())) == 1:
                parts.append(self._within(inner, around + 1))
            elif isinstance(block.stmt, ast.If):
                parts.append(self._of_branches(block.stmt, inner, around + 1))
            else:
                parts.append(self._in_turns(block, inner, around + 1))
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        counted = [part for part in known if part.origins or part.value is None]
        written = Number(sum(part.value or 0 for part in known if part not in counted))
        if not counted or (len(counted) == 1 and not written.value):
            return counted[0] if counted else written
        return _computed(self.at, "sum", [*counted, *([written] if written.value else [])], self.deep)

    def _of_branches(self, test: ast.If, changes: list[Effect], around: int) -> Number | None:
        """The rows that either branch of a condition puts in; None where one puts in none, as it is not known which.

        `if end > n` with `end - n` more rows: in both cases `end` less the lesser of both.
        """
        sides: list[list[Effect]] = [[], []]
        for change in changes:
            step = next((s for s in change.site.chain() if s.parent is not None and s.parent.stmt is test), None)
            sides[step is not None and step.stmt in test.orelse].append(change)
        if not sides[1] and (more := self._within(sides[0], around)) is not None:
            within = next(site for site in changes[0].site.chain() if site.stmt is test)
            return self._what_is_missing(test.test, within, more)
        rows = [self._within(side, around) for side in sides] if all(sides) else []
        if not any(rows):
            return None
        known = [number or self._of_data(side) for number, side in zip(rows, sides, strict=True)]
        return _alike(rows) or _computed(self.at, ONE_OF, known, self.deep)

    def _what_is_missing(self, test: ast.expr, within: Site, more: Number) -> Number | None:
        """The rows by which one number is larger than another, where these are put in if it is; else None."""
        if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Gt, ast.Lt)) or len(test.ops) > 1:
            return None
        sides = [self.at.facts.operands_of(side, within) for side in (test.left, test.comparators[0])]
        reader = TermReader(frozenset(), lambda number: self.at.length(number, self.deep))
        for large, small in zip(*(sides if isinstance(test.ops[0], ast.Gt) else sides[::-1]), strict=False):
            if reader.of(more) == reader.of(large) - reader.of(small):
                least = Number(None, inputs=(large, small))
                least.op = "least"
                difference = Number(None, inputs=(large, least))
                difference.op = "subtract"
                return self.at.measured(difference, self.deep)
        return None

    def _of_data(self, changes: list[Effect]) -> Number:
        """A number of rows that is not known: as many as the data has that loops go over."""
        loops = {site for change in changes for site in _blocks_around(change.site) if site in self.at.facts.turned}
        around = loops.difference(_blocks_around(self.value.site))
        return Number(None, frozenset(o for loop in around for o in origins_behind(self.at.facts.turned[loop])))

    def _in_turns(self, loop: Site, changes: list[Effect], around: int) -> Number | None:
        """The rows that the turns of a loop put in together; None where it may end before it has taken all of them."""
        whole = loop not in self.at.around and not breaks(loop.stmt)
        over = self.at.facts.turned.get(loop) if whole else None
        turns = _iterations(self.at, over, self.deep) if over is not None else None
        rows = self._within(changes, around) if turns is not None else None
        if rows is None or turns is None:
            return None
        return _computed(self.at, "multiply", [rows, turns], self.deep) if rows.value != 1 else turns

    def _at_once(self, change: Effect) -> Number | None:
        """How many rows a method puts in, less than none if it takes some; None where that is not known."""
        name, node = change.name.rpartition(".")[2], change.node
        if name in TAKE_ONE or puts_one(change) or name == "insert":
            return Number(-1 if name in TAKE_ONE else 1)
        if name == "del" and isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            return Number(-1)
        given = node.args if isinstance(node, ast.Call) else [getattr(change.site.stmt, "value", None)]
        more = given[0] if name in ("extend", "+=") and len(given) == 1 else None
        if isinstance(more, ast.List) and not any(isinstance(element, ast.Starred) for element in more.elts):
            return Number(len(more.elts))
        facts = self.at.facts
        known = {a.value.uid: a.value for a in facts.accesses_at(more) if not a.write} if more is not None else {}
        known.update((v.uid, v) for v in (facts.results_of(more) if more is not None else ()))
        if self.value.uid in known:
            return self.made
        return _alike([_rows(self.at, v, self.deep) for v in known.values()])


def _is_of_several(change: Effect) -> bool:
    """Whether a method is called of an entry that is looked up by a number or a name: `parts[k // n].append(row)`."""
    held = getattr(getattr(change.node, "func", None), "value", None)
    return isinstance(held, ast.Subscript) and not isinstance(held.slice, ast.Constant)


def _blocks_around(site: Site | None) -> tuple[Site, ...]:
    """The loops and conditions that a place stands in, from the outside in."""
    chain = site.chain() if site is not None else ()
    return tuple(step for step in chain if isinstance(step.stmt, (*LOOPS, ast.If, ast.Try)))[::-1]


def _computed(at: _At, name: str, numbers: list[Number | Host] | list[Number], deep: int) -> Number | None:
    """What an operation makes of numbers of rows."""
    made = Number(None, inputs=numbers)
    made.op = name
    return at.measured(made, deep)


def _filled_later(at: _At, value: List) -> List | None:
    """The list of the same name that rows are put into, where an empty one stands for it in a loop's first turn."""
    places = dict.fromkeys(a.place for a in at.facts.accesses_of(value) if a.write and a.place.kind == "name")
    filled_there = (at.facts.filled_by_name[place] for place in places if place in at.facts.filled_by_name)
    return min(filled_there, key=lambda each: each[0], default=(0, None))[1]


def _appended(at: _At, value: List, changes: list[Effect], deep: int) -> Number | None:
    """The number of rows of a list that is written out and gets further ones, also in loops."""
    begin = Number(len(value.inputs))
    added = _Filling(at, value, begin, deep).added(changes)
    return _computed(at, "sum", [begin, added], deep) if value.inputs and added is not None else added


def _iterations(at: _At, iterable: Value, deep: int) -> Number | None:
    """How many entries a loop goes over: `range(n)`, `range(begin, begin + n)`, or the rows of an array."""
    if not isinstance(iterable, List) or iterable.uid not in at.facts.ranges:
        return _rows(at, iterable, deep)
    return _ranged(at, at.facts.ranges[iterable.uid], at.facts.range_calls[iterable.uid].args[:1], deep)


def _ranged(at: _At, bounds: list[Value], begin: list[ast.expr], deep: int) -> Number | None:
    """How many numbers a range has; begin: its first bound as it is written, where there are several."""
    if len(bounds) == 1:
        return _size(at, bounds[0], deep)
    if len(bounds) == 2:
        return _between(at, bounds[0], bounds[1], begin[0], deep) if begin else None
    numbers = [bound for bound in bounds if isinstance(bound, Number)]
    if len(numbers) < len(bounds):
        return None
    between = _computed(at, "subtract", [numbers[1], numbers[0]], deep)
    return _computed(at, "divide", [between, numbers[2]], deep) if between is not None else None


# -- arrays ----------------------------------------------------------------------------------------


def _of_host(at: _At, value: Host, deep: int) -> Number | None:
    if value.either:
        return _either([_rows(at, v, deep) for v in value.either])
    node = value.node
    if value.call == "add" and len(value.operands) == 2 and any(map(_is_list, value.operands)):
        return _sum(at, list(value.operands), deep)
    if value.call == "str" and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _size(at, value.inputs[1], deep)  # `'a' * n`
    if value.call == "multiply" and isinstance(node, ast.BinOp) and (repeated := _repeated(value)) is not None:
        return _size(at, repeated, deep)
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and value.call in ARITHMETIC and len(value.operands) == 2:
        arrays = [v for v in value.operands if shape_of(v) != ()]
        wide = [v for v in arrays if not _is_one_of_rows(at, v, deep)]
        return _alike([_rows(at, v, deep) for v in wide])
    if value.call == "[]" and isinstance(node, ast.Subscript) and len(value.operands) == 2:
        return _picked(at, value, node, deep)
    if value.call == "slice" and isinstance(node, ast.Call):
        return _spanned(at, value, ast.Slice(*(node.args[:2] if len(node.args) > 1 else (None, node.args[0]))), deep)
    if value.call == NEXT:
        return _rows(at, value.inputs[0], deep)
    if value.call == "item" and value.inputs:
        source = value.inputs[0]
        if not isinstance(source, Host):
            return None
        _, shape = reshaping(source)
        return _split(at, source) or (_size(at, shape[1], deep) if len(shape) > 1 else None) or at.asked(source, deep)
    if isinstance(parts := parts_of(value), (Number, Host)) and not _bounds(at, parts):
        return _size(at, parts, deep)  # as many arrays as it is split into
    return _called(at, value, node, deep) if isinstance(node, ast.Call) else None


def _repeated(product: Host) -> Host | None:
    """The n of `[0] * n`, where a function of Python's gives it, as `sum([n])` does; None for any other product.

    What NumPy gives may be an array, which a list is multiplied with entry by entry.
    """
    lists = [v for v in product.inputs if isinstance(v, List) and len(v.elements) == 1 and not v.many]
    times = [v for v in product.inputs if isinstance(v, Host) and is_computed(v)]
    alone = len(lists) == 1 and len(times) == 1 and not times[0].call.startswith("numpy.")
    return times[0] if alone else None


def _either(numbers: list[Number | None]) -> Number | None:
    """The number of rows of what is one of several arrays: any of theirs."""
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return None
    if (same := _alike(numbers)) is not None:
        return same
    origins = frozenset(origin for number in known for origin in number.origins)
    linear = known[0].linear.intersection(*(number.linear for number in known[1:]))
    return Number(None, origins, linear, known, chosen=True)


def _alike(numbers: list[Number | None]) -> Number | None:
    """The number of rows of arrays that are combined element by element."""
    known = {n.factors(): n for n in numbers if n is not None}
    return next(iter(known.values())) if len(known) == 1 and None not in numbers else None


def _picked(at: _At, value: Host, node: ast.Subscript, deep: int) -> Number | None:
    """`x[i:i + n]` and `x[indices]`."""
    whole, key = value.operands
    place = node.slice
    if isinstance(whole, Symbol) and (whole.library, whole.name) == ("numpy", "r_"):
        return _ranges_and_rows(at, key, place, deep)
    if isinstance(key, Number) and isinstance(whole, Host) and (rows := _split(at, whole)) is not None:
        return rows
    if isinstance(place, ast.Tuple):
        if not place.elts or not isinstance(key, List) or not key.elements:
            return None
        place, key = place.elts[0], key.elements[0]
    if not isinstance(place, ast.Slice):
        return None if isinstance(key, Number) or _is_mask(key) else _rows(at, key, deep)
    return _spanned(at, key, place, deep, whole)


def _ranges_and_rows(at: _At, key: Value, place: ast.expr, deep: int) -> Number | None:
    """`np.r_[a, b]`, `np.r_[i:i + n, 0]`: arrays and ranges behind each other."""
    written, parts = (place.elts, key.parts()) if isinstance(place, ast.Tuple) else ([place], [key])
    pairs = list(zip(written, parts, strict=False))
    spans = [_spanned(at, part, each, deep) if isinstance(each, ast.Slice) else None for each, part in pairs]
    numbers = (Number(1) if isinstance(part, Number) else part for _, part in pairs)
    return _sum(at, [span or part for span, part in zip(spans, numbers, strict=True)], deep)


def _is_mask(key: Value) -> bool:
    """Whether an array picks rows by an entry for each row, true or false: any number of them."""
    given = arguments_of(key, key.node) if isinstance(key, Host) and isinstance(key.node, ast.Call) else None
    if given is None or not isinstance(key, Host):
        return False
    cast = key.call == "astype"
    kind = given.get(0 if cast else 1, "dtype") if cast or key.call.removeprefix("numpy.") in SHAPED else None
    named = (kind.library, kind.name) if isinstance(kind, Symbol) else ("", getattr(kind, "value", None))
    return named in BOOLEANS


def _counts_on(at: _At, bound: Number | Host, rows: Number | None, deep: int) -> bool:
    """Whether a bound is computed from a number of rows, and counts from the first of them: `len(rows) - 4`."""
    if rows is None or _counts_back(at, bound, deep):
        return False
    numbers = [v for v in needed([bound]).values() if isinstance(v, (Number, Host))]
    known = (at.length(number, deep) or number for number in numbers)
    return any(isinstance(n, Number) and not n.origins.isdisjoint(rows.origins) for n in known)


def _split(at: _At, value: Host) -> Number | None:
    """The number of rows of each part of `np.split(x, len(x) // n)`, and of `np.split(x, range(n, len(x), n))`."""
    parts = parts_of(value)
    if isinstance(parts, Number) and parts.op == "divide" and len(parts.inputs) == 2:
        return parts.inputs[1] if isinstance(parts.inputs[1], Number) else None
    bounds = _bounds(at, parts) if parts is not None else []
    step = bounds[2] if len(bounds) == 3 else None
    return step if isinstance(step, Number) else None


def _bounds(at: _At, numbers: Value) -> list[Value]:
    """The arguments of `range(…)` or `np.arange(…)`, of positions alone; nothing for another value."""
    if isinstance(numbers, Host) and numbers.call == "numpy.arange" and isinstance(numbers.node, ast.Call):
        given = arguments_of(numbers, numbers.node)
        return list(given.positions) if given is not None else []
    return at.facts.ranges.get(numbers.uid, [])


def parts_of(value: Host) -> Value | None:
    """What NumPy is told to split an array by; None for anything else than a split of its rows."""
    given = arguments_of(value, value.node) if isinstance(value.node, ast.Call) else None
    if given is None or value.call.removeprefix("numpy.") not in SPLITS or not value.call.startswith("numpy."):
        return None
    axis = given.get(2, "axis")
    return given.get(1, "indices_or_sections") if axis is None or getattr(axis, "value", None) == 0 else None


def spanned(facts: Facts, key: Value, place: ast.Slice) -> Number | None:
    """The number of rows that a slice takes, once the walk is over; None where it is open. place: of the bounds."""
    if key.uid not in facts.spans:
        facts.spans[key.uid] = _spanned(_At(facts, frozenset()), key, place, DEEP)
    return facts.spans[key.uid]


def _spanned(at: _At, key: Value, place: ast.Slice, deep: int, whole: Value | None = None) -> Number | None:
    """How many rows a slice takes: its end less its begin, which both count from the same end of the data."""
    bounds = list(key.inputs)
    lower = bounds.pop(0) if place.lower is not None and bounds else Number(0)
    upper = bounds.pop(0) if place.upper is not None and bounds else Number(0)
    by = None if place.step is None else getattr(bounds[0], "value", None) if bounds else None
    back = place.lower is not None and _counts_back(at, lower, deep)
    to_end = place.upper is None or _counts_back(at, upper, deep)
    if to_end and not back:
        rows = _from_begin(at, lower, upper, _rows(at, whole, deep), deep) if by is None or by > 0 else None
    elif place.upper is None:
        rows = _computed(at, "subtract", [Number(0), lower], deep) if isinstance(lower, Number) else None
    elif isinstance(lower, Number) and lower.value == 0 and isinstance(place.lower, (ast.Constant, type(None))):
        rows = _size(at, upper, deep)
    else:
        rows = _between(at, lower, upper, place.lower, deep)
    if place.step is None or rows is None:
        return rows
    step = bounds[0] if by is not None else None
    made = _computed(at, "divide", [rows, step], deep) if isinstance(step, Number) else None
    rounded = made is not None and by is not None and rows.value is not None and rows.value % by != 0
    return _computed(at, "sum", [made, _others()], deep) if made is not None and rounded else made


def _from_begin(at: _At, lower: Value, upper: Value, rows: Number | None, deep: int) -> Number | None:
    """`x[1:]`, `x[:-1]`, `x[len(x) - 4:]`: all rows of an array but some at its ends."""
    if rows is None or not isinstance(lower, (Number, Host)) or not isinstance(upper, Number) or upper.value is None:
        return None
    known = lower.value if isinstance(lower, Number) else None
    if (known is None or known < 0) and not _counts_on(at, lower, rows, deep):
        return None
    behind = _computed(at, "subtract", [rows, lower], deep) if known != 0 or origins_behind(lower) else rows
    return _computed(at, "add", [behind, upper], deep) if behind is not None and upper.origins else behind


def _counts_back(at: _At, bound: Value, deep: int) -> bool:
    """Whether a bound counts rows from the end: `x[:-n]` has all but n."""
    if not isinstance(bound, (Number, Host)):
        return False
    factors = [factor for _, factor in TermReader(frozenset(), lambda number: at.length(number, deep)).of(bound)]
    return bool(factors) and all(factor < 0 for factor in factors)


def _between(at: _At, lower: Value, upper: Value, written: ast.expr | None, deep: int) -> Number | None:
    """The distance of two bounds: `i + n` less `i`, `(i + 1) * n` less `i * n`; written: the lower one.

    A 0 by a name is another number in the next turn of a loop: nothing tells its distance from an unrelated number.
    """
    if not isinstance(lower, (Number, Host)) or not isinstance(upper, (Number, Host)):
        return None
    moves = isinstance(lower, Number) and lower.value == 0 and not lower.inputs
    moves = moves and not isinstance(written, ast.Constant)
    made = Number(None, inputs=(upper, lower))
    made.op = SPAN if moves else "subtract"
    rows = at.measured(made, deep)
    return rows if rows is None or rows.linear or not moves or lower.uid in needed([upper]) else None


def _called(at: _At, value: Host, node: ast.Call, deep: int) -> Number | None:
    given = arguments_of(value, node)
    if given is None:
        return None
    holder = value.inputs[0]
    method = isinstance(holder, Host) and isinstance(holder.node, ast.Attribute) and holder.call == value.call
    if isinstance(holder, Host) and method and name_of(value) == value.call:
        return _method(at, value, holder.inputs[0], given, deep)
    name = name_of(value).removeprefix("numpy.")
    if name == "arange" and len(given.positions) in (2, 3):
        return _ranged(at, given.positions, node.args[:1], deep)
    if name_of(value) in ROWS:
        return _size(at, given.get(ROWS[name_of(value)], *ROWS_NAMED), deep)
    if name == name_of(value):
        if name in ("list", "tuple") and len(value.operands) == 1:
            return _rows(at, value.inputs[0], deep)
        if name.rpartition(".")[2] == PADS:
            return _rows(at, given.get(0, "sequences"), deep)
        if name == "sorted":
            return _rows(at, given.get(0, "iterable"), deep)
        return at.asked(value, deep)
    if name == "reshape":
        return _reshaped(at, value, deep)
    if value.call in LENGTHENS:
        return _lengthened(at, name, given, deep)
    if name in TO_ONE:
        return _reduced(at, given.get(0, "a"), given, 1, deep)
    if name == "take" and getattr(given.get(2, "axis"), "value", None) == 0:
        return _rows(at, given.get(1, "indices"), deep)
    if name == "repeat" and getattr(given.get(2, "axis"), "value", None) == 0:
        return _times(at, given.get(0, "a"), given.get(1, "repeats"), deep)
    if name in SPLICES and getattr(given.get(SPLICES[name], "axis"), "value", None) == 0:
        rows = _rows(at, given.get(0, "arr"), deep)
        one = name == "delete" and isinstance(given.get(1, "obj"), Number)
        return _computed(at, "sum", [rows, Number(-1) if one else _others()], deep) if rows is not None else None
    along = given.get(1, "axis") if name in (*LIKE, *STACKED) else None
    stacked = name in STACKED and getattr(along, "value", None) == 0
    if name in MOVES or stacked or (name in (*LIKE, *STACKED) and along is None):
        return _rows(at, given.get(0, "a", "x", "m", "object", "arrays"), deep)
    return None


def _is_list(value: Value) -> bool:
    return isinstance(value, List) or (isinstance(value, Host) and value.call in ("list", "tolist"))


def _lengthened(at: _At, name: str, given: Arguments, deep: int) -> Number | None:
    """The number of rows of arrays behind each other, or of one that is repeated."""
    first, second, axis = given.get(0, "arrays", "arr", "a", "A", "array", "tup"), given.get(1, "values", "reps"), None
    if name in ("concatenate", "append"):
        axis = given.get(1 if name == "concatenate" else 2, "axis")
        if getattr(axis, "value", 0 if name == "concatenate" else None) != 0:
            return None
    if name in ("concatenate", "vstack"):
        return _behind_each_other(at, first, deep, name == "vstack") if isinstance(first, List) else None
    if first is None or second is None:
        return None
    if name == "append":
        return _sum(at, [first, second], deep)
    times = second.elements[0] if isinstance(second, List) and second.elements else None
    if name == "tile":
        return _size(at, times, deep) if _is_one_of_rows(at, first, deep) else _times(at, first, times, deep)
    if name != "pad" or (rows := _rows(at, first, deep)) is None:
        return None
    width = times.elements if isinstance(times, List) else [times, times]
    return _computed(at, "sum", [rows, *(v for v in width if isinstance(v, Number) and v.value != 0)], deep)


def _is_one_of_rows(at: _At, value: Value, deep: int) -> bool:
    """Whether a value is one of the rows of an array, and has none itself: `rows[0]`, no batch of several."""
    if not isinstance(value, Host) or value.call != "[]" or len(value.operands) != 2:
        return False
    whole, key = value.operands
    one = isinstance(key, Number) or (isinstance(key, Host) and shape_of(key) == ())
    flat = len(shape_of(value) or (None,)) == 1 and isinstance(whole, Host) and _split(at, whole) is None
    return one and flat and _rows(at, whole, deep) is not None


def _times(at: _At, repeated: Value | None, times: Value | None, deep: int) -> Number | None:
    """The number of rows of an array that is repeated so many times."""
    rows = _rows(at, repeated, deep)
    return _computed(at, "multiply", [rows, times], deep) if rows is not None and isinstance(times, Number) else None


def _reduced(at: _At, array: Value | None, given: Arguments, position: int, deep: int) -> Number | None:
    """The number of rows of what is reduced along an axis that stands at a position; a sum over all rows may be one."""
    axis = getattr(given.get(position, "axis"), "value", None)
    if axis == 0:
        return Number(1) if getattr(given.names.get("keepdims"), "value", False) is True else None
    return _rows(at, array, deep) if isinstance(axis, int) and axis > 0 else None


def _sum(at: _At, parts: Iterable[Value], deep: int) -> Number | None:
    """The number of rows of arrays or lists behind each other, and of rows that are counted.

    Beside a batch, data of an unknown length that no number of its rows is behind has any number of rows.
    """
    rows = [(part, part if isinstance(part, Number) else _rows(at, part, deep)) for part in parts]
    known = [number for _, number in rows if number is not None]
    origins = frozenset(origin for number in known for origin in number.origins)
    others = [part for part, number in rows if number is None]
    if others and (not origins or any(origins & origins_behind(part) for part in others)):
        return None
    return _computed(at, "sum", [*known, *([_others()] if others else [])], deep)


def _behind_each_other(at: _At, parts: List, deep: int, stacked: bool = False) -> Number | None:
    """The number of rows of the arrays of a list, put behind each other; a loop may have put any number into the list.

    Where the rows of a part are not known they are as many in each part. stacked: single rows are parts, too.
    """
    single = [part for part in parts.elements if stacked and _is_one_of_rows(at, part, deep)]
    if single and len(single) == len(parts.elements):
        return _rows(at, parts, deep)
    if not parts.unmeasured:
        rows = _sum(at, [part for part in parts.elements if part not in single], deep)
        return _computed(at, "sum", [rows, Number(len(single))], deep) if rows is not None and single else rows
    count, each = _rows(at, parts, deep), [_rows(at, part, deep) for part in parts.elements]
    rows = _alike(each) if each else None
    if count is None or rows is not None:
        return _computed(at, "multiply", [count, rows], deep) if count is not None and rows is not None else None
    return _in_proportion(at, count, parts.elements, deep) if not any(each) else None


def _in_proportion(at: _At, rows: Number, beside: list[Value], deep: int) -> Number | None:
    """So many rows, each as often as is not known; None where the values beside depend on the same numbers."""
    inside = (v.origins for v in needed(beside).values() if isinstance(v, Number))
    if not rows.origins.isdisjoint(origin for origins in inside for origin in origins):
        return None
    return _computed(at, "multiply", [rows, _others()], deep)


def _reshaped(at: _At, value: Host, deep: int) -> Number | None:
    """The number of rows of `x.reshape(n, 4)`, and of `x.reshape(-1, 4)`, where each row of x gives as many."""
    source, shape = reshaping(value)
    first = getattr(shape[0], "value", None) if shape else None
    if first != -1:
        return _size(at, shape[0], deep) if shape else None
    rows, own = _rows(at, source, deep), shape_of(source)
    others = [*shape[1:], *((own or ())[1:])]
    return _in_proportion(at, rows, [v for v in others if isinstance(v, Value)], deep) if rows is not None else None


def _method(at: _At, value: Host, receiver: Value, given: Arguments, deep: int) -> Number | None:
    if value.call == "reshape":
        return _reshaped(at, value, deep)
    if value.call in (*SAME, "tolist", "toarray", "todense"):
        return _rows(at, receiver, deep)
    if value.call in TO_ONE:
        return _reduced(at, receiver, given, 0, deep)
    return at.asked(value, deep)


def _size(at: _At, value: Value | None, deep: int) -> Number | None:
    """The first entry of a size: `n`, `(n, 20)`; of `len(rows)` the number of these rows, where it is known."""
    if isinstance(value, List) and value.elements and not value.many:
        value = value.elements[0]
    if isinstance(value, Number):
        return None if value.value is not None and value.value < 0 else at.measured(value, deep)
    counted = isinstance(value, Host) and is_computed(value, lambda number: at.length(number, deep))
    return at.measured(value, deep) if isinstance(value, Host) and counted else None


def counted_by(length: Value) -> Value | None:
    """What a number is the length of, as `len(rows)` and `rows.shape[0]` are of the rows; None for another value."""
    if isinstance(length, Host):
        shape, place = length.inputs if length.call == "[]" and len(length.inputs) == 2 else (length, length)
        asked = isinstance(shape, Host) and shape.call in ("shape", "numpy.shape") and shape.inputs
        return shape.inputs[-1] if asked and isinstance(place, Number) and place.value == 0 else None
    if not isinstance(length, Number) or len(length.inputs) != 1 or length.op:
        return None
    whole = length.inputs[0]
    listed = isinstance(whole, List) and not length.origins and length.value is not None
    return whole if listed or (length.origins and all(map(_is_length, length.origins))) else None


def _is_length(origin: Origin) -> bool:
    """Whether a number is what `len(…)` gives."""
    return isinstance(origin.node, ast.Call) and getattr(origin.node.func, "id", "") == "len"
