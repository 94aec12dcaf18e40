"""Where a script counts its training steps by the batch size, so that an epoch has fewer of them with larger batches.

Only what trains is asked: a loop over the batches of a test counts those.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from itertools import takewhile

from converter.analysis.arrays.rows import terms_of, turns_of
from converter.analysis.counts.degrees import follows
from converter.analysis.counts.terms import Terms
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.frames import Access
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Input, Number, Site, Value
from converter.planner.batch_size.intervals import SizeReads
from converter.planner.batch_size.steps import Reads, ends_of, loops_around, moves_in_loops, moves_that_end_loops
from converter.planner.batch_size.written_out import LOOPS

NUMBERED = 2  # what a loop goes over gives pairs, and these the batches
ENDS = ("OutOfRangeError", "StopIteration", "KeyboardInterrupt", "Empty", "SystemExit")  # errors that end a loop


def steps_by_size(size_reads: SizeReads, kept: Collection[ast.AST]) -> Iterator[ast.AST]:
    """The expressions by which training steps are counted; kept: those that read a batch size that stays."""
    found, counting = size_reads
    if counting is None:
        return
    facts = counting.facts
    reads = Reads(facts, frozenset(counting.scaled), found - set(kept), counting.reads)
    moves = moves_in_loops(facts)
    loops = dict.fromkeys(loop for run in counting.runs for loop in _loops(facts, run))
    heads: dict[ast.AST, None] = {head: None for head, over, site in loops if _shrinks(reads, over, site)}
    tested: dict[Site, None] = {}
    for run in counting.runs:
        around = [site for site in (*made_in(run), *_giving(facts, run)) if isinstance(site.stmt, (ast.For, ast.While))]
        for site in dict.fromkeys(around):
            tested[site] = None
            heads.update(dict.fromkeys(_ends(reads, run, site, moves.get(site, []))))
        heads.update(dict.fromkeys(_full_batches(reads, run)))
    heads.update((head, None) for site in tested for head in _tests(reads, site))
    for head in heads:
        yield min(_read_for(reads, head), key=_place, default=head)
    for one in facts.step_numbers:
        if one.counter is None and follows(terms_of(facts, one.value, reads.sizes, facts.runs[0].site), -1):
            yield one.node


def batches_left_out(size_reads: SizeReads) -> Iterator[ast.AST]:
    """What loops go over that train on all batches of the data but a number of them: `range(n // size - 1)`.

    `range(0, n - size, size)` leaves out a smaller last batch.
    """
    found, counting = size_reads
    for run in counting.runs if counting is not None else ():
        assert counting is not None
        for head, over, site in _loops(counting.facts, run):
            length = turns_of(counting.facts, over, site)
            terms = terms_of(counting.facts, length, counting.scaled, site) if length is not None else Terms()
            by = counting.facts.ranges.get(over.uid, [])[2:]
            if follows(terms, -1) and not by and any(not monomial and factor <= -1 for monomial, factor in terms):
                yield head


def batches_that_fail(size_reads: SizeReads) -> Iterator[ast.AST]:
    """The `except` clauses by which a loop goes on behind an error, and leaves out the batch that raised it."""
    counting = size_reads[1]
    for run in counting.runs if counting is not None else ():
        own = [*takewhile(_is_no_loop, run.site.chain())]
        loop = next((site for site in run.site.chain() if isinstance(site.stmt, LOOPS)), None)
        made = [value.site for _, value in run.feeds if value.site is not None]
        anew = loop is not None and any(loop in set(site.chain()) for site in made)
        around = [*own, *(each for site in made for each in takewhile(_is_no_loop, site.chain()))] if anew else []
        tries = dict.fromkeys((site.stmt, site in own) for site in around if isinstance(site.stmt, ast.Try))
        for stmt, trains in tries:
            assert isinstance(stmt, ast.Try)
            yield from (handler for handler in stmt.handlers if _goes_on(handler, trains))


def _is_no_loop(site: Site) -> bool:
    return not isinstance(site.stmt, LOOPS)


def _goes_on(handler: ast.ExceptHandler, trains: bool) -> bool:
    """Whether the loop around goes on behind an error without the step. trains: the step itself stands in the `try`."""
    if handler.type is not None and any(name in ast.unparse(handler.type) for name in ENDS):
        return False
    last = handler.body[-1]
    ends = isinstance(last, (ast.Raise, ast.Return, ast.Break)) or "exit" in ast.unparse(last)
    return isinstance(last, ast.Continue) or (trains and not ends)


def _loops(facts: Facts, run: RunCall) -> Iterator[tuple[ast.expr, Value, Site]]:
    """The loops around a run and around what makes its feeds: what they go over as text and as a value."""
    yield from ((head, over, site) for _, head, over, site in loops_around(facts, run))
    for site in dict.fromkeys((*made_in(run), *_giving(facts, run))):
        if site in facts.turned and isinstance(site.stmt, ast.For):
            yield site.stmt.iter, facts.turned[site], site


def ends_with_data(facts: Facts, steps: Iterable[TrainStep]) -> Iterator[ast.AST]:
    """The loops that train until a data set or a queue has no more batches, which are fewer where they are larger."""
    steps = tuple(steps)
    read = {root.op for step in steps for root in step.loss.roots if isinstance(root, Input)}
    if any(has(op, Trait.FROM_DATA_SET) or has(op, Trait.FROM_QUEUE) for op in read):
        trained = {step.result.uid for step in steps}
        for run in facts.runs:
            around = [site.stmt for site in run.site.chain()] if run.computes(trained) else []
            loop = next((stmt for stmt in around if isinstance(stmt, LOOPS)), None)
            if isinstance(loop, ast.While) and _has_no_other_end(facts, loop, around):
                yield loop


def _has_no_other_end(facts: Facts, loop: ast.While, around: Iterable[ast.stmt]) -> bool:
    """Whether a loop ends by an exception, or when a session or a coordinator says that there are no more batches."""
    inner = [node for stmt in loop.body for node in ast.walk(stmt)]
    handlers = [handler for stmt in around if isinstance(stmt, ast.Try) for handler in stmt.handlers]
    handled = {node for handler in handlers for node in ast.walk(handler)}
    if any(isinstance(node, ast.Break) and node not in handled for node in inner):
        return False
    if any(has(getattr(node, "attr", ""), Trait.SAYS_TO_STOP) for node in ast.walk(loop.test)):
        asked = any(has(getattr(node, "attr", ""), Trait.ASKS_TO_STOP) and node not in handled for node in inner)
        return not asked and not any(has(one.function, Trait.ENDS_AT_STEP) for one in facts.step_numbers)
    ends = (handler.type is None or "OutOfRangeError" in ast.unparse(handler.type) for handler in handlers)
    return isinstance(loop.test, ast.Constant) and any(ends)


def _read_for(reads: Reads, head: ast.AST) -> Collection[ast.AST]:
    """Where the batch size is read for an expression: in it, or where a name in it is assigned."""
    if found := reads.of(head):
        return found
    values = (access.value for node in ast.walk(head) for access in reads.known.get(node, ()))
    made = [write.site.stmt for value in values for write in reads.facts.accesses_of(value) if write.write]
    assigned = (node for stmt in made if isinstance(stmt, ast.Assign) for node in ast.walk(stmt.value))
    return [node for node in assigned if node in reads.nodes]


def made_in(run: RunCall) -> Iterator[Site]:
    """What stands around a run, and around what makes the values that it is fed."""
    yield from run.site.chain()
    for value in run.fed.values():
        if value.site is not None:
            yield from value.site.chain()


def _giving(facts: Facts, run: RunCall) -> Iterator[Site]:
    """What stands around what the loops around a run go over, such as the loop of a generator."""
    overs = (facts.turned[site] for site in run.site.chain() if site in facts.turned)
    for value in (part for over in overs for part in _parts(over, NUMBERED)):
        if value.site is not None:
            yield from value.site.chain()


def _parts(value: Value, deep: int) -> Iterator[Value]:
    """A value, and what it gives: of `enumerate(batches)` the pairs, and of these the batches."""
    yield value
    for part in value.parts() if deep else ():
        yield from _parts(part, deep - 1)


def _shrinks(reads: Reads, over: Value, site: Site) -> bool:
    """Whether a loop has fewer turns where the batches are larger."""
    length = turns_of(reads.facts, over, site)
    if length is not None:
        return _follows(reads, length, site, -1)
    listed = reads.facts.listed.get(over.uid)
    within = ([listed] if listed is not None else []) + list(reads.facts.zipped.get(over.uid, ()))
    if within:
        return any(_shrinks(reads, value, site) for value in within)
    bounds = reads.facts.ranges.get(over.uid, [])
    by = len(bounds) > 2 and _follows(reads, bounds[2], site, 1)
    return by or any(_follows(reads, bound, site, -1) for bound in bounds)


def _follows(reads: Reads, number: Value, site: Site, sign: int) -> bool:
    known = isinstance(number, (Number, Host))
    return known and follows(terms_of(reads.facts, number, reads.sizes, site), sign)


def _ends(reads: Reads, run: RunCall, loop: Site, moves: Iterable[Access]) -> Iterator[ast.AST]:
    """What brings a loop nearer to its end by a batch, and what the head of a loop around a run says of batches."""
    for write in moves_that_end_loops(run, ends_of(reads.facts, loop.stmt), moves):
        if _follows(reads, write.value.inputs[-1], loop, 1):
            yield write.site.stmt
    if isinstance(loop.stmt, ast.While) and loop in set(run.site.chain()):  # others may collect the rows of a batch
        yield from (node for node in ast.walk(loop.stmt.test) if node in reads.nodes)


def _tests(reads: Reads, loop: Site) -> Iterator[ast.AST]:
    """What the conditions that end a loop say of batches."""
    for _, test, _ in ends_of(reads.facts, loop.stmt):
        read = ((n, a.value) for n in ast.walk(test) for a in reads.known.get(n, ()))
        yield from (node for node, value in read if _follows(reads, value, loop, -1))


def _full_batches(reads: Reads, run: RunCall) -> Iterator[ast.AST]:
    """Where a generator that a loop around a run goes over collects rows: `if len(rows) == n: yield rows`.

    Only a `for` loop of it has an end that leaves fewer batches where these are larger.
    """
    makers = (site.frame.node for site in _giving(reads.facts, run))
    for function in dict.fromkeys(node for node in makers if isinstance(node, ast.FunctionDef)):
        loops = (node for node in ast.walk(function) if isinstance(node, ast.For))
        tests = (node for loop in loops for node in ast.walk(loop) if isinstance(node, ast.If))
        for test in (test for test in tests if any(map(_yields, test.body))):
            yield from (node for node in ast.walk(test.test) if node in reads.nodes)


def _yields(stmt: ast.stmt) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(stmt))


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
