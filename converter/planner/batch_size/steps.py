"""Loops that take as many training steps as a batch has rows: that number of steps stays, while the batches grow.

The number of steps is read off the loop as a sum of terms, in any spelling: what it goes over, or the recurrence of the
number that it counts down.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping

from converter.analysis.arrays.rows import rows_of, terms_of, turns_of
from converter.analysis.counts.degrees import follows
from converter.analysis.counts.reading import MOVES
from converter.analysis.counts.terms import Terms
from converter.analysis.facts import End, Facts, RunCall
from converter.analysis.frames import Access
from converter.analysis.values import Host, Input, Number, Origin, Site, Value, grows_with, needed
from converter.dataclass import dataclass
from converter.planner.batch_size.written_out import LOOPS
from converter.planner.questions.statements import parents_of

COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
ASSIGNED = 3  # assignments behind each other through which a number of steps is followed


@dataclass(frozen=True)
class Steps:
    """A loop around a training step whose number of turns grows with the batch size.

    ends: the expressions that read the batch size for it; empty where none is seen. shown: the number of turns.
    """

    loop: ast.AST
    ends: frozenset[ast.AST]
    shown: Terms


@dataclass(frozen=True)
class Reads:
    """The expressions outside of the towers that are a multiple of the batch size."""

    facts: Facts
    sizes: frozenset[Origin]
    nodes: Collection[ast.AST]
    known: Mapping[ast.AST, list[Access]]

    def of(self, within: ast.AST) -> frozenset[ast.AST]:
        """Those in an expression; where there are none, those behind the names and calls in it."""
        return self._of(within, ASSIGNED)

    def _of(self, within: ast.AST, deep: int) -> frozenset[ast.AST]:
        inner = dict.fromkeys(ast.walk(within))
        found = frozenset(node for node in inner if node in self.nodes)
        if found or not deep:
            return found
        made = {n for n in inner for a in self.known.get(n, ()) for n in self._made(a, inner) if n is not within}
        found = found.union(*(self._of(node, deep - 1) for node in made))
        return found or frozenset(n for n in inner if isinstance(n, ast.Call) and self._gives(n))

    def _made(self, read: Access, inner: Collection[ast.AST]) -> Iterator[ast.AST]:
        """What was assigned to a name, where nothing else reads it."""
        accesses = self.facts.accesses_of(read.value)
        others = any(not a.write and a.node not in inner for a in accesses)
        for write in () if others else accesses:
            if write.write and isinstance(write.site.stmt, ast.Assign):
                yield write.site.stmt.value

    def _gives(self, call: ast.Call) -> bool:
        """Whether a call of a function gives a multiple of the batch size."""
        values = self.facts.results_of(call)
        return bool(values) and all(grows_with(v, self.sizes) for v in values)


def grown_steps(reads: Reads, runs: Iterable[RunCall]) -> Iterator[Steps]:
    """The loops around training steps whose number of turns would grow with the batch size."""
    seen: set[ast.AST] = set()
    runs = list(runs)
    fed = needed(value for run in runs for _, value in run.feeds).keys()
    moves = moves_in_loops(reads.facts) if runs else {}
    ends = {site.stmt: ends_of(reads.facts, site.stmt) for site in moves}
    for run in runs:
        for loop, head, over, site in loops_around(reads.facts, run):
            if loop in seen or not _takes_a_batch(reads, run, _picked(over)):
                continue
            length = turns_of(reads.facts, over, site)
            turns = terms_of(reads.facts, length, reads.sizes, site) if length is not None else Terms()
            if follows(turns, 1):
                seen.add(loop)
                yield Steps(loop, reads.of(head), turns)
        for site in (s for s in run.site.chain() if s in moves and s.stmt not in seen):
            for start, moved in _counted_down(
                reads, fed, site, moves_that_end_loops(run, ends[site.stmt], moves[site])
            ):
                seen.add(site.stmt)
                yield Steps(site.stmt, reads.of(start), moved)


def loops_around(facts: Facts, run: RunCall) -> Iterator[tuple[ast.AST, ast.expr, Value, Site]]:
    """The `for` loops and comprehensions around a run: where they begin, what they go over as text and as a value."""
    for site in run.site.chain():
        if isinstance(site.stmt, ast.For) and site in facts.turned:
            yield site.stmt, site.stmt.iter, facts.turned[site], site
    for above in parents_of(facts, run.call):
        for part in above.generators if isinstance(above, COMPREHENSIONS) else ():
            yield from ((above, node, over, run.site) for node, over in facts.comprehended if node is part.iter)


def _picked(over: Value) -> set[int]:
    """The uids of what a loop gives in its turns."""
    return {part.uid for part in over.parts()}


def _takes_a_batch(reads: Reads, run: RunCall, turns: set[int]) -> bool:
    """Whether a run is fed a batch of the size that grows, and not the rows of one, one by one."""
    for key, value in run.feeds:
        if not isinstance(key, Input) or key.batch.kind != "example":
            continue
        rows = rows_of(reads.facts, value, run.site) if key.batch.axis == 0 else None
        picked = any(uid in turns for uid in needed([value]))
        if picked if rows is None else not rows.factors() & reads.sizes:
            return False
    return True


def moves_in_loops(facts: Facts) -> dict[Site, list[Access]]:
    """For each loop, the statements in it that move a number on from itself: `n -= 1`."""
    found: dict[Site, list[Access]] = {}
    for write in facts.accesses:
        if write.write and is_moved(write.value):
            for loop in write.site.chain():
                if isinstance(loop.stmt, LOOPS):
                    found.setdefault(loop, []).append(write)
    return found


def is_moved(value: Value) -> bool:
    """Whether a value is another one, moved on: `n - 1`, `i + min(n, 18)`."""
    op = value.op if isinstance(value, Number) else value.call if isinstance(value, Host) else ""
    written = isinstance(value, Number) or isinstance(getattr(value, "node", None), (ast.BinOp, ast.AugAssign))
    return op in MOVES and written and len(value.inputs) > 1


def ends_of(facts: Facts, loop: ast.stmt) -> list[End]:
    """The statements that may end a loop, each with its condition, and what that reads."""
    if loop not in facts.ends:
        tests: list[tuple[ast.stmt, ast.expr]] = [(loop, loop.test)] if isinstance(loop, ast.While) else []
        for stmt in ast.walk(loop):
            if isinstance(stmt, ast.If) and any(isinstance(s, ast.Break) for s in stmt.body):
                tests.append((stmt, stmt.test))
        read = facts.places_read
        facts.ends[loop] = [(stmt, t, {p for node in ast.walk(t) for p in read.get(node, ())}) for stmt, t in tests]
    return facts.ends[loop]


def moves_that_end_loops(run: RunCall, ends: Iterable[End], moves: Iterable[Access]) -> Iterator[Access]:
    """Those moves of a number by which a loop ends, but for conditions that let a step train."""
    around = {site.stmt for site in run.site.chain()}
    read = {place for stmt, _, places in ends if not (isinstance(stmt, ast.If) and stmt in around) for place in places}
    return (write for write in moves if write.place in read)


def _counted_down(
    reads: Reads, fed: Collection[int], loop: Site, moves: Iterable[Access]
) -> Iterator[tuple[ast.AST, Terms]]:
    """Where a number begins at the batch size that each turn of a loop moves by a plain number, and that ends it."""
    facts = reads.facts
    for write in moves:
        moved = write.value
        start, step = moved.inputs[0], moved.inputs[-1]
        begin = terms_of(facts, start, reads.sizes, loop)
        plain = terms_of(facts, step, reads.sizes, loop).value is not None
        if not plain or not follows(begin, 1) or moved.uid in fed:
            continue
        for first in facts.accesses_of(start):
            value = getattr(first.site.stmt, "value", None)
            outside = first.write and first.place == write.place and loop not in set(first.site.chain())
            if outside and isinstance(value, ast.expr):
                yield value, begin
