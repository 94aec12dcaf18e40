"""Batches that overlap, or leave rows out: `x[i:i + batch_size]` where i goes on by another number of rows.

Where the batch size grows, such a step takes other rows than N steps of the original do. A batch of `b - a` rows that
begins at `a` is followed by the next one where `a` moves on by `b - a` in each turn, forwards or backwards.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from converter.analysis.arrays.rows import counted_by, rows_of, spanned, terms_of
from converter.analysis.counts.degrees import RESTS, degree_in
from converter.analysis.counts.reading import SIZE, TURN, TermReader
from converter.analysis.counts.terms import ONE_OF, Atom, Of, Terms, atom, number
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.frames import Access
from converter.analysis.values import Host, Input, Number, Origin, Site, Tensor, Value, needed
from converter.dataclass import dataclass
from converter.planner.batch_size.counts import is_fixed
from converter.planner.batch_size.fed.rows import BUFFERS, is_taken_again
from converter.planner.batch_size.steps import is_moved
from converter.planner.batch_size.written_out import LOOPS

CUTS = ("slice", "arange")  # calls of two bounds: where a batch begins, and where it ends
BOUNDS = 2


def overlapping(facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The slices of fed data that are as long as a batch, and begin at numbers that go on by another number of rows.

    So is a `deque` of the last rows, as many as a batch has, which stays from one step to the next; and what one branch
    takes again in each step, `list(x[:batch_size])`.
    """
    scaled = frozenset(sizes)
    yield from _last_rows(facts, steps, scaled)
    yield from _taken_again(facts, steps, scaled)
    windows: dict[ast.AST, list[_Window]] = {}
    for window in _windows_of(facts, steps, scaled):
        windows.setdefault(window.node, []).append(window)
    for node, turns in windows.items():
        begins = [window.begin.replaced(_before_rest) for window in turns]
        moves = _moves(begins) or _counted(facts, node, scaled)
        lengths = [_in_first_turn(rows) for rows in _lengths(turns[0].rows)]
        along = not moves or all(any(move in (rows, rows * number(-1)) for move in moves) for rows in lengths)
        first = _in_first_turn(turns[0].begin)
        if not along or (first.parts and any(not (first + rows).parts for rows in lengths)):  # `x[-n:0]` has no rows
            yield node


def moved_back(facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The slices of fed data whose last one begins earlier, so that it is whole: `begin = min(begin, n - size)`."""
    for window in _windows_of(facts, steps, frozenset(sizes)):
        how, begins = window.begin.choice()
        turning = [any(map(_is_turn, begin.atoms)) for begin in begins]
        ends = (begin + window.rows for begin, turns in zip(begins, turning, strict=True) if not turns)
        if how in ("least", ONE_OF) and any(turning) and any(end.parts and SIZE not in end.atoms for end in ends):
            yield window.node


def behind_stop(
    facts: Facts, runs: Iterable[RunCall], sizes: Iterable[Origin], gpus: int
) -> Iterator[tuple[ast.AST, str]]:
    """The slices of a loop that ends in front of the last rows, each with the text of the number at which it ends.

    `for i in range(0, 72, size)` takes `x[i:i + size]` of 90 rows: the last batch begins in front of row 72, and the
    larger it is, the more rows it takes behind it. gpus: how many batches of the script's are one.
    """
    scaled = frozenset(sizes)
    for run in runs:
        fed = [value for value in _fed(facts, run) if value.call == "[]"]
        for loop, (begin, stop, step) in _counted_on(facts, (run.site, *(v.site for v in fed if v.site is not None))):
            end = terms_of(facts, stop, scaled, loop)
            if SIZE in end.atoms or not _is_of_size(terms_of(facts, step, scaled, loop)):
                continue
            if _ends_with_batch(begin, end, step, gpus):
                continue
            turn = (TURN, facts.turned[loop].uid)
            for value in fed:
                counted = (length for length in needed([stop]).values() if counted_by(length) is value.inputs[0])
                rows = rows_of(facts, value.inputs[0], loop) or next(counted, None)
                if rows is None or not _is_longer(terms_of(facts, rows, scaled, loop), end):
                    continue
                keys = (part for key in value.inputs[1:] for part in (key, *key.parts()) if isinstance(part, Host))
                windows = (window for key in keys for window in _window(facts, run, key, scaled))
                if any(turn in window.begin.atoms and not window.rows.choice()[0] for window in windows):
                    yield value.node or run.call, ast.unparse(facts.range_calls[facts.turned[loop].uid].args[1])
                    break


def _counted_on(facts: Facts, sites: Iterable[Site]) -> Iterator[tuple[Site, list[Value]]]:
    """The loops around some sites that go over a range with a step, each with the three arguments of the range."""
    for loop in dict.fromkeys(around for site in sites for around in site.chain()):
        bounds = facts.ranges.get(facts.turned[loop].uid, []) if loop in facts.turned else []
        if len(bounds) == len(("begin", "stop", "step")):
            yield loop, bounds


def _ends_with_batch(begin: Value, end: Terms, step: Value, gpus: int) -> bool:
    """Whether the larger batches end where the loop does, as far as the numbers are known."""
    if not isinstance(begin, Number) or not isinstance(step, Number):
        return False
    if begin.value is None or not step.value or end.value is None:
        return False
    return (end.value - begin.value) % (step.value * gpus) == 0


def _is_longer(rows: Terms, end: Terms) -> bool:
    """Whether data is known to go on behind a number of rows: by so many, or as that is a part of its own number."""
    more = (rows - end).value
    if more is not None or rows.single is None or end.single is None:
        return more is not None and more > 0
    (whole, times), (part, fewer) = rows.single, end.single
    return whole == part and 0 < fewer < times


def _last_rows(facts: Facts, steps: Iterable[TrainStep], sizes: frozenset[Origin]) -> Iterator[ast.AST]:
    """The deques of a batch's length behind what is fed, which no turn of the loop around a step makes anew."""
    for run in facts.runs_of(steps):
        loop = next((site.stmt for site in run.site.chain() if isinstance(site.stmt, LOOPS)), None)
        for value in _fed(facts, run):
            around = {site.stmt for site in value.site.chain()} if value.site is not None else {loop}
            last = [v for v in value.inputs if isinstance(v, Number)][:1] if value.call in BUFFERS else []
            emptied = any(change.name.endswith(".clear") for change in facts.changes_of(value))
            if loop not in around and not emptied and any(v.factors() & sizes for v in last):
                yield value.node or run.call


def _taken_again(facts: Facts, steps: Iterable[TrainStep], sizes: frozenset[Origin]) -> Iterator[ast.AST]:
    """What a branch feeds that is the same in each step, of as many rows as a batch; of slices see the windows."""
    for run in facts.runs_of(steps):
        for value in (one for fed in _fed(facts, run) for one in fed.either if getattr(one, "call", "") != "[]"):
            rows = rows_of(facts, value, run.site) if is_taken_again(facts, value, run) else None
            if rows is not None and rows.factors() & sizes:
                yield getattr(value, "node", None) or run.call


def fixed_turns(facts: Facts, runs: Iterable[RunCall], sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The batch sizes in `i * batch_size` by which rows are found, in a loop over i with a fixed number of iterations.

    With N towers such a loop goes on to N times as many rows. runs: those that are fed the rows; one place for each.
    """
    scaled = frozenset(sizes)
    reader = TermReader(scaled, lambda _: None)
    reads = [(a, number.uid) for a, number in facts.numbers if number.factors() & scaled and not (a.write or number.op)]
    for run in runs:
        for value in _behind_rows(facts, run):
            if isinstance(value, Number) and not (value.turn or value.origins & scaled):
                continue
            products = [[one for one, _ in monomial] for monomial, _ in reader.of(value)]
            if any(SIZE in product and any(_is_fixed(facts, one, scaled) for one in product) for product in products):
                inside, loops = needed(value.inputs), {s.stmt for s in run.site.chain() if isinstance(s.stmt, LOOPS)}
                found = [a for a, uid in reads if uid in inside]
                found.sort(key=lambda a: not any(site.stmt in loops for site in a.site.chain()))
                yield found[0].node if found else run.call
                break


def fixed_strides(facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """Batch sizes by which the bounds of a slice move on in a loop with a fixed number of iterations.

    Nothing else sets these bounds there: with N towers such a loop goes on to N times as many rows, too.
    """
    scaled = frozenset(sizes)
    for loop, moved, _ in _moved_on(facts, steps, scaled):
        if loop in facts.turned and is_fixed(facts, facts.turned[loop].uid, scaled):
            yield _read_in(facts, [moved.site.stmt], scaled)


def first_bounds(facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin]) -> frozenset[Origin]:
    """Numbers that equal the batch size, where the first batch ends whose bounds move on by it.

    `begin, end = 0, 64` in front of a loop that takes `x[begin:end]` and ends with `begin, end = end, end + size`.
    """
    scaled = frozenset(sizes)
    written = {o.node.value for o in scaled if isinstance(o.node, ast.Constant)} - {1}  # one example tells nothing
    begins = (first for _, _, first in _moved_on(facts, steps, scaled) if written and first is not None)
    literal = (n.origins for n in begins if n.value in written and not n.inputs)
    return frozenset(o for origins in literal for o in origins if isinstance(o.node, ast.Constant)) - scaled


def _moved_on(
    facts: Facts, steps: Iterable[TrainStep], sizes: frozenset[Origin]
) -> Iterator[tuple[Site, Access, Number | None]]:
    """The bounds of slices of fed data that one statement of a loop moves on by the batch size.

    Each with the loop, the statement, and the number that the bound has in front of the loop.
    """
    for run in facts.runs_of(steps):
        cuts = [v.node for v in _fed(facts, run) if isinstance(v.node, ast.Slice)]
        nodes = {node for cut in cuts for node in ast.walk(cut)}
        places = {place for node in nodes for place in facts.places_read.get(node, ())}
        for writes in map(facts.writes_to, places):
            known = {write.value.uid for write in writes}
            for loop in (site for site in run.site.chain() if isinstance(site.stmt, LOOPS)):
                inside = [w for w in writes if any(site.stmt is loop.stmt for site in w.site.chain())]
                moved = inside[0].value if len({w.node for w in inside}) == 1 else None
                if not isinstance(moved, Number) or moved.op != "add" or moved.inputs[0].uid not in known:
                    continue
                if any(isinstance(n, ast.IfExp) for w in inside for n in ast.walk(w.site.stmt)):
                    continue
                first = next((w.value for w in reversed(writes[: writes.index(inside[0])])), None)
                if _is_of_size(terms_of(facts, moved.inputs[1], sizes, loop)):
                    yield loop, inside[0], first if isinstance(first, Number) else None


def _is_fixed(facts: Facts, one: Atom, sizes: frozenset[Origin]) -> bool:
    """Whether a number counts the turns of a loop, as many as before: `i` of `range(10)`, or what a constant leaves."""
    if isinstance(one, Of) and one.name in RESTS:
        of, by = one.given[0].atoms, one.given[-1].value
        return by is not None and any(map(_is_turn, of)) and SIZE not in of
    return _is_turn(one) and isinstance(one, tuple) and is_fixed(facts, one[1], sizes)


def _read_in(facts: Facts, within: list[ast.AST], sizes: frozenset[Origin]) -> ast.AST:
    """Where the batch size is read in some expressions or statements; the first of these where it is not seen."""
    read = {a.node for a, number in facts.numbers if number.factors() & sizes and not number.op}
    read |= {origin.node for origin in sizes}
    return next((node for each in within for node in ast.walk(each) if node in read), within[0])


@dataclass(frozen=True)
class _Window:
    """Rows of data that a step is fed, as many as a batch has: where they begin as it is written, and in terms."""

    node: ast.AST
    begin: Terms
    rows: Terms


def _lengths(rows: Terms) -> list[Terms]:
    """The numbers of rows that a window may have, but for the end of the data: of `min(i + b, n) - i` that is b."""
    how, options = rows.choice()
    inner = [option for option in options if all(one == SIZE for one in option.atoms)]
    return inner if how in ("least", ONE_OF) and inner else [rows]


def _in_first_turn(terms: Terms) -> Terms:
    return terms.replaced(lambda one: number(0) if _is_turn(one) else None)


def _windows_of(facts: Facts, steps: Iterable[TrainStep], sizes: frozenset[Origin]) -> Iterator[_Window]:
    """The windows of what the runs of training steps are fed."""
    for run in facts.runs_of(steps):
        for value in _fed(facts, run):
            yield from _window(facts, run, value, sizes)


def _fed(facts: Facts, run: RunCall) -> Iterator[Host]:
    """What is computed of other values for what a run is fed, or reads of a generator behind a data set."""
    given = needed((value for _, value in _yielded(facts, run)), run.fed.keys())
    behind = chain(run.fed.values(), (value for uid, value in given.items() if uid not in run.fed))
    return (value for value in behind if isinstance(value, Host) and value.inputs)


def _behind_rows(facts: Facts, run: RunCall) -> Iterator[Number | Host]:
    """The numbers behind the rows that a run is fed, or reads of a generator behind a data set.

    Of arithmetic that is not followed the whole is one, not its parts; of a remainder, which stays in the data, none.
    """
    rows = [value for key, value in run.feeds if not isinstance(key, Tensor) or key.batch.kind == "example"]
    todo = [(value, False) for value in (*rows, *(value for _, value in _yielded(facts, run)))]
    seen = set[int]()
    while todo:
        value, is_part = todo.pop()
        if value.uid in seen or isinstance(value, Input):
            continue
        seen.add(value.uid)
        computed = isinstance(value, Host) and isinstance(value.node, ast.BinOp)
        if isinstance(value, Number) or (isinstance(value, Host) and computed and not is_part):
            yield value
        if not isinstance(value, Number) and not _is_rest(value):
            inner = (*value.inputs, *value.parts())
            todo += [(v, computed) for v in inner if not (computed and isinstance(v, Number))]


def _is_rest(value: Value) -> bool:
    """Whether a value that is not followed is what is left of a division."""
    if not isinstance(value, Host):
        return False
    return value.call.rpartition(".")[2] in RESTS or isinstance(getattr(value.node, "op", None), ast.Mod)


def _yielded(facts: Facts, run: RunCall) -> Iterable[tuple[Input, Value]]:
    """What generators give to the data sets that a run reads."""
    return facts.yielded_for(value for value in run.behind.values() if isinstance(value, Input))


def _window(facts: Facts, run: RunCall, value: Host, sizes: frozenset[Origin]) -> Iterator[_Window]:
    """The window that a slice takes: `x[i:i + n]`, `slice(i, i + n)`, the numbers of `np.arange(i, i + n)`."""
    node = value.node
    if isinstance(node, ast.Slice):
        if node.step is not None and SIZE in terms_of(facts, value.inputs[-1], sizes, run.site).atoms:
            first = terms_of(facts, value.inputs[0], sizes, run.site) if node.lower is not None else number(0)
            yield _Window(node.lower or node, first, number(0))
        rows = spanned(facts, value, node) if node.lower is not None else None
        if node.lower is not None and rows is not None and rows.factors() & sizes:
            first = terms_of(facts, value.inputs[0], sizes, run.site)
            yield _Window(node.lower, first, terms_of(facts, rows, sizes, run.site))
    elif isinstance(node, ast.Call) and len(node.args) == BOUNDS and value.call.rpartition(".")[2] in CUTS:
        first, end = (terms_of(facts, bound, sizes, run.site) for bound in value.inputs[-BOUNDS:])
        if degree_in(end - first) == 1:
            yield _Window(node.args[0], first, end - first)


def _moves(begins: list[Terms]) -> list[Terms]:
    """By how much the beginning moves on in each turn of the loops around; nothing where that is not known."""
    turns = set(filter(_is_turn, begins[0].atoms))
    moved = [begins[0].replaced(partial(_next, turn)) - begins[0] for turn in turns]
    if not turns and len(begins) > 1:
        moved = [begins[1] - begins[0]]
    return list(filter(_is_of_size, moved))


def _counted(facts: Facts, begin: ast.AST, sizes: frozenset[Origin]) -> list[Terms]:
    """What statements add to the number at which a window begins: `i += 8`, also to an attribute that it is read of."""
    held = {part.uid for a in facts.accesses_at(begin) for part in _options(a.value)}
    places = {a.place for uid in held for a in facts.accesses_by_value.get(uid, ())}
    parts = ((part, w.site) for place in places for w in facts.writes_to(place) for part in _options(w.value))
    sums = dict.fromkeys((part, site) for part, site in parts if is_moved(part))
    steps = (terms_of(facts, part.inputs[1], sizes, site) for part, site in sums)
    return list(filter(_is_of_size, steps))


def _options(value: Value) -> Iterator[Value]:
    """The number itself, and those that it is one of."""
    yield value
    yield from value.options() if isinstance(value, Number) else ()


def _is_of_size(move: Terms) -> bool:
    """Whether a number is computed from the batch size and plain numbers alone, and is not 0."""
    followed = (one == SIZE or (isinstance(one, Of) and one.name.isidentifier()) for one in move.atoms)
    return bool(move.parts) and all(followed)


def _is_turn(one: Atom) -> bool:
    return isinstance(one, tuple) and one[0] == TURN


def _before_rest(one: Atom) -> Terms | None:
    """What a number was before only the remainder was kept of it, so that it stays within the data."""
    return one.given[0] if isinstance(one, Of) and one.name in RESTS else None


def _next(turn: Atom, one: Atom) -> Terms | None:
    return atom(one) + number(1) if one == turn else None
