"""Arithmetic, comparisons and conditions on stand-in values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from converter.analysis.arrays.filled_lists import emptied
from converter.analysis.counts.reading import TermReader
from converter.analysis.counts.terms import atom
from converter.analysis.effects import EffectKind
from converter.analysis.flow import arithmetic
from converter.analysis.flow.collected import Collected
from converter.analysis.flow.constants import Taken
from converter.analysis.frames import Access
from converter.analysis.inputs.decided import joined_by
from converter.analysis.inputs.embedded_data import enter, summed_axis
from converter.analysis.python.containers import any_of, bounded, item_place, iterate
from converter.analysis.python.joins import join
from converter.analysis.python.settings import is_always_given
from converter.analysis.tensors import algebra
from converter.analysis.tensors.shaping import times_as_many
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    MEMBER,
    Absent,
    Bound,
    Choice,
    Class,
    Constant,
    Count,
    Function,
    Host,
    Instance,
    Length,
    Mapping,
    Number,
    Origin,
    Sequence,
    ShapeOf,
    Symbol,
    Tensor,
    Typed,
    Value,
)

if TYPE_CHECKING:
    from converter.analysis.walk import Switch, Walk


ARITHMETIC = ("add", "subtract", "multiply", "divide")
SETTINGS = ("parameter", "item", "[]", *ARITHMETIC)  # what makes numbers of settings
MET = 4  # executions of an operation of which the numbers are kept
SHIFTS: dict[type[ast.operator], str] = {ast.LShift: "lshift", ast.RShift: "rshift"}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
SAME: dict[type[ast.cmpop], bool] = {ast.Is: True, ast.Eq: True, ast.IsNot: False, ast.NotEq: False}
TYPES = {"list", "tuple", "dict", "int", "float", "bool", "str", "Tensor"}  # those that `type(x)` gives, and dict


def _binary(walk: Walk, node: ast.BinOp) -> Value:
    left, right = walk.evaluate(node.left), walk.evaluate(node.right)
    made = binary(walk, node.op, left, right, node)
    for part, value in ((node.left, left), (node.right, right), (node, made)):
        _note_number(walk, part, value)
    return made


def _note_number(walk: Walk, node: ast.expr, value: Value) -> None:
    """Notes a number that is computed with or compared, as it is in the first turns of a loop."""
    if isinstance(value, (Number, Host)):
        met = walk.facts.operands.setdefault(node, {}).setdefault(walk.site, [])
        if len(met) < MET:
            met.append(value)


def binary(walk: Walk, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    """The result of an arithmetic operator on any two values."""
    kind = _operator(walk, op, node)
    name, _ = arithmetic.OPERATORS[kind]
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        if isinstance(op, ast.MatMult):
            return _product(walk, left, right, node)
        left, right = enter(walk, left, (node, "left"), right), enter(walk, right, (node, "right"), left)
        return algebra.elementwise(walk.facts, name, [left, right])
    if name == "multiply":
        left, right = _as_factor(walk, left, right, node), _as_factor(walk, right, left, node)
    if name == "divide" and (times := times_as_many(left, right)) is not None:
        return times
    if isinstance(left, (Number, Count)) and isinstance(right, (Number, Count)):
        return _numbers(name, kind, left, right)
    if isinstance(left, Sequence) and isinstance(op, ast.Add):
        if isinstance(right, Sequence):
            both = Sequence(left.elements + right.elements, left.mutable, left.many or right.many).like(left, right)
            if both.ends is not None or left.open:  # of one that is not loose, all elements stand at their places
                whole = 1 if left.open else len(left.elements) + (right.ends[0] if right.ends else 0)
                head = left.ends[0] if left.ends else whole
                tail = right.ends[1] if right.ends else len(right.elements) + (left.ends[1] if left.ends else 0)
                both.ends = head, tail
            return bounded(both)
        if isinstance(right, ShapeOf):
            return Sequence(left.elements + iterate(right, None), left.mutable)
    if isinstance(left, ShapeOf) and isinstance(right, Sequence) and isinstance(op, ast.Add):
        return Sequence(iterate(left, None) + right.elements, right.mutable)
    if isinstance(op, ast.Mult) and (repeated := _repeated(walk, left, right) or _repeated(walk, right, left)):
        return repeated
    if isinstance(op, (ast.Sub, ast.Div, ast.FloorDiv)) and _are_lengths(left) and _are_lengths(right):
        return algebra.elementwise(walk.facts, name, [left, right])  # no lists: Python has no such operator for them
    if isinstance(left, Constant) and isinstance(left.value, str):
        return _string(left.value, left, right, op, node)
    return Host((left, right), name, node)


def _are_lengths(value: Value) -> bool:
    """Whether a value is a part of a shape, `tf.shape(x)[1:3]`, without the number of examples."""
    return isinstance(value, Sequence) and not value.many and all(isinstance(e, Length) for e in value.elements)


def _operator(walk: Walk, op: ast.operator, node: ast.AST) -> type[ast.operator]:
    """An operator's type; of Python 2's `/` between numbers, that of the division which it is there."""
    if not isinstance(op, ast.Div) or not walk.project.python2:
        return type(op)
    body = walk.facts.tree_of(walk.facts.path_of(node)).body
    imported = (stmt for stmt in body if isinstance(stmt, ast.ImportFrom) and stmt.module == "__future__")
    is_true = any(alias.name == "division" for stmt in imported for alias in stmt.names)
    return ast.Div if is_true else arithmetic.ClassicDiv


def _product(walk: Walk, left: Value, right: Value, node: ast.AST) -> Tensor:
    """The result of `left @ right`."""
    one = enter(walk, left, (node, "left"), right, summed=summed_axis(True, False))
    two = enter(walk, right, (node, "right"), left, columns=True, summed=summed_axis(False, False))
    return algebra.matmul(one, two)


def _repeated(walk: Walk, row: Value, times: Value) -> Sequence | None:
    """`[x] * n`; an array, too, may stand beside numbers, but never beside tensors."""
    if not isinstance(row, Sequence) or not isinstance(times, (Number, Host)):
        return None
    known = times.value if isinstance(times, Number) and isinstance(times.value, int) and times.value < 100 else None
    known = None if times.uid in walk.assumed else known  # a caller that is not seen may give another number
    if known is not None and known * len(row.elements) > arithmetic.MOST_ELEMENTS:
        known = None
    if isinstance(times, Host) and not (row.elements and all(isinstance(e, Tensor) for e in row.elements)):
        return None
    repeats = 1 if known is None else known
    made = Sequence(row.elements * repeats, row.mutable, many=row.many or (known is None and bool(row.elements)))
    made.like(row)
    made.inputs = (*made.inputs, times)
    return made


def _is_setting(value: Value) -> bool:
    """Whether a value is a setting, or computed from settings alone: not from a place in the data, `step % turns`."""
    if not isinstance(value, Host) or value.roots or value.call not in SETTINGS:
        return False
    computed = value.call in ARITHMETIC
    return not computed or all(_is_setting(part) for part in value.inputs if isinstance(part, Host))


def _as_factor(walk: Walk, value: Value, beside: Value, node: ast.AST) -> Value:
    """A setting that is not known, as the number that it must be beside a batch size."""
    setting = _is_setting(value)
    origins = beside.linear if isinstance(beside, Number) else ()
    if not setting or not walk.facts.named_sizes(origins):
        return value
    own = frozenset((walk.origin(node, "setting"),))
    return Number(None, own, own, (value,))


def _string(text: str, left: Constant, right: Value, op: ast.operator, node: ast.AST) -> Value:
    parts = right.elements if isinstance(right, Sequence) else [right]
    values: tuple[Any, ...] = tuple(getattr(part, "value", None) for part in parts)
    if None not in values:
        made = arithmetic.text(type(op), text, values)
        if made is not None:
            return Constant(made)
    return Host((left, right), "str", node)


def _numbers(name: str, op: type[ast.operator], left: Number | Count, right: Number | Count) -> Value:
    """The result of arithmetic on two numbers, with the origins that it goes on following."""
    if isinstance(left, Count) or isinstance(right, Count):
        count, by = (left, right) if isinstance(left, Count) else (right, left)
        assert isinstance(count, Count)
        if isinstance(by, Number) and by.value == 1 and (name == "multiply" or (name == "divide" and by is right)):
            return count
        return (
            Count(count.tensor, (left, right), scaled=True)
            if name in ("multiply", "divide")
            else Host((left, right), name)
        )
    value = arithmetic.number(op, left.value, right.value)
    linear: frozenset[Origin] = frozenset()
    if name == "multiply":
        linear = left.linear | right.linear
    elif name in ("add", "subtract"):
        linear = left.linear & right.linear
    elif name == "divide":
        linear = left.linear - right.origins
    made = Number(value, left.origins | right.origins, linear, (left, right))
    made.op = SHIFTS.get(op, name)
    return made


def _unary(walk: Walk, node: ast.UnaryOp) -> Value:
    operand = walk.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        known = truth(operand)
        return Host((operand,)) if known is None else Constant(not known)
    if isinstance(operand, Tensor):
        return algebra.elementwise(walk.facts, "invert" if isinstance(node.op, ast.Invert) else "negative", [operand])
    if isinstance(operand, Number):
        value = None if operand.value is None else -operand.value if isinstance(node.op, ast.USub) else operand.value
        made = Number(value, operand.origins, operand.linear, (operand,))
        made.op = {ast.USub: "negative", ast.UAdd: "int"}.get(type(node.op), "invert")
        return made
    return Host((operand,), "", node)


def _compare(walk: Walk, node: ast.Compare) -> Value:
    sides = [node.left, *node.comparators]
    operands = [walk.evaluate(side) for side in sides]
    for side, operand in zip(sides, operands, strict=True):
        _note_number(walk, side, operand)
    if any(isinstance(o, Tensor) for o in operands) and not isinstance(
        node.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
    ):
        return algebra.elementwise(walk.facts, "compare", operands)
    if len(operands) == 2:
        if isinstance(operands[1], Mapping) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            walk.read(item_place(operands[1], operands[0]), operands[1].get(operands[0]) or Absent(), node)
        known = _compared(node.ops[0], operands[0], operands[1])
        known = _with_none(walk, node.ops[0], *operands) if known is None else known
        known = _of_first_turn(walk, node.ops[0], operands[0], operands[1]) if known is None else known
        known = None if any(map(walk.is_partly_none, operands)) else known
        known = False if known is None and _gives_no_row(walk, node, operands) else known
        if known is not None:
            return Constant(known)
    return Host(operands, "compare")


def _with_none(walk: Walk, op: ast.cmpop, one: Value, two: Value) -> bool | None:
    """What `FLAGS.batch_size is None` says where the flag has a default, or `2 * n is None`; else None."""
    given = (isinstance(one, Number) and one.op in ARITHMETIC) or is_always_given(walk.facts, one)
    beside = isinstance(two, Constant) and two.value is None and isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq))
    return isinstance(op, (ast.IsNot, ast.NotEq)) if beside and given else None


def _of_first_turn(walk: Walk, op: ast.cmpop, number: Value, other: Value) -> bool | None:
    """What `i == 0` says in the first turn of `for i in range(n)` and in later ones; None for any other comparison."""
    followed = isinstance(number, Number) and number.turn in walk.repeats.first and number.turn in walk.facts.ranges
    if not isinstance(number, Number) or not followed or type(op) not in COMPARE:
        return None
    bounds = walk.facts.ranges[number.turn]
    begin, step = (bounds[0] if len(bounds) > 1 else Number(0)), (bounds[2] if len(bounds) > 2 else Number(1))
    start, bound = getattr(begin, "value", None), getattr(other, "value", None)
    rises = (getattr(step, "value", None) or 0) > 0
    if not isinstance(start, int) or not isinstance(bound, int) or not rises:
        return None
    if walk.repeats.first[number.turn]:
        return COMPARE[type(op)](start, bound)
    return COMPARE[type(op)](start + 1, bound) if bound <= start else None


def _gives_no_row(walk: Walk, node: ast.Compare, operands: list[Value]) -> bool:
    """Whether an empty list is asked for being full, to give its rows away: `if len(rows) == size: yield rows`.

    The user tells the size, and no batch has none.
    """
    pairs = [operands, operands[::-1]] if isinstance(node.ops[0], ast.Eq) else [operands]
    full = isinstance(node.ops[0], (ast.Eq, ast.GtE)) and any(_is_empty(one) and _is_told(two) for one, two in pairs)
    stmt = walk.site.stmt if walk.site is not None else None
    if not full or not isinstance(stmt, ast.If) or all(part is not node for part in ast.walk(stmt.test)):
        return False
    gives = any(isinstance(n, ast.Yield) for part in stmt.body for n in ast.walk(part))
    return gives or any(True for part in stmt.body for _ in emptied(part))


def _is_empty(length: Value) -> bool:
    """Whether a number is the length of an empty list."""
    counted = length.inputs[0] if isinstance(length, Number) and length.value == 0 and length.inputs else None
    return isinstance(counted, Sequence) and counted.mutable and not counted.elements


def _is_told(size: Value) -> bool:
    """Whether a number has a place that it comes from, and a value that only a run shows."""
    return isinstance(size, Number) and size.value is None and bool(size.origins)


def _is_none(value: Value) -> bool | None:
    """Whether a value is None; None where that is not known."""
    if isinstance(value, Number):
        return True if isinstance(value, Length) and value.is_open else None if value.value is None else False
    return isinstance(value, Constant) and value.value is None


def _compared(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    if type(op) in SAME:
        for one, two in ((left, right), (right, left)):
            if isinstance(one, Constant) and one.value is None and not isinstance(two, Host):
                same = _is_none(two)
                return None if same is None else same is SAME[type(op)]
    if isinstance(op, (ast.Is, ast.IsNot)) and isinstance(left, Constant) and isinstance(right, Constant):
        same = left.value is right.value  # True and False are the only ones of their kind
        return same is isinstance(op, ast.Is) if isinstance(right.value, bool) else None
    if type(op) in SAME and _is_member(left) and _is_member(right):
        return (left is right) is SAME[type(op)]
    if type(op) in SAME and isinstance(left, Symbol) and isinstance(right, Symbol):
        types = all(s.name in TYPES and (s.library == "builtins" or s.name == "Tensor") for s in (left, right))
        return (left.name == right.name) is SAME[type(op)] if types else None
    if isinstance(left, (Constant, Number)) and isinstance(right, (Constant, Number)):
        if isinstance(left, Number) and left.value is None or isinstance(right, Number) and right.value is None:
            return None
        try:
            return COMPARE[type(op)](left.value, right.value) if type(op) in COMPARE else None
        except TypeError:
            return None
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(left, Constant) and isinstance(right, (Sequence, Mapping)):
        keys = right.elements if isinstance(right, Sequence) else [k for k, _ in right.pairs]
        if all(isinstance(k, Constant) for k in keys) and not getattr(right, "many", False):
            return any(k.value == left.value for k in keys if isinstance(k, Constant)) is isinstance(op, ast.In)
    return None


def _is_member(value: Value) -> bool:
    """Whether a value is one known member of an enumeration: not one of several, nor made of a value."""
    cls = value.cls if isinstance(value, Instance) and value.kind == MEMBER else None
    return cls is not None and any(one is value for one in cls.attributes.values())


def truth(value: Value) -> bool | None:
    """Whether a value is true, where that is known without running the script."""
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, Number):
        return None if value.value is None else bool(value.value)
    if isinstance(value, Sequence) and not value.many:
        return bool(value.elements) if not value.mutable else None
    if isinstance(value, (Function, Class, Instance, Bound, Choice)):
        return True if not isinstance(value, Bound) or value.function is not None else None
    if isinstance(value, Typed) and has(value.kind, Trait.ALWAYS_TRUE):
        return True
    return None


def _switch(test: ast.expr, read: list[Access]) -> Switch | None:
    """What tells a switch from others where a condition asks for nothing else, and whether it asks for its being on."""
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    asked = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    if not isinstance(asked, (ast.Name, ast.Attribute)) or not read or read[-1].node is not asked:
        return None
    value = read[-1].value
    if isinstance(value, Number) and len(value.origins) == 1 and value.origins == value.linear:
        (origin,) = value.origins
        if origin.key[0] == "flag":  # each read makes a number of its own
            return origin.key, not negated
    plain = isinstance(value, Host) and not value.call and bool(value.inputs)
    if plain and all(isinstance(v, Constant) for v in value.inputs):
        return value.uid, not negated
    return None


def decide(walk: Walk, node: ast.If | ast.IfExp) -> bool | None:
    """The truth of a condition; None if it is not known, or rests on a default that a caller may replace.

    A switch that is not known is as it was where a branch around this place was chosen by it.
    """
    seen = len(walk.facts.accesses)
    value = walk.evaluate(node.test)
    accesses = walk.facts.accesses[seen:]
    read = [access.value.uid for access in accesses]
    known = None if not walk.assumed.isdisjoint(read) or walk.is_partly_none(value) else truth(value)
    known = True if known is None and _has_a_batch(walk, value) else known
    switch = _switch(node.test, accesses) if known is None else None
    taken = walk.taken.get(switch[0]) if switch is not None else None
    walk.switch = switch if taken is None else None
    walk.counted = _counted(node.test, accesses)
    if switch is not None and taken is not None:
        return taken is switch[1]
    walk.repeats.decided += known is not None
    if known is not None and (constants := [walk.constants[uid] for uid in read if uid in walk.constants]):
        walk.facts.decided.setdefault(node, Taken(set(constants)))
    if node in walk.facts.decided:
        walk.facts.decided[node].sides.update((True, False) if known is None else (known,))
    return known


def _has_a_batch(walk: Walk, value: Value) -> bool:
    """Whether a list has as many entries as a batch: one for each number of `range(b * size, (b + 1) * size)`."""
    held = value
    while value.uid in walk.facts.listed:
        value = walk.facts.listed[value.uid]
    bounds = walk.facts.ranges.get(value.uid, [])
    if len(bounds) not in (1, 2):
        return False
    reader = TermReader(frozenset(), lambda _: None)
    begin, *end = [reader.of(bound) for bound in bounds]
    sizes = walk.facts.named_sizes(one for one in begin.atoms.union(*(e.atoms for e in end)) if isinstance(one, Origin))
    whole = any((end[0] - begin if end else begin) == atom(size) for size in sizes)
    return whole and all(change.value is not held for change in walk.facts.effects_of(EffectKind.MUTATION))


def _counted(test: ast.expr, read: list[Access]) -> Tensor | None:
    """The batch whose number of rows a condition compares with 1: `rows == 1`; None for any other condition."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq) or len(test.ops) > 1:
        return None
    sides = [test.left, test.comparators[0]]
    counts = [a.value for a in read if a.node in sides and isinstance(a.value, Count) and not a.value.scaled]
    one = any(isinstance(side, ast.Constant) and side.value == 1 for side in sides)
    tensor = counts[0].tensor if counts and one else None
    return tensor if isinstance(tensor, Tensor) else None


def _bool(walk: Walk, node: ast.BoolOp) -> Value:
    values = [walk.evaluate(v) for v in node.values]
    stop = isinstance(node.op, ast.Or)
    unknown = False
    for value in values:
        known = truth(value)
        if known is stop and not unknown:
            return value
        unknown |= known is None
    return values[-1] if not unknown else _any_number(values) or any_of(values, ())


def _any_number(values: list[Value]) -> Number | None:
    """One of several numbers, of which some are not known at all; None where all are known, or none is."""
    numbers = [value for value in values if isinstance(value, Number)]
    unknown = [value for value in values if isinstance(value, Host) and not value.roots]
    if not numbers or not unknown or len(numbers) + len(unknown) < len(values):
        return None
    return Number(None, frozenset().union(*(n.origins for n in numbers)), inputs=values, chosen=True)


def _conditional(walk: Walk, node: ast.IfExp) -> Value:
    known = decide(walk, node)
    if known is not None:
        return walk.evaluate(node.body if known else node.orelse)
    switch, collected = walk.switch, Collected(walk.collections)
    with walk.in_arm(node, True), walk.taking(switch, True):
        one = walk.evaluate(node.body)
    collected.next_branch()
    with walk.in_arm(node, False), walk.taking(switch, False):
        two = walk.evaluate(node.orelse)
    collected.join()
    if (number := _any_number([one, two])) is not None:
        return number
    made = joined_by(walk, join(one, two), node)
    walk.none_beside(one, two, made)
    walk.chosen_by(switch, one, two, made)
    return made


OPERATORS: dict[type[ast.expr], Callable[[Walk, Any], Value]] = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool,
    ast.IfExp: _conditional,
}
