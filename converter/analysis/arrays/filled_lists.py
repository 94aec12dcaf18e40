"""The number of rows of a list that a loop fills up to a limit: `while len(rows) < n`, `if len(rows) == n`.

Also where the loop counts its turns: `if (i + 1) % n == 0`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from converter.analysis.values import Number, Sequence

if TYPE_CHECKING:
    from converter.analysis.facts import Effect, Facts
    from converter.analysis.values import Site

Kinds = tuple[type[ast.cmpop], ...]
Test = tuple[ast.expr, Kinds]  # a condition, and the comparisons that tell of a full list there

LOOPS = (ast.For, ast.AsyncFor, ast.While)
UNTIL = (ast.Lt, ast.NotEq)  # a `while` goes on: the list has fewer rows
FULL = (ast.Eq, ast.GtE)  # an `if` waits: the list has them all


def filled(facts: Facts, rows: Sequence, around: Collection[Site]) -> Number | None:
    """The number that a list is filled up to, by one row at a time; None where no condition says so.

    around: the statements around the place where it is read.
    """
    puts = _puts(facts, rows)
    if len(puts) != 1:
        return None
    put = puts[0]
    loop = next((s for s in put.site.chain() if isinstance(s.stmt, LOOPS)), None)
    if loop is None:
        return None
    tests = _tests_within(facts, rows, loop, around) if loop in around else _tests_behind(loop.stmt)
    for test, kinds in tests:
        number = _compared(facts, test, kinds, rows, put)
        if number is None and loop in around:
            number = _counted(facts, test, loop, put) or _counted_up(facts, test, loop, put)
        if number is not None:
            return number
    return None if loop in around else _turns(facts, loop.stmt, put)


def _turns(facts: Facts, loop: ast.stmt, put: Effect) -> Number | None:
    """The number of turns of `while count < n`, each of which puts a row and counts up by one from nothing."""
    test = getattr(loop, "test", None)
    if not isinstance(loop, ast.While) or not isinstance(test, ast.Compare) or put.site.stmt not in loop.body:
        return None
    counter = test.left
    if not isinstance(counter, ast.Name) or len(test.ops) != 1 or not isinstance(test.ops[0], UNTIL):
        return None
    places = {a.place for a in facts.accesses if a.node is counter}
    writes = {a.node: a for a in facts.accesses if a.write and a.place in places}
    ups = [s for s in loop.body if isinstance(s, ast.AugAssign) and s.target in writes and _adds_one(s)]
    starts = [a.value for node, a in writes.items() if not any(node is up.target for up in ups)]
    from_nothing = starts and all(isinstance(v, Number) and v.value == 0 for v in starts)
    skipped = any(isinstance(node, ast.Continue) for node in ast.walk(loop))
    return _number(facts, test.comparators[0]) if len(ups) == 1 and from_nothing and not skipped else None


def _adds_one(stmt: ast.AugAssign) -> bool:
    return isinstance(stmt.op, ast.Add) and _is_number(stmt.value, 1)


def _puts(facts: Facts, rows: Sequence) -> list[Effect]:
    """The places that append one row to a list; none if other code changes the list."""
    changes = {e.node: e for e in facts.changes_of(rows)}
    puts = [e for e in changes.values() if puts_one(e)]
    return puts if all(e in puts or e.name.endswith(".clear") for e in changes.values()) else []


def puts_one(change: Effect) -> bool:
    """Whether a change of a list puts one row behind its others: `rows.append(row)`, `rows += [row]`."""
    added = getattr(change.site.stmt, "value", None) if change.name == "+=" else None
    single = isinstance(added, ast.List) and len(added.elts) == 1 and not isinstance(added.elts[0], ast.Starred)
    return single or change.name.endswith(".append")


def _tests_behind(loop: ast.stmt) -> Iterator[Test]:
    """The conditions that a list meets behind a loop: what ends it."""
    if isinstance(loop, ast.While):
        yield loop.test, UNTIL
    for stmt in getattr(loop, "body", ()):
        if isinstance(stmt, ast.If) and any(isinstance(s, ast.Break) for s in stmt.body):
            yield stmt.test, FULL


def _tests_within(facts: Facts, rows: Sequence, loop: Site, around: Collection[Site]) -> Iterator[Test]:
    """The conditions around a place in the loop that fills a list, if they make it empty again."""
    outside = set(loop.chain())
    names = {a.place.key for a in facts.accesses_of(rows) if a.write and a.place.kind == "name"}
    for site in around:
        stmt = site.stmt
        test = _bare(stmt.test) if site not in outside and isinstance(stmt, ast.If) else None
        if test is None or not isinstance(stmt, ast.If):
            continue
        made_empty = {name for inner in stmt.body for name in emptied(inner)}
        compared = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
        inside = any(inner.parent == site and inner.stmt in stmt.body for inner in around)
        again = {name for inner in stmt.body for name, number in _assigned(inner) if _is_number(number, 0)}
        if inside and names & made_empty and (compared & (made_empty | again) or is_multiple(test)):
            yield test, FULL


def _bare(test: ast.expr) -> ast.Compare | None:
    """The comparison in a condition; without `and i > 0`, which only says that the first turn has no rows yet."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and len(test.values) == 2:
        for one, two in (test.values, test.values[::-1]):
            if isinstance(one, ast.Compare) and is_multiple(one) and _is_above_0(two, one):
                return one
    return test if isinstance(test, ast.Compare) else None


def _is_above_0(test: ast.expr, multiple: ast.Compare) -> bool:
    """Whether a condition says that the number which another one asks for being a multiple is not 0."""
    above = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Gt, ast.NotEq))
    zero = isinstance(test, ast.Compare) and _is_number(test.comparators[0], 0)
    number = test.left if isinstance(test, ast.Compare) and above and zero else test
    assert isinstance(multiple.left, ast.BinOp)
    return isinstance(number, ast.Name) and ast.dump(number) == ast.dump(multiple.left.left)


def is_multiple(test: ast.expr, count: ast.expr | None = None) -> bool:
    """Whether a count is asked for being a multiple of a number: `i % n == 0`; count: `i`, None for any."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    zero, rest = test.comparators[0], test.left
    remainder = isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Mod) and (count is None or rest.left is count)
    return remainder and isinstance(zero, ast.Constant) and zero.value == 0


def _counted(facts: Facts, test: ast.expr, loop: Site, put: Effect) -> Number | None:
    """The number of turns between two where `(i + 1) % n == 0`; each of them puts a row, and i counts from 0.

    Where the row is put behind the condition: between two where `i % n == 0`.
    """
    if not is_multiple(test) or not _in_each_turn(loop, put):
        return None
    assert isinstance(test, ast.Compare) and isinstance(test.left, ast.BinOp)
    counter, ahead = test.left.left, 0
    if isinstance(counter, ast.BinOp) and isinstance(counter.op, ast.Add) and _is_number(counter.right, 1):
        counter, ahead = counter.left, 1
    begin = _begin(facts, loop, counter) if isinstance(counter, ast.Name) else None
    first = 1 if _comes_first(loop, put.site.stmt, test) else 0
    return _number(facts, test.left.right) if begin is not None and begin + ahead == first else None


def _counted_up(facts: Facts, test: ast.expr, loop: Site, put: Effect) -> Number | None:
    """The number of turns up to `count == n`, each of which puts a row and counts up by one, from 0 each time."""
    assert isinstance(test, ast.Compare)
    counter, body = test.left, getattr(loop.stmt, "body", [])
    if not isinstance(counter, ast.Name) or not isinstance(test.ops[0], FULL) or not _in_each_turn(loop, put):
        return None
    places = {a.place for a in facts.accesses if a.node is counter}
    writes = [a for a in facts.accesses if a.write and a.place in places]
    ups = [s for s in body if isinstance(s, ast.AugAssign) and _adds_one(s) and _names(s.target, counter)]
    others = [a.site.stmt for a in writes if a.node not in [up.target for up in ups]]
    sets = [stmt for stmt in others if not isinstance(stmt, ast.If)]  # there its branches join
    from_0 = bool(sets) and all(
        any(name == counter.id and _is_number(number, 0) for name, number in _assigned(stmt)) for stmt in sets
    )
    together = len(ups) == 1 and _comes_first(loop, ups[0], test) == _comes_first(loop, put.site.stmt, test)
    return _number(facts, test.comparators[0]) if from_0 and together else None


def _in_each_turn(loop: Site, put: Effect) -> bool:
    """Whether each turn of a loop puts a row."""
    skipped = any(isinstance(node, ast.Continue) for node in ast.walk(loop.stmt))
    return put.site.stmt in getattr(loop.stmt, "body", []) and not skipped


def _comes_first(loop: Site, stmt: ast.stmt, test: ast.expr) -> bool:
    """Whether a statement of a loop stands in front of the condition."""
    body = getattr(loop.stmt, "body", [])
    place = next((i for i, s in enumerate(body) if isinstance(s, ast.If) and _bare(s.test) is test), 0)
    return stmt in body[:place]


def _names(target: ast.expr, name: ast.Name) -> bool:
    return isinstance(target, ast.Name) and target.id == name.id


def _is_number(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == number and not isinstance(node.value, bool)


def _begin(facts: Facts, loop: Site, counter: ast.Name) -> int | None:
    """The number that a loop counts its turns from: 0 for `for i in range(n)` and `for i, x in enumerate(xs)`."""
    stmt = loop.stmt
    if not isinstance(stmt, ast.For) or not isinstance(stmt.iter, ast.Call) or stmt.iter.keywords:
        return None
    called, args = getattr(stmt.iter.func, "id", ""), stmt.iter.args
    bounds = {"range": args[:-1], "xrange": args[:-1], "enumerate": args[1:]}.get(called)
    target = stmt.target.elts[0] if called == "enumerate" and isinstance(stmt.target, ast.Tuple) else stmt.target
    if bounds is None or not isinstance(target, ast.Name) or target.id != counter.id or len(args) > 2:
        return None
    names = [n for n in ast.walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    if [n for n in names if n.id == counter.id] != [target]:
        return None
    first = bounds[0] if bounds else ast.Constant(0)
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, int) else None


def emptied(stmt: ast.stmt) -> Iterator[str]:
    """The names of lists that a statement makes empty: `xs, ys = [], []`, `xs.clear()`."""
    pairs = list(_assigned(stmt))
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and isinstance(stmt.value.func, ast.Attribute):
        held = stmt.value.func.value
        pairs = [(held.id, ast.List([]))] if stmt.value.func.attr == "clear" and isinstance(held, ast.Name) else []
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


def _compared(facts: Facts, test: ast.expr, kinds: Kinds, rows: Sequence, put: Effect) -> Number | None:
    """The number of `len(rows) < n`, where these are the rows, or others that are put beside them one by one."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], kinds):
        return None
    length, limit = test.left, test.comparators[0]
    if isinstance(test.ops[0], (ast.Eq, ast.NotEq)) and not isinstance(length, ast.Call):
        length, limit = limit, length  # `n == len(rows)`
    if not isinstance(length, ast.Call) or getattr(length.func, "id", "") != "len" or len(length.args) != 1:
        return None
    counted = {a.value.uid: a.value for a in facts.accesses if a.node is length.args[0] and not a.write}
    for other in counted.values():
        if not isinstance(other, Sequence) or len(other.elements) != len(rows.elements):
            continue
        if any(_beside(put, one) for one in _puts(facts, other)):
            return _number(facts, limit)
    return None


def _beside(put: Effect, other: Effect) -> bool:
    """Whether two rows are appended to their lists in the same iteration: in one block of one statement."""
    block = put.site.parent.stmt if put.site.parent is not None else None
    bodies = (getattr(block, field, []) for field in ("body", "orelse", "finalbody"))
    together = any(put.site.stmt in body and other.site.stmt in body for body in bodies)
    return together and put.site.parent == other.site.parent


def _number(facts: Facts, node: ast.expr) -> Number | None:
    """The number that stands for a limit."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        origins = frozenset((facts.origin_of(node),))
        return Number(node.value, origins, origins)
    read = (a.value for a in facts.accesses if a.node is node and not a.write)
    return next((value for value in read if isinstance(value, Number)), None)
