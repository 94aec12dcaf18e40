"""Which of the script's pipelines give the batches of training, where iterators get their data sets later."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from converter.analysis.arrays.rows import rows_of
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Input, Number, Sequence, Tensor, Typed, Value, needed
from converter.planner.batch_size.fed.rows import is_kept

PLACEHOLDER = "the batch axis of a placeholder"  # why a size is noted
Record = tuple[Number | Host | Input, str, ast.AST]


def training_sizes(facts: Facts, inputs: Iterable[Input], steps: list[TrainStep]) -> list[Record]:
    """Of the sizes that batches are made with, those that reach an input of training.

    Where no data set, or no queue, is seen behind inputs that come from one, any of them may be.
    """
    behind = behind_training(facts, inputs, steps)
    read = {_kind(value.op) for value in behind.values() if isinstance(value, Input)}
    seen = {_kind(why) for size, why, _ in facts.batch_sizes if size.uid in behind}
    return [r for r in facts.batch_sizes if r[0].uid in behind or _kind(r[1]) in read - seen - {PLACEHOLDER}]


def fed_for(facts: Facts, size: Value, inputs: Iterable[Input], steps: list[TrainStep]) -> Iterator[Value]:
    """What is fed for a size of batches: by each training step, or by what has set up its data set before it."""
    feeding = [(run, value) for run in facts.runs for key, value in run.feeds if key is size]
    behind = behind_training(facts, inputs, steps).values() if feeding else ()
    data = {v.uid for v in behind if isinstance(v, Typed)}
    sets_up = [(run, value) for run, value in feeding if any(_sets_up(fetch, data) for fetch in run.fetches)]
    for step in facts.runs_of(steps):
        given = [value for run, value in sets_up if run.time < step.time]
        own = [value for run, value in feeding if run is step]
        yield from own or given[-1:]


def _sets_up(fetch: Value, data: Collection[int]) -> bool:
    """Whether a run of `iterator.initializer`, or of a list of such, sets up some data; data: uids."""
    made_of = [v.uid for v in fetch.inputs if isinstance(v, Typed)]
    return set(made_of) <= set(data) if made_of else any(_sets_up(part, data) for part in fetch.parts())


def _kind(name: str) -> str:
    """The kind of source of batches (queue, data set, other), from the name of an operation or call."""
    if has(name, Trait.FROM_DATA_SET):
        return "data set"
    return "queue" if has(name, Trait.FROM_QUEUE) else name


def behind_training(facts: Facts, inputs: Iterable[Input], steps: list[TrainStep]) -> dict[int, Value]:
    """All values that inputs are computed from, including the sources of placeholders and iterators."""
    return behind_runs(facts, inputs, facts.runs_of(steps))


def behind_runs(facts: Facts, inputs: Iterable[Input], runs: list[RunCall]) -> dict[int, Value]:
    """The same for any runs and the inputs that they read."""
    found: dict[int, Value] = {}
    todo: list[Value] = list(inputs)
    fed = ((run, value) for run in runs for key, value in run.feeds if key in todo)
    # Batches that are fetched from a pipeline and fed; of a data set that is fetched first, slices are fed.
    todo += [v for run, v in fed if rows_of(facts, v, run.site) is None and not is_kept(facts, v, run)]
    queued: set[int] = set()  # what goes into queues that make batches of their own
    while todo:
        value = todo.pop()
        if value.uid in found:
            continue
        found[value.uid] = value
        reads = has(getattr(value, "op", ""), Trait.READS_RECORDS)
        if reads and value.uid in queued:
            continue
        made_of = [*facts.regrouped.get(value.uid, value.inputs), *value.parts()]
        if value.uid in queued or (isinstance(value, Input) and has(value.op, Trait.FROM_QUEUE) and not reads):
            queued.update(v.uid for v in made_of)
        todo += made_of
        if isinstance(value, Input) and value.shape is not None:
            todo.append(value.shape)
        if isinstance(value, Typed) and value.kind == "Iterator":
            todo += _bound(facts, value, runs)
    return found


def _bound(facts: Facts, iterator: Typed, runs: list[RunCall]) -> list[Value]:
    """The data sets that an iterator reads in training: by its initialiser, or by its handle."""
    held = iterator.state.get("initializers")
    made = [v for v in held.elements if isinstance(v, Tensor)] if isinstance(held, Sequence) else []
    if made:
        before = [found for run in runs if (found := _last_before(facts, made, run)) is not None]
        return [v for one in before or made for v in one.inputs]
    handle = iterator.args[0] if has(iterator.name, Trait.TAKES_HANDLE) and iterator.args else None
    fed = [value for run in runs for key, value in run.feeds if key is handle]
    named = [v for v in needed(fed).values() if isinstance(v, Tensor) and has(v.op, Trait.GIVES_HANDLE)]
    return [v for one in named for v in one.inputs]


def _last_before(facts: Facts, made: list[Tensor], run: RunCall) -> Tensor | None:
    """The initialisation that comes last before a run."""
    ran = [(r.time, one) for r in facts.runs if r.time < run.time for one in made if r.computes({one.uid})]
    return max(ran, key=lambda pair: pair[0])[1] if ran else None
