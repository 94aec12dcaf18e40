"""Evaluations that take as many whole batches as fit into their rows: `for i in range(len(test) // batch_size)`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Sequence as Several
from functools import cache

from converter.analysis.arrays.filled_lists import blocks_of, is_length
from converter.analysis.arrays.rows import LEAST, may_be_longer, parts_of
from converter.analysis.arrays.shapes import FILLED, told_shape
from converter.analysis.counts.conditions import Reached, leaves, reached
from converter.analysis.counts.degrees import follows
from converter.analysis.counts.reading import TermReader
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.traits import Trait, has
from converter.analysis.values import (
    Host,
    Input,
    Number,
    Origin,
    Sequence,
    Site,
    Typed,
    Value,
    depends_on,
    grows_with,
    is_none,
    needed,
    tensors_in,
)
from converter.dataclass import dataclass
from converter.planner.batch_size.epochs import made_in
from converter.planner.batch_size.evaluated import takes_batches
from converter.planner.batch_size.intervals import AFTER
from converter.planner.batch_size.overlapping import behind_stop, fixed_turns
from converter.planner.batch_size.pipelines import behind_runs, behind_training
from converter.planner.batch_size.streams import is_share
from converter.planner.batch_size.written_out import LOOPS
from converter.planner.host.fixed_rows import fixed_feeds
from converter.planner.host.one_tower import runs_in
from converter.planner.questions.conditions import Branch
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.questions.statements import parents_of
from converter.planner.region.layers import layers_in
from converter.planner.region.region import Region

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)

Few = tuple[ast.AST, int | None]
Loop = ast.For | ast.While | ast.comprehension


def evaluations(
    facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin], kept: Collection[ast.AST] = ()
) -> Iterator[Few]:
    """The loops around runs that train nothing, and are fed whole batches; with the number of batches where known.

    Also the loops that make these batches, in a function that training calls with other data. kept: calls of runs whose
    batches do not grow.
    """
    scaled = set(sizes)
    trained = {step.result.uid for step in (*steps, *facts.train_steps)}
    whole = {site: over for site, over in facts.turned.items() if _holds_whole_batches(_bounds(facts, over), scaled)}
    whole |= _waiting_for_rows(facts, scaled)
    training = {site for run in facts.runs if whole and run.computes(trained) for site in made_in(run)}
    apart = {site: over for site, over in whole.items() if site not in training}
    seen: set[ast.AST] = set()
    for run in _beside(facts, steps, kept):
        loops = {site.stmt: apart[site] for site in (made_in(run) if apart else ()) if site in apart}
        found: list[tuple[Loop, Value]] = [
            (loop, over) for loop, over in loops.items() if isinstance(loop, (ast.For, ast.While))
        ]
        found += (pair for pair in _comprehensions(facts, run) if _holds_whole_batches(_bounds(facts, pair[1]), scaled))
        for loop, over in found:
            if loop in seen:
                continue
            seen.add(loop)
            bounds = _bounds(facts, over)
            number = bounds[0] if len(bounds) == 1 else None
            value = number.value if isinstance(number, Number) else None
            head = loop.test if isinstance(loop, ast.While) else loop.iter
            yield head, int(value) if value is not None else None


def _waiting_for_rows(facts: Facts, scaled: set[Origin]) -> dict[Site, Value]:
    """The loops that go on while there are rows for a whole batch, and that no run for the last rows follows.

    `while start + batch_size <= len(rows)`; an empty value stands for what a `for` loop would go over.
    """
    loops: dict[Site, list[RunCall]] = {}
    for run in facts.runs:
        for site in run.site.chain():
            if isinstance(site.stmt, ast.While):
                loops.setdefault(site, []).append(run)
    return {
        loop: Host()
        for loop, runs in loops.items()
        if isinstance(loop.stmt, ast.While)
        and _asks_for_rows(facts, loop.stmt.test, scaled)
        and not any(_goes_on(loop, runs, run) for run in facts.runs)
    }


def cut_short(
    facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin], kept: Collection[ast.AST] = ()
) -> Iterator[ast.AST]:
    """The conditions that let a run which trains nothing through only where there are rows for a whole batch.

    `if len(rows) < batch_size: continue`; no run behind the loop takes the rows that are left. kept: as above. What
    is run beside a training step, with the batch that it takes, is no evaluation.
    """
    scaled, steps = set(sizes), list(steps)
    limits = [node for node in facts.operands if grows_with(facts.operands_of(node)[0], scaled)]
    tests = dict.fromkeys(test for node in limits if (test := _tested_in(facts, node)) is not None)
    trained = [{site.stmt for site in made_in(run)} for run in facts.runs_of(steps)] if tests else []
    tests = {t: None for t in tests if not any(_lets_through(facts, t, around, scaled) for around in trained)}
    for run in _beside(facts, steps, kept) if tests else ():
        around = {site.stmt: site for site in made_in(run)}
        for test in tests:
            loop = next((around[a] for a in parents_of(facts, test) if a in around and isinstance(a, LOOPS)), None)
            if loop is None or loop not in facts.turned or not _lets_through(facts, test, around, scaled):
                continue
            if not any(_goes_on(loop, [run], later) for later in facts.runs):
                yield test.test


def _tested_in(facts: Facts, node: ast.AST) -> ast.If | None:
    """The `if` in whose condition an expression stands."""
    for above in parents_of(facts, node):
        if isinstance(above, ast.stmt):
            return above if isinstance(above, ast.If) and node is above.test else None
        node = above
    return None


def _lets_through(facts: Facts, test: ast.If, around: Collection[ast.stmt], scaled: set[Origin]) -> bool:
    """Whether a place is only reached where a condition finds rows for a whole batch. around: what stands around it."""
    block = next((b for b in blocks_of(facts.parents[test]) if test in b), [])
    behind = leaves(test.body) and not test.orelse and any(stmt in around for stmt in block[block.index(test) + 1 :])
    sides = ((True, test.body), (False, test.orelse))
    holds = [side for side, stmts in sides if any(stmt in around for stmt in stmts)] + ([False] if behind else [])
    return any(_is_length_of_batch(facts, one, scaled) for side in holds for one in reached(test.test, side))


def _is_length_of_batch(facts: Facts, test: Reached, scaled: set[Origin]) -> bool:
    """Whether a condition asks for `len(rows)` or `rows.shape[0]` being as much as the batch size."""
    limit = next(iter(facts.operands_of(test.limit)), None)
    whole = grows_with(limit, scaled) and not test.multiple and not test.more
    return whole and is_length(test.count)


def _beside(facts: Facts, steps: Iterable[TrainStep], kept: Collection[ast.AST]) -> list[RunCall]:
    """The runs that train nothing and are fed batches which grow."""
    trained = {step.result.uid for step in (*steps, *facts.train_steps)}
    return [run for run in facts.runs if not run.computes(trained) and run.call not in kept and takes_batches(run)]


def _goes_on(loop: Site, runs: Several[RunCall], later: RunCall) -> bool:
    """Whether a run behind a loop computes, in the function of the loop, what the loop's runs compute."""
    fetched = {v.uid for run in runs for f in run.fetches for v in (f, *tensors_in(f))}
    again = any(v.uid in fetched for f in later.fetches for v in (f, *tensors_in(f)))
    return again and later.time > runs[-1].time and any(site.frame is loop.frame for site in later.site.chain())


def _asks_for_rows(facts: Facts, test: ast.expr, scaled: set[Origin]) -> bool:
    """True for `start + size <= end` and `start <= end - size`, also with the sides exchanged."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], AFTER) or len(test.ops) != 1:
        return False
    sides = [value for node in (test.left, test.comparators[0]) for value in facts.operands_of(node)[:1]]
    if len(sides) < 2:
        return False
    reader = TermReader(frozenset(scaled), lambda _: None)
    lower, upper = sides[::-1] if isinstance(test.ops[0], (ast.Gt, ast.GtE)) else sides
    return follows(reader.of(lower) - reader.of(upper), 1)


def nets_beside(
    facts: Facts,
    regions: Iterable[Region],
    steps: Iterable[TrainStep],
    sizes: Iterable[Origin],
    kept: Collection[ast.AST] = (),
) -> Iterator[ast.expr]:
    """The first layer of each model outside of the towers that a run without training feeds with grown batches.

    kept: calls of runs whose batches do not grow.
    """
    scaled, towers = set(sizes), tuple(regions)
    trained = {step.result.uid for step in (*steps, *facts.train_steps)}
    seen: set[ast.AST] = set()
    for run in facts.runs:
        fed = [value for key, value in run.feeds if isinstance(key, Input) and key.batch.kind == "example"]
        grown = run.call not in kept and any(grows_with(value, scaled) for value in needed(fed).values())
        if not grown or run.computes(trained):
            continue
        made = [layer for layer in layers_in(facts, run.behind.values()) if layer.site is not None]
        apart = [one for one in made if one.site and not any(r.in_any_tower(one.site) for r in towers)]
        first = min(apart, key=lambda layer: layer.time, default=None)
        if first is not None and isinstance(first.node, ast.expr) and first.node not in seen:
            seen.add(first.node)
            yield first.node


def smaller_ends(facts: Facts, sizes: Iterable[Origin], gpus: int, kept: Collection[ast.AST] = ()) -> Iterator[ast.AST]:
    """The ranges of loops that feed a smaller last batch, to inputs that take no other number of rows than a batch.

    The script runs because its rows are a multiple of its batch size; they need not be one of the batch of all GPUs.
    """
    scaled, seen, skips = set(sizes), set[int](), cache(_skips)
    for run in (run for run in facts.runs if run.call not in kept):
        inputs = [(k, v) for k, v in run.feeds if isinstance(k, Input) and k.batch.kind == "example"]
        fed = [value for key, value in inputs if grows_with(fixed_size(key), scaled)]
        behind = needed(fed) if fed else {}
        if not any(_is_cut(value, scaled) for value in behind.values()):
            continue
        if any(_is_filled(value, scaled) or may_be_longer(value) for value in behind.values()):
            continue  # the script makes as many rows of the last ones as a batch has
        turned = dict.fromkeys(site for site in made_in(run) if site in facts.turned)
        around = [facts.turned[site] for site in turned if not skips(site.stmt)]
        around += [over for _, over in _comprehensions(facts, run)]
        around += [facts.listed[uid] for uid in behind if uid in facts.listed]
        for over in (_listed(facts, over) for over in around):
            if over.uid in facts.range_calls and over.uid not in seen:
                seen.add(over.uid)
                if _ends_smaller(_bounds(facts, over), scaled, gpus):
                    yield facts.range_calls[over.uid]


def _is_cut(value: Value, scaled: set[Origin]) -> bool:
    """Whether a value is a slice of rows whose end the batch size says: `rows[i:i + batch_size]`."""
    if not isinstance(value, Host) or value.call != "[]":
        return False
    bounds = [part.inputs for part in value.inputs[1:] if isinstance(part, Host) and part.call == "slice"]
    begins_earlier = any(b and isinstance(b[0], Host) and b[0].call in LEAST for b in bounds)
    return not begins_earlier and any(isinstance(v, Number) and bool(v.origins & scaled) for b in bounds for v in b)


def _skips(loop: ast.AST) -> bool:
    """Whether a loop may leave out a turn, such as that of the last rows."""
    tests = (node for node in ast.walk(loop) if isinstance(node, ast.If))
    return any(isinstance(node, (ast.Break, ast.Continue, ast.Return)) for test in tests for node in ast.walk(test))


def _is_filled(value: Value, scaled: set[Origin]) -> bool:
    """Whether a value is an array that was made with as many rows as a batch has."""
    rows = told_shape(value)[:1] if isinstance(value, Host) and value.call in FILLED else []
    return any(grows_with(number, scaled) for number in rows)


def _ends_smaller(bounds: Several[Value], scaled: set[Origin], gpus: int) -> bool:
    """Whether a range has a turn for rows that are fewer than a batch of all GPUs, as far as is known."""
    if not bounds or _holds_whole_batches(bounds, scaled):
        return False
    end = bounds[0] if len(bounds) == 1 else bounds[1]
    if len(bounds) < 3:
        rounded = isinstance(end, Host) and end.call.rpartition(".")[2] in ("ceil", "int")
        return rounded and any(is_share(v, scaled) for v in needed([end]).values())
    step = bounds[2]
    if not isinstance(step, Number) or not step.factors() & scaled:
        return False
    if not isinstance(end, Number) or end.value is None or step.value is None:
        return not depends_on([end], scaled)
    return not end.factors() & scaled and end.value % (step.value * gpus) != 0


def whole_batches(
    facts: Facts,
    inputs: Iterable[Input],
    steps: list[TrainStep],
    sizes: Iterable[Origin],
    kept: Collection[ast.AST] = (),
    branches: Several[Branch] = (),
) -> Iterator[ast.AST]:
    """The calls that make the batches of pipelines beside training and leave out the last, smaller one.

    kept: calls of runs whose batches do not grow. branches: those with one tower.
    """
    scaled, training = set(sizes), behind_training(facts, inputs, steps)
    apart = {uid for run in facts.runs if run.call in kept for uid in behind_runs(facts, _inputs_of(run), [run])}
    endless = [v for v in facts.inputs if v.uid in training and v.site and _size_of_whole(v) is None]
    found: dict[ast.AST, bool] = {}  # whether a call makes batches that leave some out, beside training
    for value in (*facts.results.values(), *facts.inputs):
        node = getattr(value, "node", None)
        size = _size_of_whole(value)
        if value.site is not None and any(branch.holds(value.site) for branch in branches):
            continue
        if isinstance(node, ast.AST) and grows_with(size, scaled) and value.uid not in apart:
            found[node] = found.get(node, False) or value.uid not in training or _is_instead(value, endless)
    if any(grows_with(v, scaled) for v in training.values()):
        yield from (node for node, beside in found.items() if beside)


@dataclass(frozen=True)
class Evaluations:
    """The evaluations of a script as batches of all GPUs would change them.

    regions: the loops over the towers. sizes: the numbers that grow; none where no batch does. gpus: how many there
    are at least. kept: calls of runs whose batches do not grow.
    """

    facts: Facts
    regions: tuple[Region, ...]
    steps: tuple[TrainStep, ...]
    sizes: frozenset[Origin]
    gpus: int
    kept: frozenset[ast.AST]

    def few(self, branches: Several[Branch] = ()) -> list[Few]:
        """Loops over whole batches that may come to none, with their number where it is known.

        branches: here and below, those with one tower.
        """
        found = evaluations(self.facts, self.steps, self.sizes, self._kept(branches)) if self.sizes else ()
        return [(node, number) for node, number in found if number is None or 0 < number < self.gpus]

    def pipelines(self, branches: Several[Branch] = ()) -> list[ast.AST]:
        """Calls that make the whole batches of pipelines, and leave out the rest."""
        kept, steps = self._kept(branches), list(self.steps)
        inputs = [value for region in self.regions for value in region.inputs]
        return list(whole_batches(self.facts, inputs, steps, self.sizes, kept=kept, branches=branches))

    def cut_short(self, branches: Several[Branch] = ()) -> list[ast.AST]:
        """Conditions that leave out the last rows, where these are no whole batch."""
        return list(dict.fromkeys(cut_short(self.facts, self.steps, self.sizes, self._kept(branches))))

    def far(self, branches: Several[Branch] = ()) -> list[ast.AST]:
        """Batch sizes by which a loop of as many iterations as before finds the rows that it evaluates."""
        runs = _beside(self.facts, self.steps, self._kept(branches))
        return list(dict.fromkeys(fixed_turns(self.facts, runs, self.sizes)))

    def behind_stop(self, branches: Several[Branch] = ()) -> list[tuple[ast.AST, str]]:
        """Slices of loops over a part of the data that may take rows behind it, each with the number where it ends."""
        runs = _beside(self.facts, self.steps, self._kept(branches))
        return list(dict.fromkeys(behind_stop(self.facts, runs, self.sizes, self.gpus)))

    def smaller_ends(self, branches: Several[Branch] = ()) -> list[ast.AST]:
        """Ranges of loops that may feed a smaller last batch to an input of a fixed number of rows."""
        return list(smaller_ends(self.facts, self.sizes, self.gpus, self._kept(branches)))

    def fixed(self, branches: Several[Branch] = ()) -> list[tuple[RunCall, str]]:
        """Runs that feed a fixed number of rows to an input that grows, with the name of the input."""
        apart = runs_in(self.facts, branches)
        found = fixed_feeds(self.facts, self.regions, self.sizes) if self.sizes else ()
        return [(run, name) for run, name in found if run.call not in apart]

    def left_out(self, branches: Several[Branch] = ()) -> int:
        """The number of all these."""
        found = (
            self.few,
            self.pipelines,
            self.smaller_ends,
            self.cut_short,
            self.far,
            self.behind_stop,
            self.fixed,
        )
        return sum(len(each(branches)) for each in found)

    def _kept(self, branches: Several[Branch]) -> frozenset[ast.AST]:
        return self.kept | runs_in(self.facts, branches)


def _is_instead(value: Value, endless: Iterable[Input]) -> bool:
    """Whether a condition that is asked once chooses between a pipeline with an end and one without: `if training:`."""
    return value.site is not None and any(one.site and value.site.excludes(one.site) for one in endless)


def _inputs_of(run: RunCall) -> list[Input]:
    return [value for value in run.behind.values() if isinstance(value, Input)]


def _size_of_whole(value: Value) -> Value | None:
    """The size of the batches that a data set, or a queue with an end, gives without a smaller one at the end."""
    if isinstance(value, Typed):
        return value.state.get("whole") if value.kind == "Dataset" and has(value.name, Trait.GIVES_BATCHES) else None
    if not isinstance(value, Input) or not has(value.op, Trait.GIVES_BATCHES) or not isinstance(value.shape, Sequence):
        return None
    ends = any(_has_end(made) for made in needed(value.inputs).values())
    return value.shape.elements[0] if ends else None


def _has_end(value: Value) -> bool:
    """Whether a queue is filled a number of times only: `num_epochs=1`."""
    node, site = getattr(value, "node", None), value.site
    for keyword in node.keywords if isinstance(node, ast.Call) and site is not None else ():
        if keyword.arg == "num_epochs":
            known = site.frame.lookup(keyword.value.id) if isinstance(keyword.value, ast.Name) and site else None
            none = isinstance(keyword.value, ast.Constant) and keyword.value.value is None
            return not none and not (known is not None and is_none(known[1]))
    return False


def _listed(facts: Facts, over: Value) -> Value:
    """The value over which a list was built, one element for each: data for `[f(x) for x in data]`."""
    while over.uid in facts.listed:
        over = facts.listed[over.uid]
    return over


def _bounds(facts: Facts, over: Value) -> Several[Value]:
    """The arguments of the range that a loop goes over, or of what it has as many turns as; none for anything else."""
    over = _listed(facts, over)
    over = _listed(facts, facts.zipped[over.uid][0]) if facts.zipped.get(over.uid) else over
    parts = parts_of(over) if isinstance(over, Host) else None
    return facts.ranges.get(over.uid, []) if parts is None else [parts]


def _comprehensions(facts: Facts, run: RunCall) -> Iterator[tuple[Loop, Value]]:
    """The same for `sum(sess.run(loss, feed(i)) for i in range(n))`."""
    over = dict(facts.comprehended)
    for above in parents_of(facts, run.call):
        for part in above.generators if isinstance(above, COMPREHENSIONS) else ():
            if part.iter in over:
                yield part, over[part.iter]


def _holds_whole_batches(bounds: Several[Value], scaled: set[Origin]) -> bool:
    """Whether a range has no turn where there are fewer rows than a batch has."""
    if not bounds:
        return False
    end = bounds[0] if len(bounds) == 1 else bounds[1]
    if len(bounds) == 3:  # `range(0, n - batch_size + 1, batch_size)`
        less = isinstance(end, Number) and bool(end.origins - end.linear & scaled) and not is_share(end, scaled)
        return less and grows_with(bounds[2], scaled)
    return is_share(end, scaled) and not _has_a_turn(end)


def _is_raised(number: Number) -> bool:
    """Whether a number is another one, plus one or more."""
    return number.op == "add" and any(_may_be_one(v) for v in number.inputs)


def _may_be_one(addend: Value) -> bool:
    """True if what is added to a number of batches is 1 or more, or may be where examples are left: `n % size > 0`."""
    if isinstance(addend, Number) and any(isinstance(v, Number) and (v.value or 0) >= 1 for v in addend.options()):
        return True
    behind = needed([addend]).values()
    return any(getattr(v, "op", "") == "mod" or getattr(v, "call", "") == "mod" for v in behind)


def _has_a_turn(end: Value) -> bool:
    """Whether a number of batches is rounded up, or never below one: `ceil(n / size)`, `int((n - 1) / size) + 1`."""
    if isinstance(end, Number):
        return _is_raised(end) or (len(end.inputs) == 1 and not end.chosen and _has_a_turn(end.inputs[0]))
    if not isinstance(end, Host):
        return False
    if end.call == "add":
        return any(_may_be_one(v) for v in end.inputs)
    name = end.call.rpartition(".")[2]
    return name in ("ceil", "max") or (name == "int" and any(_has_a_turn(v) for v in end.inputs))
