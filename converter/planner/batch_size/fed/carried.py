"""States that a training loop feeds back: what it begins with has an entry for each example of a batch, too."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator

from converter.analysis.arrays.rows import rows_of
from converter.analysis.arrays.shapes import told_shape
from converter.analysis.facts import Facts, RunCall
from converter.analysis.values import Host, Input, Number, Value, needed
from converter.planner.batch_size.fed.rows import is_kept


def beginnings(facts: Facts, runs: Collection[RunCall], inputs: Collection[Input]) -> Iterator[Number]:
    """How many examples the first value has that is fed to an input which an earlier step's results go to later.

    A run in a loop is recorded for its first turn and for later ones.
    """
    fed: dict[tuple[ast.AST, Input], list[tuple[RunCall, Value]]] = defaultdict(list)
    for run in runs:
        for key, value in run.feeds:
            if isinstance(key, Input) and key in inputs:
                fed[run.call, key].append((run, value))
    for (_, key), values in fed.items():
        first = [(run, value) for run, value in values if not is_fetched(value)]
        if len(first) == len(values):
            continue
        for run, value in first:
            number = _examples(facts, key, value, run) if is_kept(facts, value, run) else None
            if number is not None:
                yield number


def is_fetched(value: Value) -> bool:
    """Whether a value was computed from what a run has given."""
    return any(isinstance(v, Host) and v.call == "run" for v in needed([value]).values())


def _examples(facts: Facts, key: Input, value: Value, run: RunCall) -> Number | None:
    """The size of an array along the axis of the examples; None where it is not known."""
    axis = key.batch.axis
    if axis == 0:
        return rows_of(facts, value, run.site)
    size = next(iter(told_shape(value)[axis:]), None)
    return size if isinstance(size, Number) else None
