"""The number of rows of a list that a loop fills up to a limit: `while len(rows) < n`, `if len(rows) == n`.

Also where the loop counts its turns: `if (i + 1) % n == 0`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from converter.analysis.counts.conditions import Reached, is_number, leaves, reached, step_of
from converter.analysis.values import Host, Number, Sequence, Value

if TYPE_CHECKING:
    from converter.analysis.facts import Effect, Facts
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
    limits = [_behind(facts, rows, put, loop) for put, loop in zip(puts, loops, strict=True) if loop is not None]
    if again or len(set(loops)) != len(loops) or any(limit is not limits[0] for limit in limits):
        return None
    return limits[0]


def _loop_of(put: Effect) -> Site | None:
    return next((s for s in put.site.chain() if isinstance(s.stmt, LOOPS)), None)


def _behind(facts: Facts, rows: Sequence | Host, put: Effect, loop: Site) -> Number | None:
    """The number of rows that a list is seen to have at most behind a loop, by the condition that ends it."""
    found = (_compared(facts, test, rows, put, False) for test in _tests_behind(facts, loop.stmt))
    return next((number for number in found if number is not None), None)


def _filled_by(facts: Facts, rows: Sequence | Host, put: Effect, around: Collection[Site]) -> Number | None:
    """The number that a list is filled up to by the one loop that puts rows into it."""
    loop = _loop_of(put)
    if loop is None:
        return None
    if loop not in around:
        return _behind(facts, rows, put, loop) or _iterations_of_while(facts, loop.stmt, put)
    for test in _tests_within(facts, rows, loop, around):
        number = _compared(facts, test, rows, put, True)
        if number is None:
            number = _counted(facts, test, loop, put) or _counted_on(facts, test, loop, put)
        if number is not None:
            return number
    return None


def _iterations_of_while(facts: Facts, loop: ast.stmt, put: Effect) -> Number | None:
    """The number of turns of `while count < n`, each of which puts a row and counts up by one from nothing."""
    if not isinstance(loop, ast.While) or put.site.stmt not in loop.body:
        return None
    for test in reached(loop.test, False):
        counter = test.count
        if not isinstance(counter, ast.Name) or test.multiple:
            continue
        ups, starts = _moves(facts, loop.body, counter)
        from_nothing = bool(starts) and all(map(_is_nothing, starts))
        skipped = any(isinstance(node, ast.Continue) for node in ast.walk(loop))
        if len(ups) == 1 and step_of(ups[0]) == 1 and from_nothing and not skipped:
            return _limit(facts, test)
    return None


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


def _tests_behind(facts: Facts, loop: ast.stmt) -> Iterator[Reached]:
    """The conditions that a list meets behind a loop, unless the data ended before: what ends the loop."""
    if isinstance(loop, ast.While):
        tests = loop.test.values if _all_hold(loop.test) and isinstance(loop.test, ast.BoolOp) else [loop.test]
        for test in tests:
            if all(other is test or _goes_over_data(facts, loop, other) for other in tests):
                yield from reached(test, False)
    for stmt in getattr(loop, "body", ()):
        if isinstance(stmt, ast.If) and any(isinstance(s, ast.Break) for s in stmt.body):
            yield from reached(stmt.test, True)


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


def _all_hold(test: ast.expr) -> bool:
    return isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)


def _goes_over_data(facts: Facts, loop: ast.While, test: ast.expr) -> bool:
    """Whether a condition ends a loop only where the data ends that it goes over one by one: `i < len(data)`, `i >= 0`.

    It goes down from a place that is not written as a number: from 5, it would take 6 rows, whatever the limit.
    """
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
        return False
    counter, op, limit = test.left, test.ops[0], test.comparators[0]
    places = {a.place for a in facts.accesses_at(counter)}
    inside = set(ast.walk(loop))
    writes = {a.node: a.site.stmt for place in places for a in facts.writes_to(place)}
    moves = {stmt for stmt in writes.values() if stmt in inside and stmt is not loop and not isinstance(stmt, ast.If)}
    steps = {step_of(stmt) for stmt in moves}
    if steps == {1}:
        return isinstance(op, (ast.Lt, ast.NotEq)) and is_length(limit)
    starts = [value for stmt in writes.values() for name, value in _assigned(stmt) if name == counter.id]
    from_number = any(isinstance(start, ast.Constant) for start in starts)
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


def _counted(facts: Facts, test: Reached, loop: Site, put: Effect) -> Number | None:
    """The number of turns between two where `(i + 1) % n == 0`; each of them puts a row, and i counts from 0.

    Where the row is put behind the condition: between two where `i % n == 0`.
    """
    if not test.multiple or not _in_each_turn(loop, put):
        return None
    counter, ahead = test.count, -test.more
    if isinstance(counter, ast.BinOp) and isinstance(counter.op, ast.Add) and is_number(counter.right, 1):
        counter, ahead = counter.left, ahead + 1
    begin = _begin(facts, loop, counter) if isinstance(counter, ast.Name) else None
    first = 1 if _comes_first(loop, put.site.stmt, test.limit) else 0
    return _number(facts, test.limit) if begin is not None and begin + ahead == first else None


def _counted_on(facts: Facts, test: Reached, loop: Site, put: Effect) -> Number | None:
    """The number of turns up to `count == n`, or down to `count == 0`, each of which puts a row."""
    counter, body = test.count, getattr(loop.stmt, "body", [])
    if not isinstance(counter, ast.Name) or test.multiple or not _in_each_turn(loop, put):
        return None
    steps, starts = _moves(facts, body, counter)
    if len(steps) != 1 or not starts:
        return None
    together = _comes_first(loop, steps[0], test.limit) == _comes_first(loop, put.site.stmt, test.limit)
    if together and step_of(steps[0]) == 1 and all(map(_is_nothing, starts)):
        return _limit(facts, test)
    same = len(set(map(_made_of, starts))) == 1
    down = step_of(steps[0]) == -1 and is_number(test.limit, 0) and not test.more
    return _as_number(starts[0]) if together and down and same else None


def _moves(facts: Facts, body: list[ast.stmt], counter: ast.Name) -> tuple[list[ast.stmt], list[Value]]:
    """The statements of a loop that move a number by one, and what else is assigned to it anywhere."""
    places = {a.place for a in facts.accesses_at(counter)}
    found = sorted((a for place in places for a in facts.writes_to(place)), key=lambda a: a.time)
    writes = {a.node: a for a in found}.values()
    moves = [stmt for stmt in body if step_of(stmt) and any(write.site.stmt is stmt for write in writes)]
    sets = [w for w in writes if w.site.stmt not in moves and not isinstance(w.site.stmt, ast.If)]  # branches join
    plain = all(isinstance(write.site.stmt, ast.Assign) for write in sets)
    return moves, [write.value for write in sets] if plain else []


def _is_nothing(start: Value) -> bool:
    return isinstance(start, Number) and start.value == 0


def _made_of(start: Value) -> object:
    """The same for numbers that are the same one, or that one operator makes of the same numbers."""
    op = start.op if isinstance(start, Number) else ""
    return (op, *(value.uid for value in start.inputs)) if op else start.uid


def _in_each_turn(loop: Site, put: Effect) -> bool:
    """Whether each turn of a loop puts a row."""
    skipped = any(isinstance(node, ast.Continue) for node in ast.walk(loop.stmt))
    return put.site.stmt in getattr(loop.stmt, "body", []) and not skipped


def _comes_first(loop: Site, stmt: ast.stmt, limit: ast.expr) -> bool:
    """Whether a statement of a loop stands in front of the condition with a limit."""
    body = getattr(loop.stmt, "body", [])
    holds = [i for i, s in enumerate(body) if isinstance(s, (ast.If, ast.Assign)) and limit in _tested(s)]
    alike = [i for i, s in enumerate(body) if isinstance(s, ast.If) and is_number(limit, 0)]
    return stmt in body[: (holds or alike or [0])[0]]


def _tested(stmt: ast.If | ast.Assign) -> list[ast.AST]:
    return list(ast.walk(stmt.test if isinstance(stmt, ast.If) else stmt.value))


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


def _compared(facts: Facts, test: Reached, rows: Sequence | Host, put: Effect, within: bool) -> Number | None:
    """The number of `len(rows) < n`, where these are the rows, or others that are put beside them one by one."""
    length = test.count
    if not isinstance(length, ast.Call) or getattr(length.func, "id", "") != "len" or len(length.args) != 1:
        return None
    if test.multiple and (not within or test.more):
        return None
    counted = {a.value.uid: a.value for a in facts.accesses_at(length.args[0]) if not a.write}
    for other in counted.values():
        if not isinstance(other, (Sequence, Host)) or _held_at_first(other) != _held_at_first(rows):
            continue
        if any(_are_put_together(put, one) for one in _puts(facts, other)):
            return _limit(facts, test)
    return None


def _held_at_first(rows: Sequence | Host) -> int | None:
    """How many rows a list was written with; None for one that data was made to."""
    return len(rows.elements) if isinstance(rows, Sequence) else None


def _are_put_together(put: Effect, other: Effect) -> bool:
    """Whether two rows are appended to their lists in the same iteration: in one block of one statement."""
    block = put.site.parent.stmt if put.site.parent is not None else None
    bodies = (getattr(block, field, []) for field in ("body", "orelse", "finalbody"))
    together = any(put.site.stmt in body and other.site.stmt in body for body in bodies)
    return together and put.site.parent == other.site.parent


def _limit(facts: Facts, test: Reached) -> Number | None:
    """The number that a count has come to."""
    limit = _number(facts, test.limit)
    if limit is None or test.multiple or not test.more:
        return limit
    made = Number(None, limit.origins, inputs=(limit, Number(test.more)))
    made.op = "add"
    return made


def _number(facts: Facts, limit: ast.expr) -> Number | None:
    """The number that stands for a limit: what the walk compared with it, or divided by it."""
    value = facts.compared.get(limit)
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
