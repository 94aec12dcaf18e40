"""Checks the batch sizes behind inputs: the host must provide as many rows as all towers take."""

from __future__ import annotations

import ast
from collections import defaultdict, deque
from collections.abc import Iterator

from converter.analysis.arrays.rows import counted_by
from converter.analysis.facts import Facts, RunCall
from converter.analysis.values import Input, Number, Sequence, Tensor, Value, needed, up_to_numbers
from converter.conversion.review.compare import MIXED, WalkComparison

Sized = tuple[str, ast.AST | None, ast.AST | None]
DEEP = 400  # values behind one that is fed


def sizes_differ(comparison: WalkComparison) -> Iterator[Sized]:
    """Inputs of training steps whose batches have the size of one tower's, or grew twice; with both lines."""
    first = comparison.first
    roots = _roots(first)
    for (there, other), pairs in inputs_of(comparison):
        yield from _judged(comparison, (there, there, other), pairs)
    trained = {step.result.uid for step in first.train_steps}
    for run, two in same_runs(comparison):
        if len(two.feeds) != len(run.feeds) or not run.computes(trained):
            continue
        for (key, fed), (_, here) in zip(run.feeds, two.feeds, strict=True):
            if isinstance(key, Input) and key.uid in roots:
                yield from _judged(comparison, (key, fed, here), pairs_of(fed, here))


def _roots(facts: Facts) -> set[int]:
    return {root.uid for step in facts.train_steps for root in step.loss.roots}


def inputs_of(comparison: WalkComparison) -> Iterator[tuple[tuple[Input, Input], list[tuple[Number, Number]]]]:
    """The inputs of training steps on both sides, with the numbers behind all that one expression makes.

    A model may be built more than once.
    """
    roots = _roots(comparison.first)
    made: dict[ast.AST | None, list[tuple[Input, Input]]] = defaultdict(list)
    for value in comparison.first.inputs:
        other = comparison.inputs.get(value.uid)
        if value.uid in roots and isinstance(other, Input):
            made[value.node].append((value, other))
    for alike in made.values():
        pairs = [pair for one, two in alike for pair in _of_input(one, two)]
        yield alike[0], [each for pair in pairs for each in _fed_for(comparison, *pair)]


def _fed_for(comparison: WalkComparison, one: Number, two: Number) -> list[tuple[Number, Number]]:
    """Two numbers; of a size that is fed, what each run feeds for it: an evaluation's may stay."""
    if one not in comparison.first.fed_sizes:
        return [(one, two)]
    runs = [zip(run.feeds, other.feeds, strict=False) for run, other in same_runs(comparison)]
    return [pair for feeds in runs for (key, fed), (_, here) in feeds if key is one for pair in pairs_of(fed, here)]


def same_runs(comparison: WalkComparison) -> Iterator[tuple[RunCall, RunCall]]:
    """The runs of the script with those of the converted text: a function that is called several times has several."""
    ones: dict[ast.AST, list[RunCall]] = defaultdict(list)
    twos: dict[ast.AST, list[RunCall]] = defaultdict(list)
    for run in comparison.first.runs:
        ones[run.call].append(run)
    for run in comparison.second.facts.runs:
        twos[comparison.nodes.get(run.call, run.call)].append(run)
    for call, runs in ones.items():
        if len(runs) == len(twos[call]):
            yield from zip(runs, twos[call], strict=True)
        elif twos[call]:
            yield from ((run, twos[call][-1]) for run in runs)


def _of_input(one: Input, two: Input) -> list[tuple[Number, Number]]:
    shapes = pairs_of(one.shape, two.shape) if one.shape is not None and two.shape is not None else []
    return [*pairs_of(one, two), *shapes]


def _judged(
    comparison: WalkComparison, batch: tuple[Input, Value, Value], pairs: list[tuple[Number, Number]]
) -> Iterator[Sized]:
    """Whether a batch grows with the towers; batch: the input that takes it, and what gives it on both sides."""
    key, one, two = batch
    powers, behind = set[int](), set[int]()
    shape = two.shape if isinstance(two, Input) else None
    direct = up_to_numbers([*two.inputs, *(v for v in (two, shape) if v is not None)])
    for there, here in pairs:
        power = MIXED if here.uid in behind and here.uid not in direct else comparison.power(here)
        if power != MIXED and (is_size(comparison.first, there) or (power > 0 and there.inputs)):
            powers.add(power)
            behind |= needed(here.inputs).keys()  # `b * b // b` is no product of two sizes
    if not powers:
        return
    grows = not comparison.total and not key.is_own
    if grows and powers <= {0, -1}:
        yield "a batch has as many rows as one GPU takes", line_of(one), line_of(two)
    if max(powers) > (1 if grows else 0):
        yield "a batch has more rows than the towers take", line_of(one), line_of(two)


def line_of(value: Value) -> ast.AST | None:
    """The statement that made a value."""
    return value.site.stmt if value.site is not None else None


def is_size(facts: Facts, number: Number) -> bool:
    """Whether a number is a multiple of a batch size; the length of a list follows what the list is made of."""
    if counted_by(number) is not None:
        return False
    sizes = {o.key for size, _, _ in facts.batch_sizes if isinstance(size, Number) for o in size.factors()}
    return any(o.key in sizes for o in number.factors()) or bool(facts.named_sizes(number.factors()))


def pairs_of(one: Value, two: Value) -> list[tuple[Number, Number]]:
    """The pairs of numbers behind two values that are computed in the same way, the nearest first.

    Data may be made of any number of values, most of them elements of lists: a batch's size is met before these.
    """
    found: list[tuple[Number, Number]] = []
    near, elements, seen = deque([(one, two)]), deque[tuple[Value, Value]](), {one.uid}
    visited = 0
    while (near or elements) and visited < DEEP:
        visited += 1
        there, here = (near or elements).popleft()
        if isinstance(there, Number) and isinstance(here, Number):
            found.append((there, here))
        todo = elements if isinstance(there, Sequence) else near
        for first, second in (there.inputs, here.inputs), (_parts(there), _parts(here)):
            if len(first) == len(second):
                for a, b in zip(first, second, strict=True):
                    inner = isinstance(a, Tensor) and not isinstance(a, Input)
                    if a.uid not in seen and not inner and type(a) is type(b):
                        seen.add(a.uid)
                        todo.append((a, b))
    return found


def _parts(value: Value) -> list[Value]:
    return value.elements if isinstance(value, Sequence) else []
