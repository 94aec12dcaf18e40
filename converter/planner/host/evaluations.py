"""Evaluations that take as many whole batches as fit into their rows: `for i in range(len(test) // batch_size)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.values import Host, Input, Number, Origin, Site, Value, needed
from converter.planner.batch_size.streams import is_share
from converter.planner.batch_size.written_out import parents_of

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)

Few = tuple[ast.AST, int | None]
Loop = ast.For | ast.comprehension


def evaluations(facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin]) -> Iterator[Few]:
    """The loops around runs that train nothing, and are fed whole batches; with the number of batches where known.

    Also the loops that make these batches, in a function that training calls with other data.
    """
    scaled = set(sizes)
    trained = {step.result.uid for step in steps}
    whole = {site: over for site, over in facts.turned.items() if _holds_whole_batches(_bounds(facts, over), scaled)}
    training = {site for run in facts.runs if whole and run.computes(trained) for site in _made_in(run)}
    apart = {site: over for site, over in whole.items() if site not in training}
    seen: set[ast.AST] = set()
    for run in (run for run in facts.runs if not run.computes(trained)):
        if not any(isinstance(key, Input) and key.batch.kind == "example" for key, _ in run.feeds):
            continue
        loops = {site.stmt: apart[site] for site in (_made_in(run) if apart else ()) if site in apart}
        found: list[tuple[Loop, Value]] = [(loop, over) for loop, over in loops.items() if isinstance(loop, ast.For)]
        found += (pair for pair in _comprehensions(facts, run) if _holds_whole_batches(_bounds(facts, pair[1]), scaled))
        for loop, over in found:
            if loop in seen:
                continue
            seen.add(loop)
            bounds = _bounds(facts, over)
            number = bounds[0] if len(bounds) == 1 else None
            value = number.value if isinstance(number, Number) else None
            yield loop.iter, int(value) if value is not None else None


def _bounds(facts: Facts, over: Value) -> Sequence[Value]:
    """The arguments of the range that a loop goes over; none where it goes over something else."""
    return facts.ranges.get(over.uid, [])


def _made_in(run: RunCall) -> Iterator[Site]:
    """What stands around a run, and around what makes the values that it is fed."""
    yield from run.site.chain()
    for value in needed(value for _, value in run.feeds).values():
        if value.site is not None:
            yield from value.site.chain()


def _comprehensions(facts: Facts, run: RunCall) -> Iterator[tuple[Loop, Value]]:
    """The same for `sum(sess.run(loss, feed(i)) for i in range(n))`."""
    over = dict(facts.comprehended)
    for above in parents_of(facts, run.call):
        for part in above.generators if isinstance(above, COMPREHENSIONS) else ():
            if part.iter in over:
                yield part, over[part.iter]


def _holds_whole_batches(bounds: Sequence[Value], scaled: set[Origin]) -> bool:
    """Whether a range has no turn where there are fewer rows than a batch has."""
    if not bounds:
        return False
    end = bounds[0] if len(bounds) == 1 else bounds[1]
    if len(bounds) == 3:  # `range(0, n - batch_size + 1, batch_size)`
        less = isinstance(end, Number) and bool(end.origins & scaled) and not is_share(end, scaled)
        return less and isinstance(bounds[2], Number) and bool(bounds[2].linear & scaled)
    return is_share(end, scaled) and not _has_a_turn(end)


def _has_a_turn(end: Value) -> bool:
    """Whether a number of batches is rounded up, or never below one: `ceil(n / size)`, `int((n - 1) / size) + 1`."""
    if isinstance(end, Number):
        return end.raised or (len(end.inputs) == 1 and not end.chosen and _has_a_turn(end.inputs[0]))
    if not isinstance(end, Host):
        return False
    if end.call == "add":
        return any(isinstance(v, Number) and v.value is not None and v.value >= 1 for v in end.inputs)
    name = end.call.rpartition(".")[2]
    return name in ("ceil", "max") or (name == "int" and any(_has_a_turn(v) for v in end.inputs))
