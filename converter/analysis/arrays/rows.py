"""The numbers in a script that determine how many rows its arrays and lists have."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from converter.analysis.arrays.filled_lists import filled, puts_one
from converter.analysis.arrays.shapes import (
    ARITHMETIC,
    DEEP,
    LIKE,
    SAME,
    SHAPED,
    SIZED,
    arguments_of,
    is_generator,
    shape_of,
)
from converter.analysis.values import Host, Number, Origin, Value
from converter.analysis.values import Sequence as List
from converter.dataclass import dataclass

if TYPE_CHECKING:
    from converter.analysis.facts import Effect, Facts
    from converter.analysis.frames import Access
    from converter.analysis.values import Site

NEXT = "next"  # the call of what `next()` gives of a generator that is followed
LOOPS = (ast.For, ast.AsyncFor, ast.While)
LEAST = ("min", "numpy.minimum")
SPLITS = ("split", "array_split", "vsplit")  # of NumPy: into a number of parts, or at some rows
LENGTHENS = {f"numpy.{name}" for name in ("append", "concatenate", "hstack", "pad", "resize", "tile", "vstack")}
STACKED = ("stack", "row_stack")  # functions of NumPy that give a row for each entry of a list
PADS = "pad_sequences"  # of Keras and of libraries like it: a row for each sequence
DRAWN = {"random.sample": 1, "random.choices": 1}  # Python's: where the number of what is drawn stands


def may_be_longer(value: Value) -> bool:
    """Whether a call of NumPy gives an array that may have more rows than those it is made of."""
    return isinstance(value, Host) and value.call in LENGTHENS


def rows_of(facts: Facts, value: Value | None, site: Site) -> Number | None:
    """The number of rows of an array or a list where it is read; None if it is not known."""
    return _rows(_At(facts, frozenset(site.chain())), value, DEEP)


@dataclass(frozen=True)
class _At:
    """Where it is asked: the statements around that place, through callers up to the module."""

    facts: Facts
    around: frozenset[Site]


def _rows(at: _At, value: Value | None, deep: int) -> Number | None:
    if deep == 0:
        return None
    if isinstance(value, List):
        return _of_list(at, value, deep - 1)
    return _of_host(at, value, deep - 1) if isinstance(value, Host) else None


# -- lists -----------------------------------------------------------------------------------------


def _of_list(at: _At, value: List, deep: int) -> Number | None:
    if value.uid in at.facts.listed:  # a comprehension
        return _turns(at, at.facts.listed[value.uid], deep)
    further = [v for v in value.inputs if v not in value.elements]
    changes = at.facts.changes_of(value)
    if value.uid in at.facts.ranges and not changes and (between := _turns(at, value, deep)) is not None:
        return between  # `x[range(i, i + n)]`, also of a few numbers that are known one by one
    cuts = [v for v in further if isinstance(v, Host) and isinstance(v.node, ast.Slice)]
    if cuts and not changes:  # `rows[i:i + n]`
        return spanned(cuts[0], cuts[0].node) if isinstance(cuts[0].node, ast.Slice) else None
    if further:  # `[row] * n`
        times = further[0] if len(further) == 1 and isinstance(further[0], Number) else None
        repeats = len(value.elements) if times is None or times.value is not None else 1
        return times if times is not None and (times.value is None or times.value == repeats) else None
    if not changes and not value.many and not value.elements and (later := _filled_later(at, value)) is not None:
        return _of_list(at, later, deep)
    if not changes:
        return None if value.many else Number(len(value.elements))
    given = [a.site for a in at.facts.accesses_of(value) if not a.write and _is_given(a)]
    at = replace(at, around=at.around.union(*(site.chain() for site in given)))
    appended = _appended(at, value, changes, deep)
    return appended or filled(at.facts, value, at.around)


def _filled_later(at: _At, value: List) -> List | None:
    """The list of the same name that rows are put into, where an empty one stands for it in a loop's first turn."""
    places = {a.place for a in at.facts.accesses_of(value) if a.write and a.place.kind == "name"}
    return next(
        (
            a.value
            for a in at.facts.accesses
            if a.place in places and isinstance(a.value, List) and a.value.elements and at.facts.changes_of(a.value)
        ),
        None,
    )


def _is_given(access: Access) -> bool:
    """Whether a generator gives a value to its caller where it is read, or a list of batches gets it."""
    for node in ast.walk(access.site.stmt):
        appends = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"
        held = node.args if appends and isinstance(node, ast.Call) else [node] if isinstance(node, ast.Yield) else []
        if any(access.node in ast.walk(part) for part in held):
            return True
    return False


def _appended(at: _At, value: List, changes: list[Effect], deep: int) -> Number | None:
    """A list that starts empty and gets one row in each turn of a loop."""
    nodes, site = {e.node for e in changes}, changes[0].site
    outside = set(value.site.chain()) if value.site is not None else set()
    within = [step for step in site.chain() if step not in outside]
    blocks = [step for step in within if isinstance(step.stmt, (*LOOPS, ast.If, ast.Try))]
    alone = len(nodes) == 1 and len(blocks) == 1 and puts_one(changes[0])
    if not alone or blocks[0] not in at.facts.turned or blocks[0] in at.around:
        return None  # also within that loop, where it has any number yet
    return _turns(at, at.facts.turned[blocks[0]], deep)


def _turns(at: _At, iterable: Value, deep: int) -> Number | None:
    """How many entries a loop goes over: `range(n)`, `range(begin, begin + n)`, or the rows of an array."""
    if isinstance(iterable, List) and iterable.uid in at.facts.ranges:
        bounds = at.facts.ranges[iterable.uid]
        numbers = [b for b in bounds if isinstance(b, Number)]
        written = at.facts.range_calls[iterable.uid].args
        between = _between(bounds[0], bounds[1], ast.Slice(*written)) if len(bounds) == len(written) == 2 else None
        from_zero = len(numbers) == len(bounds) and (len(bounds) == 1 or (len(bounds) == 2 and numbers[0].value == 0))
        if from_zero and between is not None and between.linear and not numbers[-1].linear:
            return between  # `range(i, i + n)` where i is still 0
        return numbers[-1] if from_zero else between
    return _rows(at, iterable, deep)


# -- arrays ----------------------------------------------------------------------------------------


def _of_host(at: _At, value: Host, deep: int) -> Number | None:
    node = value.node
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and value.call in ARITHMETIC and len(value.inputs) == 2:
        arrays = [v for v in value.inputs if shape_of(v) != ()]
        return _alike([_rows(at, v, deep) for v in arrays])
    if value.call == "[]" and isinstance(node, ast.Subscript) and len(value.inputs) == 2:
        return _picked(at, value, node, deep)
    if value.call == "slice" and isinstance(node, ast.Call):
        return spanned(value, ast.Slice(*(node.args[:2] if len(node.args) > 1 else (None, node.args[0]))))
    if value.call == NEXT:
        return _rows(at, value.inputs[0], deep)
    if value.call == "item" and value.inputs:
        source = value.inputs[0]
        return (_split(at, source) or _asked(source)) if isinstance(source, Host) else None
    return _called(at, value, node, deep) if isinstance(node, ast.Call) else None


def _alike(numbers: list[Number | None]) -> Number | None:
    """The number of rows of arrays that are combined element by element."""
    known = {n.linear: n for n in numbers if n is not None}
    return next(iter(known.values())) if len(known) == 1 and None not in numbers else None


def _asked(value: Host) -> Number | None:
    """The first number among the arguments of an unfollowed call whose name contains `batch`."""
    if "batch" not in value.call.rpartition(".")[2].lower():
        return None
    return next((v for v in value.inputs if isinstance(v, Number)), None)


def _picked(at: _At, value: Host, node: ast.Subscript, deep: int) -> Number | None:
    """`x[i:i + n]` and `x[indices]`."""
    whole, key = value.inputs
    place = node.slice
    if isinstance(key, Number) and isinstance(whole, Host) and (rows := _split(at, whole)) is not None:
        return rows
    if isinstance(place, ast.Tuple):
        if not place.elts or not isinstance(key, List) or not key.elements:
            return None
        place, key = place.elts[0], key.elements[0]
    if not isinstance(place, ast.Slice):
        return None if isinstance(key, Number) else _rows(at, key, deep)
    if place.lower is None and place.upper is None:
        return _rows(at, whole, deep) if place.step is None else None
    return spanned(key, place)


def _split(at: _At, value: Host) -> Number | None:
    """The number of rows of each part of `np.split(x, len(x) // n)`, and of `np.split(x, range(n, len(x), n))`."""
    parts = parts_of(value)
    if isinstance(parts, Number) and parts.quotient and len(parts.inputs) == 2:
        return parts.inputs[1] if isinstance(parts.inputs[1], Number) else None
    bounds = at.facts.ranges.get(parts.uid, []) if parts is not None else []
    step = bounds[2] if len(bounds) == 3 else None
    return step if isinstance(step, Number) else None


def parts_of(value: Host) -> Value | None:
    """What NumPy is told to split an array by; None for anything else than a split of its rows."""
    given = arguments_of(value, value.node) if isinstance(value.node, ast.Call) else None
    if given is None or value.call.removeprefix("numpy.") not in SPLITS or not value.call.startswith("numpy."):
        return None
    axis = given.get(2, "axis")
    return given.get(1, "indices_or_sections") if axis is None or getattr(axis, "value", None) == 0 else None


def spanned(key: Value, place: ast.Slice) -> Number | None:
    """The number of rows that a slice takes."""
    bounds = list(key.inputs)
    lower = bounds.pop(0) if place.lower is not None and bounds else None
    upper = bounds.pop(0) if place.upper is not None and bounds else None
    if place.step is not None or upper is None:
        return None
    if lower is None or (isinstance(place.lower, ast.Constant) and place.lower.value == 0):
        return upper if isinstance(upper, Number) else None
    return _between(lower, upper, place)


def _between(lower: Value, upper: Value, place: ast.Slice) -> Number | None:
    """The distance of two bounds: `i + n` less `i`, `(i + 1) * n` less `i * n`."""
    written = place.upper
    if isinstance(written, ast.Name) and upper.site is not None and isinstance(upper.site.stmt, ast.Assign):
        written = _assigned(upper.site.stmt, written.id)  # `end = begin + n`
    if isinstance(written, ast.Call) and isinstance(upper, Number):
        sums = [arg for arg in written.args if isinstance(arg, ast.BinOp)]
        written = sums[0] if len(sums) == 1 else written  # `x = rows_between(begin, begin + n)`
    if isinstance(written, ast.Call) and written.args and isinstance(upper, Host) and upper.call in LEAST:
        # `min(begin + n, len(x))`; what holds a function comes before its arguments
        bounds = zip(upper.inputs[-len(written.args) :], written.args, strict=False)
        within = [_between(lower, value, ast.Slice(place.lower, node)) for value, node in bounds]
        return _alone([number for number in within if number is not None])
    if isinstance(upper, Number) and upper.chosen and not upper.linear and len(upper.inputs) == 2:
        parts = [written.body, written.orelse] if isinstance(written, ast.IfExp) else [place.upper] * 2
        both = zip(upper.inputs, parts, strict=True)  # `begin + n if begin + n < len(x) else len(x)`
        within = [_between(lower, value, ast.Slice(place.lower, part)) for value, part in both]
        return _alone([number for number in within if number is not None])
    if isinstance(written, ast.BinOp) and isinstance(written.op, ast.Add) and len(upper.inputs) == 2:
        sides = zip((written.left, written.right), upper.inputs, upper.inputs[::-1], strict=True)
        for side, one, rest in sides:
            same = one is lower or (place.lower is not None and ast.dump(side) == ast.dump(place.lower))
            if same and isinstance(rest, Number):
                return rest
    start = place.lower
    if isinstance(start, ast.BinOp) and isinstance(start.op, ast.Sub) and len(lower.inputs) == 2:  # `x[i - n:i]`
        rest = lower.inputs[1]
        if place.upper is not None and ast.dump(start.left) == ast.dump(place.upper) and isinstance(rest, Number):
            return rest
    if not isinstance(lower, Number) or not isinstance(upper, Number):
        return None
    common = frozenset(o for o in upper.linear if any(_is_same(o, p) for p in lower.linear))
    return Number(None, common, common, (lower, upper)) if common else None


def _alone(numbers: list[Number]) -> Number | None:
    return numbers[0] if len(numbers) == 1 else None


def _assigned(stmt: ast.Assign, name: str) -> ast.expr:
    """What a statement assigns to a name, of several in `begin, end = i, i + n`."""
    for target in stmt.targets:
        if isinstance(target, ast.Tuple) and isinstance(stmt.value, ast.Tuple):
            pairs = zip(target.elts, stmt.value.elts, strict=False)
            return next((value for to, value in pairs if isinstance(to, ast.Name) and to.id == name), stmt.value)
    return stmt.value


def _is_same(origin: Origin, other: Origin) -> bool:
    """Whether two numbers are one, or the same one written out twice: `x[i * 64:(i + 1) * 64]`."""
    return origin == other or (isinstance(origin.node, ast.Constant) and ast.dump(origin.node) == ast.dump(other.node))


def _called(at: _At, value: Host, node: ast.Call, deep: int) -> Number | None:
    given = arguments_of(value, node)
    if given is None:
        return None
    name = value.call.removeprefix("numpy.")
    if value.call in DRAWN:
        return _size(at, given.get(DRAWN[value.call], "k"), deep)
    holder = value.inputs[0]
    if isinstance(holder, Host) and isinstance(holder.node, ast.Attribute) and holder.call == value.call:
        receiver = holder.inputs[0]
        if not is_generator(receiver):
            return _method(at, value, receiver, given.positions, deep)
        name = value.call if value.call in SIZED else f"random.{value.call}"
    elif name == value.call:
        if name.rpartition(".")[2] == PADS:
            return _rows(at, given.get(0, "sequences"), deep)
        if name == "sorted":
            return _rows(at, given.get(0, "iterable"), deep)
        return _asked(value)
    if name in ("random.rand", "random.randn"):
        return _size(at, given.positions[0], deep) if given.positions else None
    if name in SIZED:
        return _size(at, given.get(SIZED[name], "size"), deep)
    if name == "random.choice":
        return _size(at, given.get(1, "size"), deep)
    if name in (*SHAPED, "arange", "random.permutation", "eye", "identity"):
        alone = name in SHAPED or len(given.positions) == 1
        return _size(at, given.get(0, "shape", "N", "n"), deep, node.args[0] if node.args else None) if alone else None
    if name == "reshape":
        return _size(at, given.get(1, "newshape", "shape"), deep)
    if name in (*LIKE, *STACKED) and given.get(1, "axis") is None:
        return _rows(at, given.get(0, "a", "x", "object", "arrays"), deep)
    return None


def _method(at: _At, value: Host, receiver: Value, positions: list[Value], deep: int) -> Number | None:
    if value.call == "reshape":
        return _size(at, positions[0], deep) if positions else None
    if value.call in (*SAME, "tolist", "toarray", "todense"):
        return _rows(at, receiver, deep)
    return _asked(value)


def _size(at: _At, value: Value | None, deep: int, node: ast.expr | None = None) -> Number | None:
    """The first entry of a size: `n`, `(n, 20)`; of `len(rows)` the number of these rows, where it is known.

    node: how it is written, where that is known.
    """
    if isinstance(value, List) and value.elements and not value.many:
        value = value.elements[0]
        node = node.elts[0] if isinstance(node, (ast.Tuple, ast.List)) and node.elts else None
    if not isinstance(value, Number) or (value.value is not None and value.value < 0):
        return None
    return _counted(at, value, deep) or _distance(value, node) or value


def _distance(length: Number, written: ast.expr | None) -> Number | None:
    """The number of rows between two bounds: `end - begin`."""
    if isinstance(written, ast.Name) and length.site is not None and isinstance(length.site.stmt, ast.Assign):
        written = _assigned(length.site.stmt, written.id)
    if not isinstance(written, ast.BinOp) or not isinstance(written.op, ast.Sub) or len(length.inputs) != 2:
        return None
    end, begin = length.inputs
    return _between(begin, end, ast.Slice(written.right, written.left))


def _counted(at: _At, length: Number, deep: int) -> Number | None:
    """The number of rows whose length a number is; None if it is no length."""
    counted = counted_by(length)
    return _rows(at, counted, deep - 1) if counted is not None else None


def counted_by(length: Number) -> Value | None:
    """What a number is the length of, as `len(rows)` is of the rows; None for another number."""
    alone = len(length.inputs) == 1 and bool(length.origins)
    return length.inputs[0] if alone and all(map(_is_length, length.origins)) else None


def _is_length(origin: Origin) -> bool:
    """Whether a number is what `len(…)` gives."""
    return isinstance(origin.node, ast.Call) and getattr(origin.node.func, "id", "") == "len"
