"""`--scale-steps divide`: the numbers of training steps are divided by the number of GPUs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from converter.analysis.facts import Facts, RunCall, StepNumber, TrainStep
from converter.analysis.traits import step_counters
from converter.analysis.values import Count, Number, Origin, Site, Tensor, Value, Variable, depends_on, is_none, needed
from converter.dataclass import dataclass
from converter.options import Options
from converter.plan import Replace
from converter.planner.batch_size.intervals import ORDERS, Counting, counting_of
from converter.planner.batch_size.written_out import LOOPS
from converter.planner.region.region import Region
from converter.planner.writing.helper_names import called
from converter.planner.writing.source_text import SourceText

HELPER = "fewer_steps"
WHY = "TMG119"
_SUMS = (ast.Add, ast.Sub)
_CASTS = 4  # operations between the global step and the schedule that reads it


@dataclass(frozen=True)
class StepNumbers:
    """The numbers of training steps that a script writes.

    counts: expressions to divide, in the order of the script. left: expressions that may count steps or something else.
    """

    counts: tuple[ast.expr, ...] = ()
    left: tuple[ast.expr, ...] = ()


def step_edits(found: StepNumbers, text: SourceText) -> list[Replace]:
    """The edits that divide numbers of steps by the number of GPUs."""
    return [
        Replace(text.start(node), text.end(node), f"{called(HELPER)}({text.of(node)})", WHY) for node in found.counts
    ]


def step_numbers(
    facts: Facts, options: Options, regions: Iterable[Region], steps: Iterable[TrainStep], scaled: Iterable[Origin]
) -> StepNumbers:
    """The numbers of steps that `--scale-steps divide` divides; none if the batch does not grow."""
    if options.scale_steps == "keep" or options.batch == "total":
        return StepNumbers()
    counting = counting_of(facts, regions, steps, set(scaled))
    loops = [_step_loop(counting, run) for run in counting.runs]
    around = {found.site.stmt for found in loops if found is not None}
    counts = [*_ends(counting, loops), *_tests(counting, around), *_arguments(facts, counting.scaled)]
    left = [loop.end for loop in loops if loop is not None and loop.unsure and loop.end is not None]
    left += [one.node for one in facts.step_numbers if not (_is_known(facts, one) or _follows(set(scaled), one))]
    ordered = sorted(dict.fromkeys(counts), key=lambda node: (facts.path_of(node), node.lineno, node.col_offset))
    return StepNumbers(tuple(ordered), tuple(dict.fromkeys(left)))


def schedules_left(facts: Facts, options: Options, scaled: Iterable[Origin]) -> list[ast.expr]:
    """The numbers of steps in schedules that stay as they are while a step takes more examples."""
    if options.scale_steps == "divide" or options.batch == "total":
        return []
    schedules = {one.node for one in facts.step_numbers if one.counter is not None}
    return [node for node in _arguments(facts, set(scaled)) if node in schedules]


@dataclass(frozen=True)
class _StepLoop:
    """The loop of which each iteration takes a training step.

    end: for a loop over a fixed number of iterations, that number as it is written, else None. unsure: whether another
    loop around the step may as well be the one that counts the steps.
    """

    site: Site
    end: ast.expr | None
    unsure: bool = False


def _step_loop(counting: Counting, run: RunCall) -> _StepLoop | None:
    """The loop that counts the steps of a run: the one over data, else the one with the most iterations."""
    loops = [site for site in run.site.chain() if isinstance(site.stmt, LOOPS)]
    fixed = [(site, _fixed_end(counting, site)) for site in loops]
    others = [site for site, end in fixed if end is None]
    if others or not fixed:
        return _StepLoop(others[0], None) if others else None
    sizes = [_size(counting, end) for _, end in fixed]
    if len(fixed) > 1 and (None in sizes or len(set(sizes)) < len(sizes)):
        return _StepLoop(fixed[0][0], fixed[0][1], unsure=True)
    site, end = max(zip(fixed, sizes, strict=True), key=lambda one: one[1] or 0)[0]
    return _StepLoop(site, end)


def _fixed_end(counting: Counting, loop: Site) -> ast.expr | None:
    """The end of a loop over a range that does not depend on data or on the batch size, without a literal added."""
    over = counting.facts.turned.get(loop)
    call = counting.facts.range_calls.get(over.uid) if over is not None else None
    if call is None or not isinstance(loop.stmt, ast.For) or len(call.args) > 2 or call.keywords:
        return None
    end = _without_sum(call.args[-1])
    return end if counting.is_fixed(end) else None


def _without_sum(node: ast.expr) -> ast.expr:
    """The number in `steps + 1` and `steps - 1`: what is added there counts no examples."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, _SUMS) and isinstance(node.right, ast.Constant):
        node = node.left
    return node


def _size(counting: Counting, node: ast.expr | None) -> float | None:
    """The value of a number where it is known."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    values = [access.value for access in counting.reads.get(node, [])] if node is not None else []
    known = {value.value for value in values if isinstance(value, Number)}
    return known.pop() if len(known) == 1 else None


def _ends(counting: Counting, loops: Iterable[_StepLoop | None]) -> Iterator[ast.expr]:
    """The ends of loops over a fixed number of training steps."""
    yield from (one.end for one in loops if one is not None and one.end is not None and not one.unsure)


def _tests(counting: Counting, around: set[ast.stmt]) -> Iterator[ast.expr]:
    """Fixed numbers that a count of training steps is compared with, or divided by to see whether anything remains."""
    for remainder in counting.facts.nodes(ast.BinOp):
        pair = remainder.left, remainder.right
        if isinstance(remainder.op, ast.Mod) and counting.is_tested(remainder) and _meet(counting, *pair, around):
            yield _without_sum(remainder.right)
    for compared in counting.facts.nodes(ast.Compare):
        if len(compared.ops) == 1 and isinstance(compared.ops[0], ORDERS) and counting.is_tested(compared):
            sides = (compared.left, compared.comparators[0])
            for one, other in (sides, sides[::-1]):
                if _meet(counting, one, other, around):
                    yield _without_sum(other)


def _meet(counting: Counting, count: ast.expr, number: ast.expr, around: set[ast.stmt]) -> bool:
    """Whether a count of training steps meets a fixed number in an operation."""
    return _counts(counting, count, around) and _is_several(counting, number)


def _is_several(counting: Counting, node: ast.expr) -> bool:
    """Whether an expression is a fixed number that is not known to be 0 or 1."""
    inner = _without_sum(node)
    size = _size(counting, inner)
    return counting.is_fixed(inner) and (size is None or size > 1)


def _counts(counting: Counting, node: ast.expr, around: set[ast.stmt]) -> bool:
    """Whether an expression is the number of training steps so far, or that and a literal."""
    return any(loop is None or loop in around for loop in counting.loops_counted(node, rests=False))


def _arguments(facts: Facts, scaled: Set[Origin]) -> Iterator[ast.expr]:
    """Arguments of TensorFlow's own functions that count steps and do not follow the batch size."""
    for one in facts.step_numbers:
        if _is_known(facts, one) and not is_none(one.value) and not _follows(scaled, one):
            yield one.node


def _is_known(facts: Facts, number: StepNumber) -> bool:
    """Whether it is clear that an argument is a number of training steps."""
    if number.counter is None:
        return number.function not in step_counters()
    return _is_global_step(facts, number.counter)


def _is_global_step(facts: Facts, value: Value) -> bool:
    """Whether a tensor is the variable that the training steps count up, or the same in another type."""
    given = [v for made in facts.tensors if made.op == "train op" for v in made.inputs]
    counters = {v.uid for v in given}
    asked_for = {v.op for v in given if isinstance(v, Variable) and not v.inputs}  # there is one in a graph
    for _ in range(_CASTS):
        if isinstance(value, Variable):
            return not value.trainable and (value.uid in counters or (not value.inputs and value.op in asked_for))
        if not isinstance(value, Tensor) or not value.inputs:
            return False
        value = value.inputs[0]
    return False


def _follows(scaled: Set[Origin], number: StepNumber) -> bool:
    """Whether a number of steps, or the count of them, is computed from the batch size: `global_step * batch_size`.

    The graph may read it off a batch: `len(images) / tf.shape(x)[0]` counts the steps of an epoch.
    """
    given = [number.value] if number.counter is None else [number.value, number.counter]
    return depends_on(given, scaled) or any(isinstance(value, Count) for value in needed(given).values())
