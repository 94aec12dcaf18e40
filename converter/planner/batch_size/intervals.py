"""The batch size as a number of steps: `if step % batch_size == 0: print(loss)`, `while step < batch_size`.

The number counts steps there, and the steps of the converted script are as many as the original's: it stays what it
is, while the batches grow.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping

from converter.analysis.arrays.rows import turns_of
from converter.analysis.counts.conditions import step_of
from converter.analysis.counts.reading import QUOTIENTS
from converter.analysis.facts import Effect, Facts, RunCall, TrainStep
from converter.analysis.frames import Access
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Number, Origin, Sequence, Site, Value, Variable
from converter.dataclass import dataclass
from converter.planner.batch_size.fed.rows import is_added_to, is_collected
from converter.planner.batch_size.steps import Reads, grown_steps, loops_around
from converter.planner.batch_size.written_out import FUNCTIONS, LOOPS, PASSED_ON, RANGES
from converter.planner.questions.statements import LOGS, called, parents_of
from converter.planner.region.region import Region

COUNTED = (*RANGES, "count", "enumerate", "trange")  # what a loop goes over to count its iterations
TERMS = (ast.Add, ast.Sub)
DIVIDES = (ast.Div, ast.FloorDiv)
BOUNDS = (*TERMS, *DIVIDES, ast.Mult)
MEETS = (ast.Mod, *DIVIDES, ast.BitAnd)  # operators that set a count against a number of steps
REMAINDERS = ("mod", "fmod", "divmod", "remainder", "__mod__", "__rmod__")
CHECKED = ("any", "all", "bool", "int", "float", "list", "set", "tuple")  # around what a condition tests
TESTS = (ast.If, ast.IfExp, ast.While, ast.BoolOp, ast.Compare, ast.UnaryOp)  # around a remainder that is zero or not
AROUND = (*TESTS, *PASSED_ON, ast.BinOp, ast.Lambda, ast.Subscript, ast.GeneratorExp, ast.comprehension)
ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
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
    found |= {node for node, those in reads.items() if any(_is_multiple(access.value, scaled) for access in those)}
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


def _is_multiple(value: Value, scaled: set[Origin]) -> bool:
    return isinstance(value, Number) and not scaled.isdisjoint(value.linear)


def _may_be_multiple(value: Value, scaled: set[Origin]) -> bool:
    """Whether a number is one of several, or is computed from it, of which only some follow the same batch size."""
    if not isinstance(value, Number) or _is_multiple(value, scaled) or value.op in QUOTIENTS:
        return False
    if value.op:
        return any(_may_be_multiple(part, scaled) for part in value.inputs)
    return any(_is_multiple(option, scaled) for option in value.options())


@dataclass(frozen=True)
class Counting:
    """The runs of training steps, and the reads of names in the script outside the towers."""

    facts: Facts
    runs: list[RunCall]
    reads: Mapping[ast.AST, list[Access]]
    scaled: set[Origin]

    def is_interval(self, size: ast.AST) -> bool:
        """Whether a count of steps is compared with a number, or divided by it to see whether anything remains."""
        bound, above = size, next(parents_of(self.facts, size), None)
        while above is not None and (_makes_number(above) or _is_bound(above)) and not self._met(above, bound):
            if isinstance(above, ast.BinOp) and not self._keeps(above, bound):
                return False
            bound, above = above, next(parents_of(self.facts, above), None)
        others = self._met(above, bound) if above is not None else []
        if above is None or not any(map(self._counts_steps, others)):
            return False
        return self.is_tested(above, shown=not isinstance(above, ast.BinOp) or isinstance(above.op, ast.Mod))

    def _met(self, above: ast.AST, bound: ast.AST) -> list[ast.expr]:
        """The numbers that a bound is compared with, or divides, in the expression around it."""
        if isinstance(above, ast.BinOp) and isinstance(above.op, MEETS):
            return [above.left] if above.right is bound else [above.right] if isinstance(above.op, ast.BitAnd) else []
        if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult):  # `step // n * n`
            other = above.left if above.right is bound else above.right
            ratio = isinstance(other, ast.BinOp) and isinstance(other.op, DIVIDES) and other.right in self.reads
            return [other.left] if ratio and isinstance(other, ast.BinOp) else []
        if isinstance(above, ast.Call) and called(above) in REMAINDERS:
            given = [above.func.value] if isinstance(above.func, ast.Attribute) else []
            return [other for other in (*given, *above.args) if other is not bound]
        if isinstance(above, ast.Call):
            return self._among(above, bound) if called(above) in RANGES else []
        if isinstance(above, ast.Compare) and len(above.ops) == 1 and isinstance(above.ops[0], ORDERS):
            return [above.left if above.left is not bound else above.comparators[0]]
        return self._among(above, bound) if isinstance(above, ast.Slice) else []

    def _among(self, numbers: ast.AST, step: ast.AST) -> list[ast.expr]:
        """What is looked for among numbers that go on by a step: `step in range(0, 100, n)`, `in steps[::n]`."""
        by = numbers.args[2:] if isinstance(numbers, ast.Call) else [getattr(numbers, "step", None)]
        below: ast.AST = numbers
        for above in parents_of(self.facts, numbers) if by == [step] else ():
            if isinstance(above, ast.Compare):
                return [above.left] if isinstance(above.ops[0], (ast.In, ast.NotIn)) else []
            if isinstance(above, ast.GeneratorExp) and isinstance(above.elt, ast.Compare):
                return [above.elt.left, *above.elt.comparators]
            if not isinstance(above, (ast.Subscript, ast.comprehension)) and not _makes_list(above, below):
                return []
            below = above
        return []

    def divides_steps(self, ratio: ast.BinOp) -> bool:
        """Whether the upper number of a ratio is a number of steps, and no condition by the batch size lets them train.

        A loop over examples trains at each `i % batch_size == 0`, and `i // batch_size` is the number of the step.
        """
        tests = [s.stmt.test for run in self.runs for s in run.site.chain() if isinstance(s.stmt, ast.If)]
        sized = (node for test in tests for node in ast.walk(test) if node in self.reads)
        if any(_is_multiple(a.value, self.scaled) for node in sized for a in self.reads[node]):
            return False
        return self._counts_steps(ratio.left)

    def is_tested(self, node: ast.AST, shown: bool = True) -> bool:
        """Whether nothing is done with a remainder, or with a comparison, but to test it, or (`shown`) to show it."""
        for above in parents_of(self.facts, node):
            if isinstance(above, (ast.If, ast.While, ast.IfExp, ast.Assert)):
                return above.test is node
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

    def _keeps(self, above: ast.BinOp, size: ast.AST) -> bool:
        """Whether arithmetic with a number of steps gives another one: nothing is divided by it, or counted by it."""
        other = above.left if above.right is size else above.right
        return self.is_fixed(other) and not (above.right is size and isinstance(above.op, DIVIDES))

    def is_fixed(self, node: ast.expr) -> bool:
        """Whether an expression is a number that does not depend on the batch size."""
        if isinstance(node, ast.Constant):
            return True
        values = [access.value for access in self.reads.get(node, [])]
        return bool(values) and all(isinstance(v, Number) and v.origins and not v.origins & self.scaled for v in values)

    def _counts_steps(self, count: ast.expr) -> bool:
        """Whether an expression is a number of steps so far, one that constants were added to, or a remainder of it."""
        while isinstance(count, ast.BinOp) or _makes_number(count):
            if not isinstance(count, ast.BinOp):
                assert isinstance(count, ast.Call)
                count = count.args[0]
                continue
            if isinstance(count.op, ast.Mod):
                count = count.left
                continue
            inner = [side for side in (count.left, count.right) if not isinstance(side, ast.Constant)]
            if len(inner) == 2 and isinstance(count.op, ast.Add):
                inner = [side for side in inner if not self._counts_epochs(side)]
            if len(inner) != 1 or not isinstance(count.op, TERMS):
                return False
            count = inner[0]
        around = list(parents_of(self.facts, count))
        return any(self._is_counter(access, around) for access in self.reads.get(count, []))

    def _counts_epochs(self, steps: ast.expr) -> bool:
        """Whether an expression is the number of steps in the epochs so far: `epoch * num_batches`."""
        if not isinstance(steps, ast.BinOp) or not isinstance(steps.op, ast.Mult):
            return False
        pairs = ((steps.left, steps.right), (steps.right, steps.left))
        return any(self._counts_steps(epoch) and self._counts_turns(turns) for epoch, turns in pairs)

    def _counts_turns(self, number: ast.expr) -> bool:
        """Whether an expression is the number at which a loop that trains ends: of `range(n)` and `range(begin, n)`."""
        loops = [site for run in self.runs for site in run.site.chain() if isinstance(site.stmt, ast.For)]
        calls = (self.facts.range_calls.get(self.facts.turned[site].uid) for site in loops if site in self.facts.turned)
        ends = [call.args[-1] for call in calls if call is not None and 1 <= len(call.args) <= 2]
        return any(self._spelled(end) == self._spelled(number) for end in ends)

    def _spelled(self, number: ast.expr) -> str:
        """A number as the script writes it: of a name that is set once what that is."""
        places = {access.place for access in self.reads.get(number, [])}
        written = [write.site.stmt for place in places for write in self.facts.writes_to(place)]
        stmt = written[0] if len(written) == 1 else None
        alone = isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name) and len(stmt.targets) == 1
        return ast.unparse(stmt.value if alone and isinstance(stmt, ast.Assign) else number)

    def _is_counter(self, access: Access, around: list[ast.AST]) -> bool:
        """Whether a name counts the iterations of a loop of which each trains once, or more often.

        around: the expressions and statements around the read. One that decides whether a step trains counts examples:
        `if i % batch_size == 0: sess.run(train_op, {x: rows})`.
        """
        writes = [w for w in self.facts.accesses_of(access.value) if w.write]
        writes += self.facts.writes_to(access.place)
        rest = {w.site.stmt for w in writes if self._is_rest(w)}
        counted = {site.stmt for w in writes for site in self.loop_of(w)}
        sized = isinstance(access.value, Number) and bool(access.value.origins & self.scaled)
        if sized and not rest and not any(map(self._from_start, counted)):
            return False
        guarded = any(isinstance(a, ast.If) and self._decides(a, counted) for a in around)
        if guarded and not self._warms_up(around, writes):
            return False
        return bool(counted or rest or any(map(self.is_global_step, writes)))

    def _warms_up(self, around: list[ast.AST], writes: list[Access]) -> bool:
        """Whether a test lets train all steps behind, or in front of, one turn of the loop, whose data stays the same.

        The count goes on by one in each turn, and by nothing else. Where the loop adds to the data, as to a replay
        memory, it must hold a batch before the first step. around: the expressions and statements around the count.
        """
        test = next((a for a in around if not _is_moved(a) and not _makes_number(a)), None)
        counted = _is_ordered(test) and all(any(self.loop_of(w)) for w in self._in_loops(writes))
        return counted and not any(is_collected(self.facts, run) for run in self.runs)

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
        writes = self._in_loops(write for read in reads for write in self.facts.writes_to(read.place))
        if rows is not None:
            turned = next((a for a in around if isinstance(a, LOOPS)), None)  # an outer one may begin a new list
            anew = any(turned is None or turned in [site.stmt for site in w.site.chain()] for w in writes)
            return not anew and any(self._goes_on(read.value) for read in reads)
        counts = bool(writes) and all(any(self.loop_of(w)) for w in writes)
        return counts and any(is_collected(self.facts, run) for run in self.runs)

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

    def _is_rest(self, write: Access) -> bool:
        """Whether a statement divides a number of steps to keep the remainder: `turn = step % batch_size`."""
        value = write.site.stmt.value if isinstance(write.site.stmt, ast.Assign) else None
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mod):
            return False
        return self._counts_steps(value.left) and self.is_tested(value)

    def _decides(self, test: ast.If, counted: Container[ast.stmt]) -> bool:
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

    def loop_of(self, write: Access) -> Iterator[Site]:
        """The loop around a training step of which a statement counts the iterations, one by one."""
        stmt = write.site.stmt
        around = [site for site in write.site.chain() if isinstance(site.stmt, LOOPS)][:1]
        if not around or around[0].stmt not in self._loops():
            return
        loop = around[0].stmt
        if isinstance(loop, ast.For) and _is_target(loop, write.node):
            if self._goes_by_one(around[0]):
                yield around[0]
        elif step_of(stmt) == 1 and write.node in (getattr(stmt, "target", None), *getattr(stmt, "targets", ())):
            yield around[0]

    def _from_start(self, loop: ast.stmt) -> bool:
        """Whether only the end of a loop's range may depend on the batch size: `for step in range(n // batch_size)`."""
        sites = (site for site in self.facts.turned if site.stmt is loop)
        bounds = [self.facts.ranges.get(self.facts.turned[site].uid, []) for site in sites]
        return bool(bounds) and all(
            each and (len(each) == 1 or not getattr(each[0], "origins", self.scaled) & self.scaled) for each in bounds
        )

    def _goes_by_one(self, loop: Site) -> bool:
        """Whether a loop goes over numbers that follow each other."""
        assert isinstance(loop.stmt, ast.For)
        over = self.facts.turned.get(loop)
        bounds = self.facts.ranges.get(over.uid, []) if over is not None else []
        return len(bounds) < 3 or getattr(bounds[2], "value", None) == 1

    def is_global_step(self, write: Access) -> bool:
        """Whether a name is given what a run fetches of a variable that is not trained."""
        value, stmt = write.value, write.site.stmt
        if not isinstance(value, Host) or not isinstance(stmt, ast.Assign) or not isinstance(stmt.value, ast.Call):
            return False
        if has(value.call, Trait.READS_STEP):
            return True
        run = next((run for run in self.facts.runs if run.call is stmt.value), None)
        fetched = run.fetches[0] if run is not None and run.fetches else None
        for target in stmt.targets:
            if target is write.node:
                return _is_kept(fetched)
            if isinstance(target, (ast.Tuple, ast.List)) and isinstance(fetched, Sequence) and not fetched.unmeasured:
                pairs = zip(target.elts, fetched.elements, strict=False)
                same = len(target.elts) == len(fetched.elements)
                return same and any(name is write.node and _is_kept(part) for name, part in pairs)
        return False


def _empties(change: Effect) -> bool:
    """Whether a list may lose all of its rows at once: `rows.clear()`, `del rows[:]`, `rows[:] = []`."""
    by_method = isinstance(change.node, ast.Call)
    return change.name.endswith(".clear") if by_method else isinstance(getattr(change.node, "slice", None), ast.Slice)


def _is_moved(node: ast.AST) -> bool:
    """Whether a constant is added to a count, or taken away."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, TERMS)


def _is_ordered(test: ast.AST | None) -> bool:
    """Whether a test says that a count has passed a limit, or has not."""
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], AFTER)


def _makes_number(node: ast.AST) -> bool:
    """Whether a call makes a number of one argument."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("int", "float") and len(node.args) == 1


def _is_bound(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, BOUNDS)


def _makes_list(above: ast.AST, node: ast.AST) -> bool:
    """Whether a call makes a list or a set of numbers."""
    return isinstance(above, ast.Call) and called(above) in CHECKED and node in above.args


def _is_kept(fetched: Value | None) -> bool:
    return isinstance(fetched, Variable) and not fetched.trainable


def _is_target(loop: ast.For, node: ast.AST) -> bool:
    """Whether a name is the one of a loop's target that counts: `i` of `for i, x in enumerate(batches)`."""
    name = called(loop.iter) if isinstance(loop.iter, ast.Call) else ""
    if name not in COUNTED:
        return False
    target = loop.target
    if name == "enumerate":
        return isinstance(target, ast.Tuple) and bool(target.elts) and target.elts[0] is node
    return target is node
