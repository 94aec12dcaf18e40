"""The batch size as a number of steps: `if step % batch_size == 0: print(loss)`, `while step < batch_size`.

The number counts steps there, and the steps of the converted script are as many as the original's: it stays what it
is, while the batches grow.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property

from converter.analysis.arrays.rows import turns_of
from converter.analysis.arrays.turn_counts import Counted, TurnCounts
from converter.analysis.counts.reading import QUOTIENTS
from converter.analysis.facts import Effect, Facts, RunCall, TrainStep
from converter.analysis.frames import Access
from converter.analysis.values import Host, Number, Origin, Value, grows_with
from converter.dataclass import dataclass
from converter.planner.batch_size.fed.rows import is_added_to, is_collected
from converter.planner.batch_size.steps import Reads, grown_steps, loops_around
from converter.planner.batch_size.written_out import FUNCTIONS, LOOPS, PASSED_ON, RANGES
from converter.planner.questions.statements import LOGS, called, parents_of
from converter.planner.region.region import Region

DIVIDES = (ast.Div, ast.FloorDiv)
BOUNDS = (ast.Add, ast.Sub, *DIVIDES, ast.Mult)
MEETS = (ast.Mod, *DIVIDES, ast.BitAnd)  # operators that set a count against a number of steps
REMAINDERS = ("mod", "fmod", "divmod", "remainder", "__mod__", "__rmod__")
CHECKED = ("any", "all", "bool", "int", "float", "list", "set", "tuple")  # around what a condition tests
TESTS = (ast.If, ast.IfExp, ast.While, ast.BoolOp, ast.Compare, ast.UnaryOp)  # around a remainder that is zero or not
AROUND = (*TESTS, *PASSED_ON, ast.BinOp, ast.Lambda, ast.Subscript, ast.GeneratorExp, ast.comprehension)
ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
COMPARES = (*ORDERS, ast.In, ast.NotIn)
AFTER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
SKIPS = (ast.Continue, ast.Yield, ast.YieldFrom)


SizeReads = tuple[set[ast.AST], "Counting | None"]  # what reads a batch size, and what tells what that counts


def intervals(reads: SizeReads) -> frozenset[ast.AST]:
    """The expressions that read a batch size, or write one as a number, and mean a number of steps."""
    found, counting = reads
    if counting is None:
        return frozenset()
    ends = grown_steps(Reads(counting.facts, frozenset(counting.scaled), found, counting.reads), counting.runs)
    return frozenset(filter(counting.is_interval, found)).union(*(steps.ends for steps in ends))


def warm_ups(reads: SizeReads) -> Iterator[ast.AST]:
    """The reads of a batch size that let the first step train when as many rows have been collected."""
    found, counting = reads
    if counting is not None:
        yield from filter(counting.waits_for_rows, found)


def divided_steps(
    facts: Facts, regions: Iterable[Region], steps: Iterable[TrainStep], sizes: Iterable[Origin]
) -> Iterator[ast.AST]:
    """Numbers of steps that are divided by a batch size: `epoch = step // batch_size`."""
    ratios = [node for node in facts.nodes(ast.BinOp) if isinstance(node.op, DIVIDES)]
    found, counting = reads_of(facts, regions, steps, sizes) if ratios else (set[ast.AST](), None)
    if counting is not None:
        apart = (ratio for ratio in ratios if ratio.right in found and not counting.is_interval(ratio.right))
        yield from filter(counting.divides_steps, apart)


def reads_of(facts: Facts, regions: Iterable[Region], steps: Iterable[TrainStep], sizes: Iterable[Origin]) -> SizeReads:
    """The expressions outside the towers that are a batch size, and what tells what they count; None without any."""
    scaled = set(sizes)
    counting = counting_of(facts, regions, steps, scaled)
    reads = counting.reads
    found: set[ast.AST] = {o.node for o in scaled if isinstance(o.node, ast.Constant)}
    found |= {node for node, those in reads.items() if any(grows_with(access.value, scaled) for access in those)}
    return found, counting if found and counting.runs else None


def counting_of(facts: Facts, regions: Iterable[Region], steps: Iterable[TrainStep], scaled: set[Origin]) -> Counting:
    """The runs of these training steps, and what the script reads outside of the towers."""
    towers = tuple(regions)
    reads: dict[ast.AST, list[Access]] = {}
    for site, accesses in facts.accesses_by_site:
        if not any(region.in_tower(site) for region in towers):
            for _, access in accesses:
                if not access.write:
                    reads.setdefault(access.node, []).append(access)
    return Counting(facts, facts.runs_of(steps), reads, scaled)


def steps_or_sizes(facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """Numbers of steps that a branch sets to what is a batch size elsewhere: `n = int(argv[1])` for either of both."""
    counting = counting_of(facts, (), steps, set(sizes))
    for node, accesses in counting.reads.items():
        if any(_may_be_multiple(access.value, counting.scaled) for access in accesses) and counting.is_interval(node):
            yield node
    for run in counting.runs:
        for _, head, over, site in loops_around(facts, run):
            turns = turns_of(facts, over, site)
            if turns is not None and _may_be_multiple(turns, counting.scaled):
                yield head


def _may_be_multiple(value: Value, scaled: set[Origin]) -> bool:
    """Whether a number is one of several, or is computed from it, of which only some follow the same batch size."""
    if not isinstance(value, Number) or grows_with(value, scaled) or value.op in QUOTIENTS:
        return False
    if value.op:
        return any(_may_be_multiple(part, scaled) for part in value.inputs)
    return any(grows_with(option, scaled) for option in value.options())


@dataclass(frozen=True)
class Counting:
    """The runs of training steps, and the reads of names in the script outside the towers."""

    facts: Facts
    runs: list[RunCall]
    reads: Mapping[ast.AST, list[Access]]
    scaled: set[Origin]

    def is_interval(self, size: ast.AST) -> bool:
        """Whether a count of steps is compared with a number, or divided by it to see whether anything remains."""
        bound = size
        for above in parents_of(self.facts, size):
            if any(map(self._counts_steps, self._met(above, bound))):
                ratio = isinstance(above, ast.BinOp) and not isinstance(above.op, ast.Mod)
                return self._fits(bound) and self.is_tested(above, shown=not ratio)
            if not _passes_on(above, bound):
                return False
            bound = above
        return False

    def _met(self, above: ast.AST, bound: ast.AST) -> list[ast.expr]:
        """The numbers that a bound is compared with, or divides, in the expression around it."""
        if isinstance(above, ast.BinOp) and isinstance(above.op, MEETS):
            return [above.left] if above.right is bound else [above.right] if isinstance(above.op, ast.BitAnd) else []
        if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult):  # `step // n * n`
            return [above]
        if isinstance(above, ast.Call) and called(above) in REMAINDERS:
            given = [above.func.value] if isinstance(above.func, ast.Attribute) else []
            return [other for other in (*given, *above.args) if other is not bound]
        test = above.elt if isinstance(above, ast.GeneratorExp) else above
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], COMPARES):
            return []
        return [number for number in (test.left, *test.comparators) if number is not bound]

    def _fits(self, bound: ast.AST) -> bool:
        """Whether a number grows with the batch size, or each number of those among which one is looked for."""
        numbers = [value for value in self.values(bound) if isinstance(value, (Number, Host))]
        return not numbers or any(map(self._turns.is_interval, numbers))

    def divides_steps(self, ratio: ast.BinOp) -> bool:
        """Whether the upper number of a ratio is a number of steps, and no condition by the batch size lets them train.

        A loop over examples trains at each `i % batch_size == 0`, and `i // batch_size` is the number of the step.
        """
        tests = [s.stmt.test for run in self.runs for s in run.site.chain() if isinstance(s.stmt, ast.If)]
        sized = (node for test in tests for node in ast.walk(test) if node in self.reads)
        if any(grows_with(a.value, self.scaled) for node in sized for a in self.reads[node]):
            return False
        return self._counts_steps(ratio.left)

    def is_tested(self, node: ast.AST, shown: bool = True) -> bool:
        """Whether nothing is done with a remainder, or with a comparison, but to test it, or (`shown`) to show it."""
        for above in parents_of(self.facts, node):
            if isinstance(above, (ast.If, ast.While, ast.IfExp, ast.Assert)):
                return above.test is node
            if isinstance(above, ast.Assign) and above.value is not node:  # `rows[i % n] = row`
                return False
            if isinstance(above, ast.Assign):
                uids = {w.value.uid for w in self.facts.accesses if w.write and w.node in above.targets}
                reads = [read for read, those in self.reads.items() if any(a.value.uid in uids for a in those)]
                tested = bool(reads) and all(self.is_tested(read, shown) for read in reads)
                return tested and not any(map(self._is_in_a_guard, reads))
            if isinstance(above, ast.Return):
                return self._calls_are_tested(above)
            if isinstance(above, ast.Expr) or (isinstance(above, ast.FormattedValue) and above.value is node):
                return shown
            if not isinstance(above, AROUND) and not self._passes(above, node, shown):
                return False
            node = above
        return False

    def _passes(self, above: ast.AST, node: ast.AST, shown: bool) -> bool:
        """Whether a call shows what it is given, or gives a number of it that is tested behind it."""
        if not isinstance(above, ast.Call):
            return False
        logs = shown and node is not above.func and called(above) in (*LOGS, "format")
        return logs or above.func is node or called(above) in CHECKED or bool(self._met(above, node))

    def _calls_are_tested(self, end: ast.Return) -> bool:
        """Whether what a function returns is only tested where it is called."""
        function = next((a for a in parents_of(self.facts, end) if isinstance(a, FUNCTIONS)), None)
        frames = self.facts.frames_by_node.get(function, ()) if function is not None else ()
        calls = {frame.call for frame in frames if frame.call is not None}
        return bool(calls) and all(map(self.is_tested, calls))

    def _is_in_a_guard(self, node: ast.AST) -> bool:
        """Whether an expression stands in a condition that decides if a step trains."""
        return any(isinstance(a, ast.If) and self._decides(a, ()) for a in parents_of(self.facts, node))

    def is_fixed(self, node: ast.expr) -> bool:
        """Whether an expression is a number that does not depend on the batch size."""
        if isinstance(node, ast.Constant):
            return True
        values = [access.value for access in self.reads.get(node, [])]
        return bool(values) and all(isinstance(v, Number) and v.origins and not v.origins & self.scaled for v in values)

    @cached_property
    def _turns(self) -> TurnCounts:
        return TurnCounts(self.facts, self.runs, frozenset(self.scaled))

    def values(self, node: ast.AST) -> list[Value]:
        """What an expression was in the turns that were followed."""
        read = [access.value for access in self.reads.get(node, ())]
        return read or self.facts.operands_of(node) or self.facts.results_of(node)

    def loops_counted(self, count: ast.AST, rests: bool = True) -> set[Counted]:
        """The loops around training steps whose turns an expression counts. rests: also a remainder of such a count."""
        return {loop for value in self.values(count) for loop in self._turns.loops_of(value, rests)}

    def _counts_steps(self, count: ast.expr) -> bool:
        """Whether an expression is a number of steps so far, one that constants were added to, or a remainder of it.

        One that decides whether a step trains counts examples: `if i % batch_size == 0: sess.run(train_op, {x: rows})`.
        """
        loops = self.loops_counted(count)
        around = list(parents_of(self.facts, count))
        guarded = any(isinstance(a, ast.If) and self._decides(a, loops) for a in around) if loops else False
        return bool(loops) and (not guarded or self._warms_up(count, around[0]))

    def _warms_up(self, count: ast.expr, test: ast.AST) -> bool:
        """Whether a test lets train all steps behind, or in front of, one turn of the loop, whose data stays the same.

        The count goes on by one in each turn, and by nothing else. Where the loop adds to the data, as to a replay
        memory, it must hold a batch before the first step.
        """
        names = [node for node in ast.walk(count) if node in self.reads]
        collected = any(is_collected(self.facts, run) for run in self.runs)
        return _is_ordered(test) and all(self._only_counts(name) is not False for name in names) and not collected

    def _only_counts(self, name: ast.AST) -> bool | None:
        """Whether loops that train move a number on by one, and do nothing else to it; None where they do nothing."""
        writes = self._in_loops(w for read in self.reads.get(name, ()) for w in self.facts.writes_to(read.place))
        return all(self._turns.loops_of(write.value) - {None} for write in writes) if writes else None

    def waits_for_rows(self, size: ast.AST) -> bool:
        """Whether steps train once the script has collected a batch of rows, and collects on: `len(rows) > n`."""
        around = list(parents_of(self.facts, size))
        while around and _is_bound(around[0]):
            size, *around = around
        test = around[0] if around else size
        if not _is_ordered(test) or not any(isinstance(a, ast.If) and self._decides(a, ()) for a in around):
            return False
        assert isinstance(test, ast.Compare)
        count = test.left if test.left is not size else test.comparators[0]
        rows = count.args[0] if isinstance(count, ast.Call) and called(count) == "len" and count.args else None
        reads = self.reads.get(count if rows is None else rows, [])
        if rows is not None:
            writes = self._in_loops(write for read in reads for write in self.facts.writes_to(read.place))
            turned = next((a for a in around if isinstance(a, LOOPS)), None)  # an outer one may begin a new list
            anew = any(turned is None or turned in [site.stmt for site in w.site.chain()] for w in writes)
            return not anew and any(self._goes_on(read.value) for read in reads)
        return bool(self._only_counts(count)) and any(is_collected(self.facts, run) for run in self.runs)

    def _goes_on(self, rows: Value) -> bool:
        """Whether loops that train put rows into a list one by one, and never take all of them out."""
        return is_added_to(self.facts, rows, self._loops()) and not any(map(_empties, self.facts.changes_of(rows)))

    def _in_loops(self, writes: Iterable[Access]) -> list[Access]:
        """The writes that stand in the loops around the training steps."""
        loops = self._loops()
        return [write for write in writes if any(site.stmt in loops for site in write.site.chain())]

    def _loops(self) -> set[ast.stmt]:
        """The loops around the training steps."""
        return {site.stmt for run in self.runs for site in run.site.chain() if isinstance(site.stmt, LOOPS)}

    def _decides(self, test: ast.If, counted: Container[Counted]) -> bool:
        """Whether a condition decides if a step trains: the step stands below it, or behind a `continue` in it.

        counted: the loops whose end a `return` may be.
        """
        inner = [node for part in test.body for node in ast.walk(part)]
        if any(isinstance(node, SKIPS) for node in inner):
            return True
        if any(isinstance(node, ast.Return) for node in inner):
            ends = (a for a in parents_of(self.facts, test) if isinstance(a, (*LOOPS, ast.FunctionDef)))
            if next(ends, None) not in counted:
                return True
        return any(site.stmt is test for run in self.runs for site in run.site.chain())


def _empties(change: Effect) -> bool:
    """Whether a list may lose all of its rows at once: `rows.clear()`, `del rows[:]`, `rows[:] = []`."""
    by_method = isinstance(change.node, ast.Call)
    return change.name.endswith(".clear") if by_method else isinstance(getattr(change.node, "slice", None), ast.Slice)


def _is_ordered(test: ast.AST | None) -> bool:
    """Whether a test says that a count has passed a limit, or has not."""
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], AFTER)


def _is_bound(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, BOUNDS)


def _passes_on(above: ast.AST, bound: ast.AST) -> bool:
    """Whether an expression makes a number of another, or numbers that go on by it: `range(0, 100, n)`, `x[::n]`."""
    if isinstance(above, ast.Call):
        return bound in (above.args[2:] if called(above) in RANGES else above.args if called(above) in CHECKED else ())
    steps = isinstance(above, ast.Slice) and above.step is bound
    return steps or _is_bound(above) or isinstance(above, (ast.Subscript, ast.comprehension))
