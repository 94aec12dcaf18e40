"""Runs that feed one example, or a single number, to an input that other runs feed with a row for each example."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from converter.analysis.arrays.shapes import shape_of
from converter.analysis.facts import Facts, RunCall
from converter.analysis.inputs.feeds import is_one_example
from converter.analysis.values import Host, Input, Number, Value, needed, tensors_in
from converter.dataclass import dataclass
from converter.planner.questions.one_value import is_one_value


@dataclass(frozen=True)
class WithoutRows:
    """What a run feeds to an input: it has no rows that could be cut.

    place: which of the run's feeds it is.
    """

    run: RunCall
    key: Input
    value: Value
    place: int


def fed_without_rows(facts: Facts, inputs: Iterable[Input]) -> tuple[WithoutRows, ...]:
    """The feeds without rows of inputs that are cut; only a placeholder without a shape takes one."""
    steps = facts.runs_of(facts.train_steps)
    open_ones = {
        key: (_fed(facts.runs, key), _fed(steps, key)) for key in inputs if key.dims is None and key.shape is None
    }
    found: list[WithoutRows] = []
    for run in facts.runs if open_ones else ():
        for place, (key, value) in enumerate(run.feeds):
            if not isinstance(key, Input) or key not in open_ones:
                continue
            always, in_training = open_ones[key]
            one = is_one_example(value) and not _is_returned(value, run)
            lone = is_one_value(value) or one or _is_entry(value, always)
            if lone or (run not in steps and _has_fewer_axes(value, in_training)):
                found.append(WithoutRows(run, key, value, place))
    return tuple(found)


def computed_of(value: Value, feeds: Iterable[WithoutRows]) -> Iterator[WithoutRows]:
    """Those of some feeds that a value is computed from in the runs that feed them."""
    for fed in feeds:
        run = [t for t in tensors_in(value) if t.uid in fed.run.behind]
        if fed.key.uid in needed(run):
            yield fed


def _fed(runs: Iterable[RunCall], key: Input) -> list[Value]:
    """The values that these runs feed to an input."""
    return [value for run in runs for other, value in run.feeds if other is key]


def _is_returned(value: Value, run: RunCall) -> bool:
    """Whether a call returned a fed value beside one that the run feeds, as it is, to an input with rows.

    `x, y = load(path)` gives as many labels as it gives examples.
    """
    source = value.inputs[0] if value.inputs else None
    if not isinstance(source, Host) or not isinstance(source.node, ast.Call):
        return False
    beside = (key for key, other in run.feeds if other is not value and source in other.inputs)
    return any(isinstance(key, Input) and bool(key.dims) and key.batch.kind == "example" for key in beside)


def _is_entry(value: Value, always: Iterable[Value]) -> bool:
    """Whether a fed value is one entry, `xs[3]`, of an array of which rows are fed to the same input, too."""
    picked = isinstance(value, Host) and value.call == "[]" and len(value.operands) == 2
    return picked and isinstance(value.inputs[1], Number) and value.inputs[0] in map(_whole, always)


def _whole(value: Value) -> Value:
    """The array of which rows are fed: `images` of `images[begin:end]`."""
    while isinstance(value, Host) and value.call == "[]" and not any(isinstance(v, Number) for v in value.inputs[1:]):
        value = value.inputs[0]
    return value


def _has_fewer_axes(value: Value, in_training: Iterable[Value]) -> bool:
    """Whether a fed array is seen to have fewer axes than all that the training steps are fed in its place."""
    shape, shapes = shape_of(value), [shape_of(other) for other in in_training]
    return shape is not None and bool(shapes) and all(s is not None and len(s) > len(shape) for s in shapes)
