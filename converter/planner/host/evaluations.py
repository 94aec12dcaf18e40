"""Evaluations that take as many whole batches as fit into their rows: `for i in range(len(test) // batch_size)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.values import Host, Input, Number, Origin, Value
from converter.planner.batch_size.streams import is_share
from converter.planner.batch_size.written_out import parents_of

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)

Few = tuple[ast.AST, int | None]
Loop = ast.For | ast.comprehension


def evaluations(facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin]) -> Iterator[Few]:
    """The loops around runs that train nothing, and are fed whole batches; with the number of batches where known."""
    scaled = set(sizes)
    trained = {step.result.uid for step in steps}
    training: set[ast.AST] = {s.stmt for run in facts.runs if run.computes(trained) for s in run.site.chain()}
    seen: set[ast.AST] = set()
    for run in (run for run in facts.runs if not run.computes(trained)):
        if not any(isinstance(key, Input) and key.batch.kind == "example" for key, _ in run.feeds):
            continue
        for loop, over in (*_loops(facts, run), *_comprehensions(facts, run)):
            bounds = facts.ranges.get(over.uid, [])
            if loop in seen or loop in training or not _holds_whole_batches(bounds, scaled):
                continue
            seen.add(loop)
            number = bounds[0] if len(bounds) == 1 else None
            value = number.value if isinstance(number, Number) else None
            yield loop.iter, int(value) if value is not None else None


def _loops(facts: Facts, run: RunCall) -> Iterator[tuple[Loop, Value]]:
    """The loops around a run, and what they go over."""
    for site in run.site.chain():
        if isinstance(site.stmt, ast.For) and site in facts.turned:
            yield site.stmt, facts.turned[site]


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
    if isinstance(end, Host) and end.call.rpartition(".")[2] in ("ceil", "max"):
        return False
    if len(bounds) == 3:  # `range(0, n - batch_size + 1, batch_size)`
        less = isinstance(end, Number) and bool(end.origins & scaled) and not is_share(end, scaled)
        return less and isinstance(bounds[2], Number) and bool(bounds[2].linear & scaled)
    return is_share(end, scaled)
