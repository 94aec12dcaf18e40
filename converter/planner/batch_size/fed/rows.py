"""The batch size behind fed values: the numbers that determine their rows."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from itertools import chain

from converter.analysis.arrays.rows import counted_by, rows_of
from converter.analysis.arrays.same_rows import are_same
from converter.analysis.counts.size_names import named_batch
from converter.analysis.facts import Facts, RunCall
from converter.analysis.frames import Access
from converter.analysis.nodes import below
from converter.analysis.values import (
    Constant,
    Host,
    Input,
    Number,
    Origin,
    Sequence,
    Site,
    Value,
    closure,
    depends_on,
    needed,
)
from converter.planner.batch_size.streams import is_share
from converter.planner.batch_size.written_out import LOOPS, all_places, in_heads

Fed = list[tuple[Input, Value]]  # inputs of a run with what they are fed
BUFFERS = ("collections.deque", "deque")


def fed_sizes(facts: Facts, run: RunCall, fed: Fed) -> set[Origin]:
    """The numbers that may be the batch sizes of the fed values; first those that are seen to count their rows.

    Failing that, numbers behind it that are named as batch sizes, or are given to a function that speaks of batches.
    """
    counted = [rows_of(facts, value, run.site) for key, value in fed if key.batch.axis == 0]
    exact = facts.named_sizes(o for n in counted if n is not None for o in base_of(facts, n))
    behind = [named_for(facts, run, key, value) for key, value in fed]
    found = set[Origin]().union(*(named & exact or named for named in behind))
    without = [pair for pair, named in zip(fed, behind, strict=True) if not named]
    if found:  # beside a batch with a name one of another size: each is told from its own rows
        found |= set[Origin]().union(*(_written(facts, run, [pair], fed) for pair in without))
    else:
        found = _written(facts, run, fed, fed)
    return found | in_heads(facts, run, found)


def base_of(facts: Facts, number: Number) -> set[Origin]:
    """The batch size among the numbers that a number is a multiple of; empty if several are possible.

    Of `2 * n` it is the one with a name, and of a number that a branch chooses, that of each branch, if it has one.
    """
    options = [*number.options()]
    if len(options) > 1:
        named = [facts.named_sizes(one.linear) for one in options if isinstance(one, Number)]
        return set().union(*named) if len(named) == len(options) and all(named) else set()
    bound = {o for o in number.linear if facts.names_of(o)}
    alone = next((each for each in (number.linear, bound) if len(each) == 1), frozenset[Origin]())
    return facts.named_sizes(number.linear) or set(alone)


def named_behind(facts: Facts, value: Value) -> frozenset[Origin]:
    """Numbers named as batch sizes behind a fed value; failing that, those given to a next_batch."""
    if value.uid not in facts.named_for:
        facts.named_for[value.uid] = frozenset(_named_behind(facts, value))
    return facts.named_for[value.uid]


def _named_behind(facts: Facts, value: Value) -> set[Origin]:
    if isinstance(value, Host) and value.either:
        named_in_each = [named_behind(facts, one) for one in value.either]
        return set().union(*named_in_each) if all(named_in_each) else set()
    behind = facts.behind(value)
    numbers = [_number_behind(facts, v) for v in behind.values() if isinstance(v, Number) and v.origins]
    told = [n for n in numbers if all(o.key[0] == "flag" for o in n.origins)]
    inner = {uid for n in told for uid in needed(n.inputs)}  # the default of a setting
    origins = {o for n in numbers if n.uid not in inner for o in n.origins}
    named = {o for o in origins if named_batch(facts.names_of(o) | ({o.name} if o.name else set()))}
    if named:
        return named
    asked: set[Origin] = set()
    for host in behind.values():
        if isinstance(host, Host) and "batch" in host.call.rpartition(".")[2].lower():
            first = next((v for v in host.inputs if isinstance(v, Number)), None)
            if first is not None:
                asked |= set(first.linear) if len(first.linear) == 1 else set()
    return asked


def named_for(facts: Facts, run: RunCall, key: Input, value: Value) -> frozenset[Origin]:
    """Numbers named as batch sizes behind what an input is fed; failing that, such a number that counts its rows.

    A list that a loop fills has as many rows as the loop has turns, which is not behind what stands in it, nor behind
    what is computed of it.
    """
    named = named_behind(facts, value)
    if named or key.batch.axis != 0:
        return named
    number = rows_of(facts, value, run.site)
    lists = (v for v in facts.behind(value).values() if isinstance(v, Sequence) and facts.changes_of(v))
    numbers = [number] if number is not None else [rows_of(facts, each, run.site) for each in lists]
    counted = set[Origin]().union(*(base_of(facts, n) for n in numbers if n is not None))
    return frozenset(facts.named_sizes(counted))


def rows_of_turns(facts: Facts, run: RunCall, fed: Fed) -> ast.AST | None:
    """The number that counts the rows of a batch, where a named batch size counts the turns of the loop around.

    With N times as many turns, or fewer of them, each would take as many rows as before:
    `for i in range(batch_size): x[i * 8:(i + 1) * 8]`.
    """
    for key, value in fed:
        named = named_behind(facts, value)
        number = rows_of(facts, value, run.site) if named and key.batch.axis == 0 else None
        if number is None or not number.linear or number.origins & named:
            continue
        if only_turns(facts, value, named) or is_share(number, named):
            return min(number.linear, key=lambda o: (o.line, getattr(o.node, "col_offset", 0))).node
    return None


def only_turns(facts: Facts, value: Value, named: frozenset[Origin]) -> bool:
    """True if some numbers are not behind a value, or only because the ranges of loops have them."""
    turns = {v.uid for over in facts.turned.values() if over.uid in facts.ranges for v in over.parts()}
    behind = closure([value], lambda one: () if one.uid in turns else (*one.inputs, *one.parts()))
    own = (one for one in behind if one.uid not in turns and _is_of(one, named))
    return all(any(_is_of(v, named) for v in one.inputs) for one in own)


def _is_of(value: Value, origins: frozenset[Origin]) -> bool:
    return isinstance(value, Number) and not value.origins.isdisjoint(origins)


def _number_behind(facts: Facts, number: Number) -> Number:
    """The number of rows that `len(rows)` counts, where that is known; any other number itself."""
    length = counted_by(number)
    rows = rows_of(facts, length, number.site) if length is not None and number.site is not None else None
    return rows if rows is not None and rows.origins else number


def other_meaning(facts: Facts, run: RunCall, some: Fed, fed: Fed) -> ast.AST | None:
    """A number as large as the batch size of some inputs, for whose sake that stays as it is; None for none."""
    found = _without_name(facts, run, some)
    return all_places(facts, run, found, [value for _, value in fed]).unclear if found else None


def _written(facts: Facts, run: RunCall, some: Fed, fed: Fed) -> set[Origin]:
    """Numbers not named as a batch size that determine the rows of some inputs in each step; empty if unsure.

    fed: all that the run is fed: the same number counts the rows of other inputs, too.
    """
    found = _without_name(facts, run, some)
    places = all_places(facts, run, found, [value for _, value in fed])
    return set(places.origins) if places.unclear is None else set()


def _without_name(facts: Facts, run: RunCall, fed: Fed) -> set[Origin]:
    """The number behind the rows of all that a run is fed; empty if another may be behind some of it."""
    found: set[Origin] = set()
    without: list[Value] = []
    for key, value in fed:
        anew = key.batch.axis == 0 and is_kept(facts, value, run) is False
        number = rows_of(facts, value, run.site) if anew else None
        base = base_of(facts, number) if number is not None else set[Origin]()
        found |= base
        without += [] if base else [value]
    followed = all(depends_on([value], found) for value in without)
    return found if followed and all(o.key[0] in ("literal", "flag") for o in found) else set()


def is_kept(facts: Facts, value: Value, run: RunCall) -> bool | None:
    """True if the fed value is the same in each step: it is computed before the training loop, or of what stays there.

    None if unknown. So is one of several values, if each of them is taken again by the loop.
    """
    loops: list[ast.stmt] = [s.stmt for s in run.site.chain() if isinstance(s.stmt, (ast.For, ast.While))]
    if isinstance(value, Host) and value.either and all(is_taken_again(facts, one, run) for one in value.either):
        return True
    if loops and _is_written_out(facts, value):
        return True
    if not loops or value.site is None or not isinstance(value, (Host, Sequence)):
        return None
    if _is_handed_out(facts, value, run):
        own = {site.stmt for site in value.site.chain() if isinstance(site.stmt, LOOPS)}
        return bool(own) and are_same(facts, value, own)  # of a generator
    if _is_of_another_thread(facts, value.site, run):
        return False
    accesses, changed = facts.accesses_of(value), list[Site]()
    if isinstance(value, Sequence):
        held = {a.place for a in accesses if a.write}
        changed = [a.site for place in held for a in facts.writes_to(place)]
        changed += [e.site for e in facts.changes_of(value)]
    holders = {
        a.place.holder for a in accesses if a.place.kind == "attr" and a.place.holder is not None and not a.write
    }
    of_holders = (access for holder in holders for access in facts.accesses_of(holder))  # `batches[i].rows`
    changed += [a.site for a in chain(accesses, of_holders) if _is_picked(facts, a, loops)]
    changed += [a.site for a in facts.item_writes(value) if _refills(facts, a, value)]
    anew = any(s.stmt in loops for site in (value.site, *changed) for s in site.chain())
    return not anew or are_same(facts, value, loops)


def is_taken_again(facts: Facts, value: Value, run: RunCall) -> bool:
    """Whether a loop takes the same rows in each turn for the steps, of data that stays as it is."""
    own = {s.stmt for s in value.site.chain() if isinstance(s.stmt, LOOPS)} if value.site is not None else set()
    inside = any(s.stmt in own for s in run.site.chain()) or (bool(own) and _is_handed_out(facts, value, run))
    return inside and bool(is_kept(facts, value, run))


def _is_of_another_thread(facts: Facts, site: Site, run: RunCall) -> bool:
    """Whether a thread or process computes a value for the one that makes a run: it may give a new one each time."""
    around = {one.stmt for one in run.site.chain()}
    begun = {thread.site.stmt for thread in facts.threads} - around
    return any(one.stmt in begun for one in site.chain())


def _is_handed_out(facts: Facts, value: Value, run: RunCall) -> bool:
    """Whether a loop around a run goes over entries that hold the value: `for batch in batches: x, y = batch`."""
    overs = (facts.turned[site] for site in run.site.chain() if site in facts.turned)
    return any(one.uid == value.uid for one in closure(overs, lambda one: one.parts()))


def is_written_into(facts: Facts, value: Value, loops: Collection[ast.stmt]) -> bool:
    """Whether a loop writes into an array: `batch[:] = …`, `batch[i] = …`."""
    return any(site.stmt in loops for access in facts.item_writes(value) for site in access.site.chain())


def is_collected(facts: Facts, run: RunCall) -> bool:
    """Whether a run is fed from what the loops around it go on adding to: a replay memory."""
    loops = {site.stmt for site in run.site.chain() if isinstance(site.stmt, LOOPS)}
    behind = {uid: value for _, fed in run.feeds for uid, value in facts.behind(fed).items()}
    changed = {a.value.uid: a.value for a in facts.accesses if a.value.uid in facts.changes_by_value}
    held = (value for value in changed.values() if any(part.uid in behind for part in value.parts()))
    return any(is_added_to(facts, value, loops) for value in (*behind.values(), *held))


def is_added_to(facts: Facts, value: Value, loops: Collection[ast.stmt]) -> bool:
    """Whether one of these loops adds to a list or an array made in front of it; a deque is there to be added to."""
    if isinstance(value, Host) and value.call in BUFFERS:
        return True
    behind = set(loops).difference(site.stmt for site in (value.site.chain() if value.site is not None else ()))
    changes = facts.changes_of(value) if isinstance(value, Sequence) and value.mutable else []
    added = any(site.stmt in behind for effect in changes for site in effect.site.chain())
    return added or is_written_into(facts, value, behind)


def _refills(facts: Facts, access: Access, value: Value) -> bool:
    """Whether a write of items gives an array as many rows as it has, all at once or by a loop over them."""
    index = access.node.slice if isinstance(access.node, ast.Subscript) else None
    first = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
    own = rows_of(facts, value, access.site)
    if own is None:
        return False
    if isinstance(first, ast.Name):
        return any(_are_equal(facts, turns, own) for turns in _iterations_counted_by(facts, access, first.id))
    bare = isinstance(first, ast.Slice) and not (first.lower or first.upper or first.step)
    if not bare and not (isinstance(first, ast.Constant) and first.value is ...):
        return False
    given = rows_of(facts, access.value, access.site)
    return bool(named_behind(facts, access.value) & own.factors()) if given is None else _are_equal(facts, given, own)


def _iterations_counted_by(facts: Facts, access: Access, name: str) -> Iterator[Number]:
    """The number of turns of the loop around an access that counts by a name."""
    for site in access.site.chain():
        if isinstance(site.stmt, ast.For) and isinstance(site.stmt.target, ast.Name) and site.stmt.target.id == name:
            ends = facts.ranges.get(facts.turned[site].uid, []) if site in facts.turned else []
            if len(ends) == 1 and isinstance(ends[0], Number):
                yield ends[0]


def _are_equal(facts: Facts, one: Number, two: Number) -> bool:
    """Whether two numbers of rows are the same number, or the same one written out twice without a name."""
    if one.factors() & two.factors():
        return True
    both = one.linear | two.linear
    plain = all(o.key[0] == "literal" for o in both) and not facts.named_sizes(both)
    return plain and not {_written_as(o) for o in one.linear}.isdisjoint(_written_as(o) for o in two.linear)


def _written_as(origin: Origin) -> object:
    return getattr(origin.node, "value", origin)


def _is_picked(facts: Facts, access: Access, loops: Collection[ast.stmt]) -> bool:
    """True if a value may be another element in each iteration of the loops: `batches[n]`, `for batch in batches`."""
    if access.write:
        return isinstance(access.site.stmt, (ast.For, ast.AsyncFor))
    if access.place.kind in ("name", "attr"):
        return False
    if not isinstance(access.node, ast.Subscript):
        return True
    index = list(ast.walk(access.node.slice))
    if any(isinstance(node, (ast.Call, ast.Attribute)) for node in index):
        return True
    names = {node.id for node in index if isinstance(node, ast.Name)}
    return any(not names.isdisjoint(_names_set_in(facts, loop)) for loop in loops if names)


def _names_set_in(facts: Facts, loop: ast.stmt) -> frozenset[str]:
    """The names that a loop sets, in its head too."""
    if loop not in facts.names_set:
        stored = (node for node in below(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        facts.names_set[loop] = frozenset(node.id for node in stored)
    return facts.names_set[loop]


def _is_written_out(facts: Facts, value: Value) -> bool:
    """Whether a list holds nothing but numbers and texts that are written where it is: `[1, 2, 3]`."""
    if not isinstance(value, Sequence):
        return isinstance(value, (Number, Constant)) and value.value is not None
    plain = not value.many and bool(value.elements) and all(v in value.elements for v in value.inputs)
    return plain and not facts.changes_of(value) and all(_is_written_out(facts, element) for element in value.elements)
