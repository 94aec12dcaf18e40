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
        number = _counted(facts, test, loop, put) if number is None and loop in around else number
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
    return isinstance(stmt.op, ast.Add) and _is_one(stmt.value)


def _puts(facts: Facts, rows: Sequence) -> list[Effect]:
    """The places that append one row to a list; none if other code changes the list."""
    changes = {e.node: e for e in facts.changes_of(rows)}
    puts = [e for e in changes.values() if e.name.endswith(".append")]
    return puts if all(e in puts or e.name.endswith(".clear") for e in changes.values()) else []


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
        if site in outside or not isinstance(stmt, ast.If) or not isinstance(stmt.test, ast.Compare):
            continue
        emptied = {name for inner in stmt.body for name in _emptied(inner)}
        length = {node.id for node in ast.walk(stmt.test.left) if isinstance(node, ast.Name)}
        inside = any(inner.parent == site and inner.stmt in stmt.body for inner in around)
        if inside and names & emptied and (length & emptied or is_multiple(stmt.test)):
            yield stmt.test, FULL


def is_multiple(test: ast.expr, count: ast.expr | None = None) -> bool:
    """Whether a count is asked for being a multiple of a number: `i % n == 0`; count: `i`, None for any."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    zero, rest = test.comparators[0], test.left
    remainder = isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Mod) and (count is None or rest.left is count)
    return remainder and isinstance(zero, ast.Constant) and zero.value == 0


def _counted(facts: Facts, test: ast.expr, loop: Site, put: Effect) -> Number | None:
    """The number of turns between two where `(i + 1) % n == 0`; each of them puts a row, and i counts from 0."""
    body = getattr(loop.stmt, "body", [])
    place = next((i for i, stmt in enumerate(body) if isinstance(stmt, ast.If) and stmt.test is test), 0)
    if not is_multiple(test) or put.site.stmt not in body[:place]:
        return None
    assert isinstance(test, ast.Compare) and isinstance(test.left, ast.BinOp)
    counter, ahead = test.left.left, 0
    if isinstance(counter, ast.BinOp) and isinstance(counter.op, ast.Add) and _is_one(counter.right):
        counter, ahead = counter.left, 1
    skipped = any(isinstance(node, ast.Continue) for node in ast.walk(loop.stmt))
    begin = _begin(facts, loop, counter) if isinstance(counter, ast.Name) and not skipped else None
    return _number(facts, test.left.right) if begin is not None and begin + ahead == 1 else None


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


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _emptied(stmt: ast.stmt) -> Iterator[str]:
    """The names of lists that a statement makes empty: `xs, ys = [], []`, `xs.clear()`."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(stmt, ast.Assign):
        for target in stmt.targets:
            if isinstance(target, ast.Tuple) and isinstance(stmt.value, ast.Tuple):
                pairs += zip(target.elts, stmt.value.elts, strict=False)
            else:
                pairs.append((target, stmt.value))
    elif isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and isinstance(stmt.value.func, ast.Attribute):
        pairs = [(stmt.value.func.value, ast.List([]))] if stmt.value.func.attr == "clear" else []
    for name, value in pairs:
        if isinstance(name, ast.Name) and isinstance(value, ast.List) and not value.elts:
            yield name.id


def _compared(facts: Facts, test: ast.expr, kinds: Kinds, rows: Sequence, put: Effect) -> Number | None:
    """The number of `len(rows) < n`, where these are the rows, or others that are put beside them one by one."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], kinds):
        return None
    length = test.left
    if not isinstance(length, ast.Call) or getattr(length.func, "id", "") != "len" or len(length.args) != 1:
        return None
    counted = {a.value.uid: a.value for a in facts.accesses if a.node is length.args[0] and not a.write}
    for other in counted.values():
        if not isinstance(other, Sequence) or len(other.elements) != len(rows.elements):
            continue
        if any(_beside(put, one) for one in _puts(facts, other)):
            return _number(facts, test.comparators[0])
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
