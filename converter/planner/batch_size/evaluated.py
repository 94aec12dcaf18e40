"""`--eval-batch script`: evaluations that take batches of their own keep the script's batch size.

An expression that reads the batch size belongs to an evaluation if what its statement makes of it leads to a run that
trains nothing, and not to a training step: `test[i:i + batch_size]` in a loop of its own, `evaluate(batch_size)`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from enum import Enum

from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.frames import Access
from converter.analysis.traits import Trait, has
from converter.analysis.values import Frame, Host, Input, Number, Origin, Site, Value, grows_with, needed
from converter.dataclass import dataclass
from converter.options import Options
from converter.planner.batch_size.batch_size import reads_flag
from converter.planner.batch_size.intervals import counting_of
from converter.planner.batch_size.pipelines import behind_runs
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.region.region import Region

AROUND = (ast.For, ast.While, ast.If)


class WhyGrown(Enum):
    """Why an evaluation goes on being fed batches of all GPUs."""

    READ = "this batch size is read for training and for the evaluation in {where}, which stays N times as large"
    INPUT = "this input takes as many rows as a training step, so the evaluation in {where} stays N times as large"
    MODEL = "the model is built for batches of this size, so the evaluation in {where} stays N times as large"


@dataclass(frozen=True)
class Together:
    """An evaluation that cannot keep its batch size. node: what it shares with training. call: its run."""

    node: ast.AST
    call: ast.Call
    why: WhyGrown


@dataclass(frozen=True)
class Evaluated:
    """What `--eval-batch script` comes to.

    reads: expressions that read the batch size for evaluations alone, and keep the script's. calls: the runs that are
    fed such batches. together: the evaluations that stay as large as training.
    """

    reads: frozenset[ast.AST] = frozenset()
    calls: frozenset[ast.AST] = frozenset()
    together: tuple[Together, ...] = ()


@dataclass(frozen=True)
class _Read:
    """One execution of an expression that reads the batch size, or a number that was computed from it.

    divisible: it is a multiple of the batch size, so that what it was before the batch grew can be written.
    """

    node: ast.AST
    access: Access
    divisible: bool

    @property
    def site(self) -> Site:
        return self.access.site


@dataclass(frozen=True)
class _Evaluation:
    """A run that trains nothing. sites: where sizes of its batches, and its results, are computed."""

    run: RunCall
    sites: frozenset[Site]
    reads: tuple[_Read, ...]


def evaluated(
    facts: Facts, options: Options, regions: Iterable[Region], steps: Iterable[TrainStep], sizes: Iterable[Origin]
) -> Evaluated:
    """The evaluations that keep the script's batch size; none where that was not asked for, or no batch grows."""
    if options.eval_batch == "grow" or options.batch == "total":
        return Evaluated()
    scaled = set(sizes)
    training = facts.runs_of((*steps, *facts.train_steps))
    behind = _behind(facts, training)
    taken = _sized(behind.values(), scaled) | _around(training)
    counting = counting_of(facts, regions, steps, scaled)
    reads = [
        _Read(node, access, bool(access.value.factors() & scaled))
        for node, accesses in counting.reads.items()
        for access in accesses
        if isinstance(access.value, Number) and access.value.origins & scaled
    ]
    with_training = frozenset(read.node for read in reads if read.site in taken)
    fetched = {v.node for v in behind.values() if isinstance(v, Host) and v.call == "run"}
    apart = (run for run in facts.runs if run not in training and run.call not in fetched and takes_batches(run))
    found = [_evaluation(facts, run, reads, taken, scaled) for run in apart]
    fixed = _Fixed(facts, frozenset(behind), scaled)
    return _separated([one for one in found if one.reads], with_training, fixed)


def _separated(found: list[_Evaluation], with_training: frozenset[ast.AST], fixed: _Fixed) -> Evaluated:
    """The evaluations that share no expression with training, or with an evaluation that does."""
    together: dict[ast.Call, Together] = {}
    while True:
        left = [one for one in found if one.run.call not in together]
        lost = {read.node for one in found if one.run.call in together for read in one.reads}
        outer = frozenset(r.site for one in left for r in one.reads if r.node not in with_training | lost)
        own = {one.run.call: [r for r in one.reads if not _is_handed(r, outer)] for one in left}
        for one in left:
            shared = (r.node for r in own[one.run.call] if r.node in with_training | lost or not r.divisible)
            why, node = WhyGrown.READ, next(shared, None)
            if node is None:
                why, node = next(fixed.of(one.run, outer), (why, None))
            if node is not None:
                together[one.run.call] = Together(node, one.run.call, why)
        if all(one.run.call not in together for one in left):
            nodes = frozenset(r.node for reads in own.values() for r in reads)
            return Evaluated(nodes, frozenset(own), tuple(together.values()))


@dataclass(frozen=True)
class _Fixed:
    """What takes no other number of rows than a training step has. behind: what training is computed from."""

    facts: Facts
    behind: frozenset[int]
    scaled: set[Origin]

    def of(self, run: RunCall, kept: Collection[Site]) -> Iterator[tuple[WhyGrown, ast.AST]]:
        """Inputs of a run, and numbers in its model, that have the size of a training batch."""
        values = list(run.behind.values())
        inputs = [v for v in (*(key for key, _ in run.feeds), *values) if isinstance(v, Input)]
        for value in inputs:
            size = fixed_size(value) if value.batch.kind == "example" else None
            if grows_with(size, self.scaled) and value.site not in kept and isinstance(value.node, ast.AST):
                yield WhyGrown.INPUT, value.node
        sites = {value.site for value in values if value.uid in self.behind}
        for number in self.facts.counted:
            if (
                grows_with(number, self.scaled)
                and number.site in sites
                and number.site not in kept
                and number.site is not None
            ):
                yield WhyGrown.MODEL, number.site.stmt


def _evaluation(
    facts: Facts, run: RunCall, reads: Iterable[_Read], taken: Collection[Site], scaled: set[Origin]
) -> _Evaluation:
    """A run that trains nothing, and the reads of the batch size that belong to it."""
    made = _behind(facts, [run])
    sites = (_sized(made.values(), scaled) | _around([run])) - set(taken)
    within = {site for site in _around([run]) if isinstance(site.stmt, (ast.For, ast.While))} - set(taken)
    results = {v.uid for v in facts.results.values() if isinstance(v, Host) and v.node is run.call}
    own = [
        read
        for read in reads
        if read.site not in taken
        and not _is_computed(read.access, sites | within)
        and (read.site in sites or not within.isdisjoint(read.site.chain()) or _is_beside(facts, read, results))
    ]
    return _Evaluation(run, frozenset(sites), tuple(own) if any(r.site in sites for r in own) else ())


def _is_computed(access: Access, sites: Set[Site]) -> bool:
    """Whether what is read was computed by statements of an evaluation: what they read is looked at there."""
    value = access.value
    flag = isinstance(value, Number) and any(reads_flag(access, origin) for origin in value.factors())
    return not flag and _is_made_in(value, sites)


def _is_made_in(value: Value, sites: Set[Site]) -> bool:
    """Whether a number was computed there, or is one of several that were, or depend on no batch size."""
    if not value.inputs or value.site is None or not sites.isdisjoint(value.site.chain()):
        return bool(value.inputs) and value.site is not None
    sized = [v for v in value.inputs if isinstance(v, Number) and v.origins]
    return isinstance(value, Number) and value.chosen and all(_is_made_in(v, sites) for v in sized)


def _is_beside(facts: Facts, read: _Read, results: Collection[int]) -> bool:
    """Whether the statement of a read takes a result of an evaluation, too: `total * batch_size / len(test)`."""
    values = [a.value for _, a in _accesses_at(facts).get(read.site, ()) if not a.write and a.node is not read.node]
    return bool(values) and any(uid in results for uid in needed(values))


def _accesses_at(facts: Facts) -> Mapping[Site, list[tuple[int, Access]]]:
    return dict(facts.accesses_by_site)


def _is_handed(read: _Read, outer: Collection[Site]) -> bool:
    """Whether what is read was handed over by a call whose own reads keep the script's size."""
    frames: set[Frame] = set()  # of functions that are called by the statements that follow in the chain
    for site in read.site.chain():
        if site in outer and read.access.place.frame in frames - {site.frame}:
            return True
        frames.add(site.frame)
    return False


def _behind(facts: Facts, runs: Collection[RunCall]) -> dict[int, Value]:
    """All values that runs are computed from: feeds, pipelines, what the loops around them go over."""
    found: dict[int, Value] = {}
    for run in runs:
        found.update(run.behind)
        heads = [facts.turned[site] for site in run.site.chain() if site in facts.turned]
        bounds = [bound for over in heads for bound in facts.ranges.get(over.uid, ())]
        found.update(needed([*heads, *bounds, *(value for _, value in run.feeds)]))
        found.update(needed(part for over in heads for part in over.parts()))
    keys = {key.uid: key for run in runs for key, _ in run.feeds}
    inputs = [value for value in (*found.values(), *keys.values()) if isinstance(value, Input)]
    return {**found, **behind_runs(facts, inputs, list(runs))}


def _sized(values: Iterable[Value], scaled: set[Origin]) -> set[Site]:
    """The statements, and those around them, that compute something from the batch size."""
    found: set[Site] = set()
    for value in values:
        if value.site is not None and any(_is_size(v, scaled) for v in (value, *value.inputs, *value.parts())):
            found.update(value.site.chain())
    return found


def _is_size(value: Value, scaled: set[Origin]) -> bool:
    return isinstance(value, Number) and bool(value.origins & scaled)


def _around(runs: Iterable[RunCall]) -> set[Site]:
    """The loops and conditions around some runs."""
    return {site for run in runs for site in run.site.chain() if isinstance(site.stmt, AROUND)}


def takes_batches(run: RunCall) -> bool:
    """Whether a run is fed batches, or takes them from a pipeline."""
    fed = any(isinstance(key, Input) and key.batch.kind == "example" for key, _ in run.feeds)
    return fed or any(_is_from_pipeline(value) for value in run.behind.values())


def _is_from_pipeline(value: Value) -> bool:
    if not isinstance(value, Input) or value.batch.kind != "example":
        return False
    return has(value.op, Trait.FROM_QUEUE) or has(value.op, Trait.FROM_DATA_SET)
