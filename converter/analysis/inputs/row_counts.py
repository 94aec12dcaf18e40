"""Fed numbers that count the rows of a batch which the same run feeds: `{x: part, n: len(part)}`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.arrays.rows import counted_by, rows_of, terms_of
from converter.analysis.arrays.shapes import ARITHMETIC, LIKE, arguments_of
from converter.analysis.facts import Facts, RunCall
from converter.analysis.values import Host, Input, Number, Value, closure

CONVERTS = ("int", "float", "round", "min", "max", "int32", "int64", "float32", "float64", "array", "asarray")


def takes_row_counts(facts: Facts, key: Input) -> bool:
    """True if each training step that feeds a placeholder feeds it the number of rows of a batch beside it."""
    fed = list(_fed_in_training(facts, key))
    return bool(fed) and all(is_row_count(facts, run, value) for run, value in fed)


def takes_what_counts_rows(facts: Facts, key: Input) -> bool:
    """True if a training step feeds a placeholder a number that is computed from the number of rows beside it."""
    fed = _fed_in_training(facts, key)
    return any(is_row_count(facts, run, value) or _is_computed_from_count(facts, run, value) for run, value in fed)


def may_count_rows(facts: Facts, key: Input) -> bool:
    """True if a training step feeds a placeholder the length of what its loop makes: that may be the batch."""
    for run, value in _fed_in_training(facts, key):
        counted = counted_by(value)
        loops = {s.stmt for s in run.site.chain() if isinstance(s.stmt, (ast.For, ast.While))}
        made = counted.site.chain() if counted is not None and counted.site is not None else ()
        if any(site.stmt in loops for site in made):
            return True
    return False


def is_row_count(facts: Facts, run: RunCall, value: Value) -> bool:
    """Whether a fed number is the number of rows of a batch that the same run feeds."""
    if _counts_fed_rows(facts, run, value):
        return True
    counted = counted_by(value)
    number = rows_of(facts, counted, run.site) if counted is not None else value
    return isinstance(number, Number) and any(_is_size_of(facts, run, number, batch) for batch in _batches(run))


def _fed_in_training(facts: Facts, key: Input) -> Iterator[tuple[RunCall, Value]]:
    """The values that training steps feed to a placeholder, with the runs that do."""
    for run in facts.runs_of(facts.train_steps):
        yield from ((run, value) for other, value in run.feeds if other is key)


def _batches(run: RunCall) -> Iterator[Value]:
    """What a run feeds to inputs with a row for each example."""
    for key, value in run.feeds:
        if isinstance(key, Input) and key.batch.kind == "example" and key.batch.axis == 0:
            yield value


def _counts_fed_rows(facts: Facts, run: RunCall, value: Value) -> bool:
    """Whether a value is `len(x)` or `x.shape[0]` of what an input with rows is fed, or of what that is made from."""
    counted = counted_by(value)
    return counted is not None and any(one is counted for batch in _batches(run) for one in _as_long(facts, batch))


def _as_long(facts: Facts, value: Value | None) -> Iterator[Value]:
    """A value and what it takes its rows from, one for one: `part` of `[p[0] for p in part]` and `np.array(part)`."""
    while value is not None:
        yield value
        if value.uid in facts.listed:
            value = None if facts.changes_of(value) else facts.listed[value.uid]
        else:
            value = _converted(value)


def _converted(value: Value) -> Value | None:
    """The x of `np.array(x)`, `list(x)` and `tuple(x)`; None for anything else."""
    if not isinstance(value, Host) or not isinstance(value.node, ast.Call):
        return None
    if value.call in ("list", "tuple") and len(value.operands) == 1:
        return value.operands[0]
    given = arguments_of(value, value.node) if value.call.removeprefix("numpy.") in LIKE else None
    return given.get(0, "object", "a", "x") if given is not None else None


def _is_size_of(facts: Facts, run: RunCall, value: Number, batch: Value) -> bool:
    """Whether a number with an origin in the script is the one by which the rows of a fed batch are taken."""
    rows = rows_of(facts, batch, run.site)
    common = value.origins & rows.linear if rows is not None else frozenset()
    if rows is None or not common:
        return False
    return terms_of(facts, value, common, run.site) == terms_of(facts, rows, common, run.site)


def _is_computed_from_count(facts: Facts, run: RunCall, value: Value) -> bool:
    """Whether arithmetic makes a value of the number of rows that a run feeds: `1.0 / len(x)`."""
    computed = closure([value], lambda one: one.inputs if _is_arithmetic(one) else ())
    return any(_counts_fed_rows(facts, run, one) for one in computed)


def _is_arithmetic(value: Value) -> bool:
    if isinstance(value, Number):
        return bool(value.op) or value.chosen
    computed = isinstance(value, Host) and isinstance(value.node, (ast.BinOp, ast.UnaryOp, ast.Call))
    return computed and getattr(value, "call", "").rpartition(".")[2] in (*ARITHMETIC, *CONVERTS)
