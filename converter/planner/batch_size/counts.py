"""Counts of examples in the training loop: steps times the batch size, losses times the batch size."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from converter.analysis.arrays.turn_counts import TurnCounts
from converter.analysis.counts.size_names import named_batch_size
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.frames import Place
from converter.analysis.nodes import below
from converter.analysis.values import Number, Origin, depends_on, needed
from converter.dataclass import dataclass
from converter.planner.batch_size.written_out import LOOPS, RANGES, is_same
from converter.planner.questions.statements import called, parents_of

_DIVIDED = (ast.Div, ast.FloorDiv)
_TERMS = (ast.Add, ast.Sub)
_PERCENT = 100  # a share times this number is a percentage as well: `100 * correct / n`
_EXAMPLES = ("num_examples", "n_examples", "num_samples")
_STEPS = ("step", "batches", "iter", "epoch", "decay")  # in the names of numbers of steps
_SCHEDULES = ("decay", "piecewise")  # in the names of functions that are given numbers of steps
_PASSED = ("int", "float", "round", "str")  # calls around a count that leave it one


@dataclass(frozen=True)
class EqualNumbers:
    """Numbers that equal the batch size, in the loops around the training steps.

    counts: those that count examples: `while step * 64 < n`, `total += loss * 64 / n`.
    doubtful: those that a count of steps is multiplied with, for what is not seen, and shares times a hundred.
    """

    counts: frozenset[Origin] = frozenset()
    doubtful: tuple[ast.Constant, ...] = ()


def counted_again(facts: Facts, steps: Iterable[TrainStep], found: Iterable[Origin]) -> EqualNumbers:
    """Numbers in the loops around the training steps that equal the batch size.

    found: the places of the batch size that are known.
    """
    known = set(found)
    sizes = _written_sizes(known)
    counts: set[Origin] = set()
    doubtful: dict[ast.Constant, None] = {}
    runs = facts.runs_of(steps) if sizes else []
    room = _Room(facts, runs, known)
    for loops in _loops(runs):
        nodes = {n: None for loop in loops for n in below(loop)}
        again = [n for n in nodes if isinstance(n, ast.Constant) and any(_as_large(n, size) for size in sizes)]
        again = [n for n in again if facts.origin_of(n) not in known]
        counts |= {facts.origin_of(n) for n in again if room.counts(n)}
        turns = any(isinstance(a, ast.Constant) for n in again for a in _bounds(facts, n))
        doubtful.update((n, None) for n in again if not turns and not room.counts(n) and room.is_multiplied(n))
    return EqualNumbers(frozenset(counts), tuple(doubtful))


def is_fixed(facts: Facts, span: int, sizes: Collection[Origin]) -> bool:
    """Whether what a loop goes over, by its uid, is a range of numbers that follow no batch size."""
    ends = facts.ranges.get(span, [])
    told = bool(ends) and all(isinstance(n, Number) and n.origins for n in ends)
    return told and not depends_on(ends, sizes)


def other_sizes(facts: Facts, steps: Iterable[TrainStep], found: Iterable[Origin]) -> Iterator[tuple[ast.AST, str]]:
    """Numbers named as batch sizes that the loops around the training steps are counted by, and their names.

    None of them is among those that are known: the batches are made by another number, such as `next_batch(64)` in
    `for i in range(examples // settings.batch_size)`. What is computed from other numbers counts batches, under
    whatever name.
    """
    sizes = set(found)
    for run in facts.runs_of(steps):
        for site in run.site.chain():
            ends = facts.ranges.get(facts.turned[site].uid, ()) if site in facts.turned else ()
            numbers = [v for v in needed(ends).values() if isinstance(v, Number)] if sizes else []
            if any(n.origins & sizes for n in numbers):
                continue
            for origin in (o for n in numbers if not n.inputs for o in n.linear):
                names = facts.names_of(origin) | ({origin.name} if origin.name else set())
                if named_batch_size(names) and origin.node is not None:
                    yield origin.node, min(names)


def divided_apart(facts: Facts, found: Iterable[Origin]) -> Iterator[ast.Constant]:
    """Numbers as large as the batch size of their file, by which a number of examples is divided.

    None of them is among those that are known: in `decay_steps = 640 // 64` beside `batch_size = 64` the number of
    steps stays.
    """
    known = set(found)
    sizes = _written_sizes(known)
    for tree in facts.trees():
        here = [size for size in sizes if facts.path_of(size) == facts.path_of(tree.body[0])] if tree.body else []
        for node in facts.nodes(ast.BinOp, tree) if here else ():
            by = node.right
            if not isinstance(node.op, _DIVIDED) or not isinstance(by, ast.Constant):
                continue
            again = any(_as_large(by, size) for size in here) and facts.origin_of(by) not in known
            if again and _is_count(facts, node):
                yield by


def _written_sizes(known: Iterable[Origin]) -> list[ast.Constant]:
    """Batch sizes that are written as plain numbers; a batch of one example tells nothing."""
    return [o.node for o in known if isinstance(o.node, ast.Constant) and o.node.value != 1]


def _is_count(facts: Facts, ratio: ast.BinOp) -> bool:
    """Whether a number of examples is divided, by what is written, the name of the result, or where it goes."""
    parts = list(ast.walk(ratio.left))
    if any(isinstance(p, ast.Call) and getattr(p.func, "id", "") == "len" for p in parts):
        return True
    if any(isinstance(p, ast.Attribute) and p.attr in _EXAMPLES for p in parts):
        return True
    if not all(isinstance(p, (ast.Constant, ast.Name, ast.BinOp, ast.operator, ast.expr_context)) for p in parts):
        return False
    for above in parents_of(facts, ratio):
        if isinstance(above, (ast.Assign, ast.keyword)):
            targets = above.targets if isinstance(above, ast.Assign) else [above]
            names = [getattr(t, "id", getattr(t, "attr", getattr(t, "arg", None))) or "" for t in targets]
            return any(part in name.lower() for name in names for part in _STEPS)
        if isinstance(above, ast.Call) and any(part in called(above).lower() for part in _SCHEDULES):
            return True
        if isinstance(above, ast.stmt):
            return False
    return False


def _loops(runs: Iterable[RunCall]) -> list[tuple[ast.stmt, ...]]:
    """For each run of a training step, the loops around it, through callers up to the module."""
    return list(dict.fromkeys(tuple(s.stmt for s in run.site.chain() if isinstance(s.stmt, LOOPS)) for run in runs))


@dataclass(frozen=True)
class _Room:
    """The loops around the runs of training steps. known: the places of the batch size."""

    facts: Facts
    runs: list[RunCall]
    known: set[Origin]

    @cached_property
    def turns(self) -> TurnCounts:
        """Reads numbers by the turns of the loops."""
        return TurnCounts(self.facts, self.runs, frozenset())

    @cached_property
    def totals(self) -> frozenset[str]:
        """The numbers of all examples, as the script writes them where it divides them by the batch size."""
        return _totals(self.facts, self.known)

    @cached_property
    def compared(self) -> set[Place]:
        """What the conditions of the `while` loops compare."""
        tests = [s.stmt.test for run in self.runs for s in run.site.chain() if isinstance(s.stmt, ast.While)]
        sides = (s for t in tests for c in ast.walk(t) if isinstance(c, ast.Compare) for s in (c.left, *c.comparators))
        return {place for side in sides for place in self.facts.places_read.get(side, ())}

    def counts(self, node: ast.AST) -> bool:
        """Whether a number counts examples: it is compared or divided as such."""
        top, factors = self._product(node)
        stepped = any(self._is_counter(f) for f in factors)
        above = next(parents_of(self.facts, top), None)
        if self._is_share(node):
            return getattr(node, "value", None) != _PERCENT
        if isinstance(above, ast.BinOp) and isinstance(above.op, _DIVIDED) and above.left is top:
            return False
        while isinstance(above, ast.BinOp) and isinstance(above.op, _TERMS):
            top, above = above, next(parents_of(self.facts, above), None)
        if isinstance(above, ast.AugAssign) and isinstance(above.op, ast.Add) and top is node:
            return any(access.place in self.compared for access in self.facts.accesses_at(above.target))
        return isinstance(above, ast.Compare) and stepped

    def is_multiplied(self, node: ast.AST) -> bool:
        """True if a number is multiplied by a count of steps, added to a name in each, or divides another number."""
        top, factors = self._product(node)
        if self._is_share(node):
            return True
        around = list(parents_of(self.facts, top))
        if isinstance(around[0], ast.AugAssign) and top is node:
            return isinstance(around[0].op, ast.Add)
        if isinstance(around[0], ast.BinOp) and isinstance(around[0].op, _DIVIDED) and around[0].right is top is node:
            whole = isinstance(around[0].left, ast.Constant)  # `total / (640 / 64)`, no loop of its own
            return whole and not any(isinstance(a, (ast.For, ast.comprehension, ast.Slice)) for a in around[:4])
        return any(self._is_counter(f) for f in factors)

    def _is_share(self, node: ast.AST) -> bool:
        """Whether a product with a number is a share of all examples: `loss * 64 / n`, `loss / n * 64`."""
        top, factors = self._product(node)
        above = next(parents_of(self.facts, top), None)
        if isinstance(above, ast.BinOp) and isinstance(above.op, _DIVIDED) and above.left is top:
            return ast.dump(above.right) in self.totals
        return any(isinstance(f, ast.BinOp) and self._is_part(f) for f in factors)

    def _product(self, node: ast.AST) -> tuple[ast.AST, list[ast.expr]]:
        """The product that a number is a factor of, and the other factors."""
        factors: list[ast.expr] = []
        top = node
        for above in parents_of(self.facts, node):
            if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult):
                factors.append(above.left if above.right is top else above.right)
            elif not (isinstance(above, ast.Call) and getattr(above.func, "id", "") in _PASSED):
                break
            top = above
        return top, factors

    def _is_counter(self, factor: ast.expr) -> bool:
        return any(map(self.turns.depends_on_turns, self.facts.operands_of(factor)))

    def _is_part(self, factor: ast.BinOp) -> bool:
        return isinstance(factor.op, _DIVIDED) and ast.dump(factor.right) in self.totals


def _as_large(node: ast.Constant, size: ast.Constant) -> bool:
    """Whether a constant is the same number; `100.` for 100, too."""
    return is_same(node, size) or (isinstance(node.value, float) and node.value == size.value)


def _totals(facts: Facts, known: set[Origin]) -> frozenset[str]:
    """Expressions that are divided by the batch size, or that a range covers in steps of it."""
    nodes = {o.node for o in known}
    nodes |= {a.node for a, number in facts.numbers if number.factors() & known}
    found = set()
    for node in nodes:
        above = next(parents_of(facts, node), None)
        if isinstance(above, ast.BinOp) and isinstance(above.op, _DIVIDED) and above.right is node:
            found.add(ast.dump(above.left))
        elif isinstance(above, ast.Call) and getattr(above.func, "id", "") in RANGES and node in above.args[2:]:
            found.add(ast.dump(above.args[1]))
    return frozenset(found)


def _bounds(facts: Facts, node: ast.Constant) -> Iterator[ast.AST]:
    """The number of iterations where it is a constant: `range(100)`."""
    above = next(parents_of(facts, node), None)
    if isinstance(above, ast.Call) and getattr(above.func, "id", "") in RANGES and above.args[:2][-1] is node:
        yield node
