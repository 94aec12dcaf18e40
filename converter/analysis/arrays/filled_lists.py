"""The number of rows of a list that a loop fills up to a limit: `while len(rows) < n`, `if len(rows) == n`.

Also where the loop counts its turns: `if (i + 1) % n == 0`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from converter.analysis.arrays.moves import moved_by, turns_of_loop
from converter.analysis.counts.conditions import Reached, is_number, leaves, reached
from converter.analysis.counts.reading import TermReader
from converter.analysis.counts.terms import atom, number
from converter.analysis.values import Host, Number, Sequence, Value

if TYPE_CHECKING:
    from converter.analysis.facts import Effect, Facts
    from converter.analysis.frames import Access, Place
    from converter.analysis.values import Site

LOOPS = (ast.For, ast.AsyncFor, ast.While)


def filled(facts: Facts, rows: Sequence | Host, around: Collection[Site]) -> Number | None:
    """The number that a list is filled up to, by one row at a time; None where no condition says so.

    around: the statements around the place where it is read.
    """
    puts = _puts(facts, rows)
    if len(puts) > 1:
        return _filled_on(facts, rows, puts, around)
    return _filled_by(facts, rows, puts[0], around) if puts else None


def _filled_on(facts: Facts, rows: Sequence | Host, puts: list[Effect], around: Collection[Site]) -> Number | None:
    """The number up to which one loop fills a list, and another one behind it goes on where that ended early."""
    loops = [_loop_of(put) for put in puts]
    if None in loops or any(loop in around for loop in loops):
        return None
    again = [a for a in loops for b in loops if a is not None and b is not None and a != b and a in b.chain()]
    limits = [_limit_behind(facts, rows, put, at.stmt, None) for at, put in zip(loops, puts, strict=True) if at]
    if again or len(set(loops)) != len(loops) or any(limit is not limits[0] for limit in limits):
        return None
    return limits[0]


def _loop_of(put: Effect) -> Site | None:
    return next((s for s in put.site.chain() if isinstance(s.stmt, LOOPS)), None)


def _filled_by(facts: Facts, rows: Sequence | Host, put: Effect, around: Collection[Site]) -> Number | None:
    """The number that a list is filled up to by the one loop that puts rows into it."""
    loop = _loop_of(put)
    if loop is None:
        return None
    if loop not in around:
        return _limit_behind(facts, rows, put, loop.stmt, loop)
    return _known(_rows_at(facts, test, rows, put, loop) for test in _tests_within(facts, rows, loop, around))


def _limit_behind(
    facts: Facts, rows: Sequence | Host, put: Effect, loop: ast.stmt, within: Site | None
) -> Number | None:
    """The number of rows behind a loop, the same by each of the conditions that may have ended it; else None."""
    for tests, holds in _ends_of(facts, loop):
        ends = ((one for one in reached(test, holds) if not one.multiple) for test in tests)
        limits = [_known(_rows_at(facts, one, rows, put, within) for one in each) for each in ends]
        if limits[0] is not None and all(limit is limits[0] for limit in limits):
            return limits[0]
    return None


def _known(numbers: Iterable[Number | None]) -> Number | None:
    """The first number that is known."""
    return next((number for number in numbers if number is not None), None)


def _rows_at(facts: Facts, test: Reached, rows: Sequence | Host, put: Effect, loop: Site | None) -> Number | None:
    """How many rows a list has where a count has come to a limit; loop: None where only lengths of lists are counts.

    Both go on by one together from what they were where the condition was first tested.
    """
    around = _loop_of(put)
    limit = _number(facts, test.limit, around)
    accesses = (access for node in ast.walk(test.count) for access in facts.accesses_at(node) if not access.write)
    reads = [access for access in accesses if around is None or around in access.site.chain()]
    if limit is None or not reads:
        return None
    tested = min(access.time for access in reads)
    counts = facts.operands_of(test.count, around) or [access.value for access in reads if access.node is test.count]
    begin = _rows_beside(facts, counts, rows, put, tested)
    step: float = 1
    if begin is None and loop is not None and counts and _in_each_turn(loop, put):
        turns = turns_of_loop(facts.turned[loop]) if loop in facts.turned else frozenset()
        terms = TermReader(frozenset(), lambda _: None).of(counts[0])
        own = [one for one in terms.atoms if one in turns]
        step = 1 if own else _moved_in(facts, loop, dict.fromkeys(access.place for access in reads))
        known = (terms - sum(map(atom, own), number(0))).value
        begin = int(known) if known is not None else None
    ahead = test.more + (_first(facts, put) < tested)
    if step == 1 and begin is not None:
        ahead -= begin
        return (limit if not ahead else None) if test.multiple else _added(limit, ahead)
    down = step == -1 and limit.value == 0 and not (test.more or test.multiple)
    return _added(counts[0], ahead) if down and isinstance(counts[0], Number) else None


def _first(facts: Facts, put: Effect) -> int:
    """When the walk first came, in this call, to a place that puts a row into a list."""
    puts = (effect for effect in facts.effects_of(put.kind) if effect.node is put.node)
    return min(effect.time for effect in puts if effect.site.parent == put.site.parent)


def _rows_beside(facts: Facts, counts: list[Value], rows: Sequence | Host, put: Effect, tested: int) -> int | None:
    """How many rows a list had got whose length is tested; None for one that does not get each beside one here."""
    for other in (value.inputs[0] for value in counts if isinstance(value, Number) and len(value.inputs) == 1):
        if isinstance(other, (Sequence, Host)) and _held_at_first(other) == _held_at_first(rows):
            for one in _puts(facts, other):
                if _are_put_together(put, one):
                    return int(_first(facts, one) < tested)
    return None


def _moved_in(facts: Facts, loop: Site, places: Iterable[Place]) -> float:
    """By how much each turn moves a number on; 0 where it is not known, or does not begin anew with the same one."""
    writes = _writes_to(facts, places)
    by = {write.site.stmt: step for write in writes if (step := moved_by(facts, write))}
    starts = [write.value for write in writes if write.site.stmt not in by]
    if len(by) != 1 or not by.keys() <= {*getattr(loop.stmt, "body", ())}:
        return 0
    (step,) = by.values()
    alike = {_made_of(start) if step < 0 else getattr(start, "value", None) for start in starts}
    return step if len(alike) == 1 else 0


def _writes_to(facts: Facts, places: Iterable[Place]) -> list[Access]:
    """What is assigned to some places, each assignment once; where branches join, nothing is."""
    found = {a.node: a for place in places for a in facts.writes_to(place) if not isinstance(a.node, ast.stmt)}
    return list(found.values())


def _puts(facts: Facts, rows: Sequence | Host) -> list[Effect]:
    """The places that append one row to a list; none if other code changes the list, but for making it empty."""
    changes = {e.node: e for e in changes_of_length(facts, rows)}
    puts = [e for e in changes.values() if puts_one(e)]
    empties = [e for e in changes.values() if any(True for _ in emptied(e.site.stmt))]
    return puts if all(e in puts or e in empties for e in changes.values()) else []


def changes_of_length(facts: Facts, rows: Value) -> list[Effect]:
    """The places where code puts rows into a list, or takes some away."""
    return [e for e in facts.changes_of(rows) if not e.name.endswith((".reverse", ".sort"))]


def puts_one(change: Effect) -> bool:
    """Whether a change of a list puts one row behind its others: `rows.append(row)`, `rows += [row]`."""
    added = getattr(change.site.stmt, "value", None) if change.name == "+=" else None
    single = isinstance(added, ast.List) and len(added.elts) == 1 and not isinstance(added.elts[0], ast.Starred)
    return single or change.name.endswith(".append")


def _ends_of(facts: Facts, loop: ast.stmt) -> Iterator[tuple[list[ast.expr], bool]]:
    """What ends a loop, unless the data ended before: conditions, any of which does, and whether it holds then."""
    if isinstance(loop, ast.While):
        tests = _parts(loop.test, ast.And)
        yield [test for test in tests if not _goes_over_data(facts, loop, test)] or tests, False
    for stmt in getattr(loop, "body", ()):
        if isinstance(stmt, ast.If) and any(isinstance(s, ast.Break) for s in stmt.body):
            yield _parts(stmt.test, ast.Or), True


def _parts(test: ast.expr, operator: type[ast.boolop]) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, operator) else [test]


def breaks(loop: ast.stmt) -> bool:
    """Whether a `break` may end a loop."""
    ahead = list(getattr(loop, "body", ()))
    while ahead:
        node = ahead.pop()
        if isinstance(node, ast.Break):
            return True
        inner = ast.iter_child_nodes(node) if not isinstance(node, LOOPS) else node.orelse
        ahead += [part for part in inner if isinstance(part, (ast.stmt, ast.ExceptHandler))]
    return False


def _goes_over_data(facts: Facts, loop: ast.While, test: ast.expr) -> bool:
    """Whether a condition ends a loop only where the data ends that it goes over one by one: `i < len(data)`, `i >= 0`.

    It goes down from a place that is not written as a number: from 5, it would take 6 rows, whatever the limit.
    """
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
        return False
    counter, op, limit = test.left, test.ops[0], test.comparators[0]
    writes = _writes_to(facts, {a.place for a in facts.accesses_at(counter)})
    inside = {write.site.stmt for write in writes}.intersection(ast.walk(loop))
    steps = {moved_by(facts, write) for write in writes if write.site.stmt in inside}
    if steps == {1}:
        return isinstance(op, (ast.Lt, ast.NotEq)) and is_length(limit)
    starts = (write.value for write in writes if write.site.stmt not in inside)
    from_number = any(isinstance(start, Number) and start.value is not None for start in starts)
    return steps == {-1} and isinstance(op, ast.GtE) and is_number(limit, 0) and not from_number


def is_length(node: ast.expr) -> bool:
    """Whether an expression is the number of rows of something: `len(data)`, `data.shape[0]`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and is_number(node.slice, 0)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def _tests_within(facts: Facts, rows: Sequence | Host, loop: Site, around: Collection[Site]) -> Iterator[Reached]:
    """The conditions around a place in the loop that fills a list, if they make it empty again."""
    outside = set(loop.chain())
    names = {a.place.key for a in facts.accesses_of(rows) if a.write and a.place.kind == "name"}
    for test, holds, block in _guards(loop, [site for site in around if site not in outside]):
        made_empty = {name for inner in block for name in emptied(inner)}
        again = {name for inner in block for name, _ in _assigned(inner)}
        for one in reached(_named(loop.stmt, test), holds) if names & made_empty else ():
            compared = {node.id for node in ast.walk(one.count) if isinstance(node, ast.Name)}
            if compared & (made_empty | again) or one.multiple:
                yield one


def _guards(loop: Site, around: Collection[Site]) -> Iterator[tuple[ast.expr, bool, list[ast.stmt]]]:
    """The conditions that let a place in a loop through: each, whether it holds there, and the block behind it."""
    for site in around:
        stmt = site.stmt
        if isinstance(stmt, ast.If):
            inside = [inner.stmt for inner in around if inner.parent == site]
            sides = ((stmt.body, True), (stmt.orelse, False))
            yield from ((stmt.test, holds, b) for b, holds in sides if any(inner in b for inner in inside))
        if site.parent is not None:
            block = next((b for b in blocks_of(site.parent.stmt) if stmt in b), [])
            for place, before in enumerate(block[: block.index(stmt)] if block else ()):
                if isinstance(before, ast.If) and leaves(before.body) and not before.orelse:
                    yield before.test, False, block[place:]


def blocks_of(stmt: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks that a statement holds."""
    for field in ("body", "orelse", "finalbody"):
        yield getattr(stmt, field, [])


def _named(loop: ast.stmt, test: ast.expr) -> ast.expr:
    """What a condition was assigned to before it was tested: `full = len(rows) == n`."""
    if isinstance(test, ast.Name):
        made = [value for stmt in getattr(loop, "body", ()) for name, value in _assigned(stmt) if name == test.id]
        return made[0] if len(made) == 1 and isinstance(made[0], ast.Compare) else test
    return test


def is_multiple(test: ast.expr, count: ast.expr | None = None) -> bool:
    """Whether a count is asked for being a multiple of a number: `i % n == 0`; count: `i`, None for any."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    zero, rest = test.comparators[0], test.left
    remainder = isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Mod) and (count is None or rest.left is count)
    return remainder and isinstance(zero, ast.Constant) and zero.value == 0


def _made_of(start: Value) -> object:
    """The same for numbers that are the same one, or that one operator makes of the same numbers."""
    op = start.op if isinstance(start, Number) else ""
    return (op, *(value.uid for value in start.inputs)) if op else start.uid


def _in_each_turn(loop: Site, put: Effect) -> bool:
    """Whether each turn of a loop puts a row."""
    skipped = any(isinstance(node, ast.Continue) for node in ast.walk(loop.stmt))
    return put.site.stmt in getattr(loop.stmt, "body", []) and not skipped


def emptied(stmt: ast.stmt) -> Iterator[str]:
    """The names of lists that a statement makes empty: `xs, ys = [], []`, `xs.clear()`."""
    pairs = list(_assigned(stmt))
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and isinstance(stmt.value.func, ast.Attribute):
        held = stmt.value.func.value
        pairs = [(held.id, ast.List([]))] if stmt.value.func.attr == "clear" and isinstance(held, ast.Name) else []
    for target in stmt.targets if isinstance(stmt, ast.Delete) else ():  # `del xs[:]`
        whole = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
        if whole and isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            bounds = target.slice
            assert isinstance(bounds, ast.Slice)
            pairs += [(target.value.id, ast.List([]))] if not (bounds.lower or bounds.upper or bounds.step) else []
    for name, value in pairs:
        if isinstance(value, ast.List) and not value.elts:
            yield name


def _assigned(stmt: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement assigns to, each with what is written for it."""
    for target in stmt.targets if isinstance(stmt, ast.Assign) else ():
        assert isinstance(stmt, ast.Assign)
        if isinstance(target, ast.Tuple) and isinstance(stmt.value, ast.Tuple):
            pairs = zip(target.elts, stmt.value.elts, strict=False)
            yield from ((name.id, value) for name, value in pairs if isinstance(name, ast.Name))
        elif isinstance(target, ast.Name):
            yield target.id, stmt.value


def _held_at_first(rows: Sequence | Host) -> int | None:
    """How many rows a list was written with; None for one that data was made to."""
    return len(rows.elements) if isinstance(rows, Sequence) else None


def _are_put_together(put: Effect, other: Effect) -> bool:
    """Whether two rows are appended to their lists in the same iteration: in one block of one statement."""
    block = put.site.parent.stmt if put.site.parent is not None else None
    bodies = (getattr(block, field, []) for field in ("body", "orelse", "finalbody"))
    together = any(put.site.stmt in body and other.site.stmt in body for body in bodies)
    return together and put.site.parent == other.site.parent


def _added(number: Number, more: int) -> Number:
    """A number, and so much more."""
    if not more:
        return number
    made = Number(None, number.origins, inputs=(number, Number(more)))
    made.op = "add"
    return made


def _number(facts: Facts, limit: ast.expr, around: Site | None) -> Number | None:
    """The number that stands for a limit in a loop: what the walk compared with it, or divided by it."""
    value = next(iter(facts.operands_of(limit, around)), None)
    if value is None and isinstance(limit, ast.Constant) and isinstance(limit.value, int):
        origins = frozenset((facts.origin_of(limit),))
        return Number(limit.value, origins, origins)  # the 0 of `if not k`
    return _as_number(value)


def _as_number(value: Value | None) -> Number | None:
    """A number, also of what is not followed."""
    if not isinstance(value, Host):
        return value if isinstance(value, Number) else None
    made = Number(None, inputs=(value,))
    made.op = "int"
    return made
