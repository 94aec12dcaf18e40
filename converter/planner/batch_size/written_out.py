"""A batch size without a name: a number that is repeated wherever the script uses it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.arrays.filled_lists import is_multiple
from converter.analysis.facts import Facts, RunCall
from converter.analysis.values import Number, Origin, Value, needed
from converter.dataclass import dataclass
from converter.planner.questions.statements import called, parents_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.While)
RANGES = ("range", "xrange", "arange")
STEP = 2  # where a range has its step
CHOSEN = ("randint", "randrange", "random_integers")  # where a batch begins
HANDED_ON = ("int", "round", "ceil", "floor", "min", "max", "zip", "enumerate", "tqdm", "list")
PASSED_ON = (ast.Tuple, ast.Starred, ast.keyword)  # around an argument
PASSED = (ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.Div, ast.FloorDiv)


@dataclass(frozen=True)
class Places:
    """All uses of a number in the training loop and in its function; unclear: one that may mean something else."""

    origins: frozenset[Origin]
    unclear: ast.AST | None = None


def all_places(facts: Facts, run: RunCall, found: set[Origin], fed: Iterable[Value]) -> Places:
    """The uses of the number that counts the rows of what a run is fed.

    found: the number. fed: what the run is fed.
    """
    written = {o.node for o in found if isinstance(o.node, ast.Constant)}
    counted = _counted_by(needed([*fed, *_heads(facts, run)]).values())
    places = set(found)
    for number in written:
        around = list(parents_of(facts, number))
        loop = next((s.stmt for s in run.site.chain() if isinstance(s.stmt, LOOPS)), None)
        within = [loop, next((a for a in around if isinstance(a, FUNCTIONS)), None)]
        for node in (n for w in within if w is not None for n in ast.walk(w)):
            if not is_same(node, number) or any(node is o.node for o in places):
                continue
            here = facts.origin_of(node)
            left = _divided(facts, node)
            if left is not None and _counts_steps(facts, loop, left, number):
                continue  # `if step % 64 == 0`, where a batch begins at `step * 64`
            if not _is_begin(facts, run, left) and (here not in counted or not counts_rows(facts, node)):
                return Places(frozenset(), node)
            places.add(here)
    sliced = [n for n in written if any(isinstance(a, ast.Slice) for a in parents_of(facts, n))]
    return Places(frozenset(places), next((n for n in sliced if not counts_rows(facts, n)), None))


def _divided(facts: Facts, node: ast.AST) -> ast.expr | None:
    """What is divided by a number, where only the remainder counts: `i` of `i % 64`."""
    above = next(parents_of(facts, node), None)
    remainder = isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mod) and above.right is node
    return above.left if remainder and isinstance(above, ast.BinOp) else None


def _counts_steps(facts: Facts, loop: ast.stmt | None, count: ast.expr, size: ast.Constant) -> bool:
    """True if a loop multiplies each name of an expression by the batch size, to tell where a batch begins."""
    names = {node.id for node in ast.walk(count) if isinstance(node, ast.Name)}
    begins = set()
    for product in (n for n in (ast.walk(loop) if loop is not None else ()) if isinstance(n, ast.BinOp)):
        if isinstance(product.op, ast.Mult) and any(is_same(n, size) for n in (product.left, product.right)):
            begins |= {side.id for side in (product.left, product.right) if isinstance(side, ast.Name)}
    return bool(names) and names <= begins


def _is_begin(facts: Facts, run: RunCall, count: ast.expr | None) -> bool:
    """True if a batch is taken at each multiple of its size: `if i % 64 == 0` around a run with `x[i:i + 64]`."""
    for site in run.site.chain():
        around = site.stmt
        if isinstance(around, ast.If) and isinstance(count, ast.Name) and is_multiple(around.test, count):
            lowers = (n.lower for stmt in around.body for n in ast.walk(stmt) if isinstance(n, ast.Slice))
            return any(isinstance(lower, ast.Name) and lower.id == count.id for lower in lowers)
    return False


def in_heads(facts: Facts, run: RunCall, found: set[Origin]) -> set[Origin]:
    """Where the loops around a training step count batches by the same number: `range(n // 64)`, `range(0, n, 64)`."""
    written = [o.node for o in found if isinstance(o.node, ast.Constant)]
    counted = _counted_by(needed(_heads(facts, run)).values())
    same = (o for o in counted if any(is_same(o.node, node) for node in written))
    return {o for o in same if counts_batches(facts, o.node)}


def is_same(node: ast.AST, other: ast.Constant) -> bool:
    """Whether an expression is the same number, written once more."""
    return isinstance(node, ast.Constant) and type(node.value) is type(other.value) and node.value == other.value


def _heads(facts: Facts, run: RunCall) -> Iterator[Value]:
    """The iterables of the loops around a run, with the arguments of ranges."""
    for site in run.site.chain():
        if site in facts.turned:
            over = facts.turned[site]
            yield over
            yield from facts.ranges.get(over.uid, ())


def _counted_by(values: Iterable[Value]) -> set[Origin]:
    return {o for v in values if isinstance(v, Number) for o in v.origins}


def counts_rows(facts: Facts, node: ast.AST) -> bool:
    """Whether a number is a part of the bounds of a slice of rows, or of an expression that gives such a bound."""
    below = node
    for above in parents_of(facts, node):
        if isinstance(above, ast.BinOp):
            if not isinstance(above.op, PASSED) or (isinstance(above.op, ast.Mod) and above.right is node):
                return False
        elif isinstance(above, ast.Call):
            bound = below is not node and called(above) in (*RANGES, *CHOSEN)  # `n - 64`
            if not (bound or _is_step(above, below) or called(above) in HANDED_ON):
                return False
        elif isinstance(above, ast.Slice):
            return _is_of_rows(facts, above) and below is not above.step
        else:
            return isinstance(above, (ast.Assign, ast.AugAssign, ast.For, ast.comprehension))
        below = above
    return False


def counts_batches(facts: Facts, node: ast.AST) -> bool:
    """True if a number of examples is divided by the number, or covered by a range in steps of it."""
    below = node
    for above in parents_of(facts, node):
        if isinstance(above, ast.BinOp) and isinstance(above.op, (ast.Div, ast.FloorDiv)):
            return above.right is below
        if isinstance(above, ast.Call) and below is node:
            return _is_step(above, node)
        return False
    return False


def _is_step(call: ast.Call, argument: ast.AST) -> bool:
    """Whether a range is given a number as its step, or as its begin where it goes on in steps of it."""
    if called(call) not in RANGES or len(call.args) <= STEP:
        return False
    step = call.args[STEP]
    return argument is step or (argument is call.args[0] and isinstance(step, ast.Constant) and is_same(argument, step))


def _is_of_rows(facts: Facts, part: ast.Slice) -> bool:
    """Whether a slice is taken along the first axis."""
    above = next(parents_of(facts, part))
    return not isinstance(above, ast.Tuple) or above.elts[0] is part
