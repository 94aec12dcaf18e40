"""Follows the batch size from its uses to its definition, so that the host loads a global batch."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator
from collections.abc import Mapping as Table
from dataclasses import replace
from itertools import islice

from converter.analysis.arrays.rows import LEAST, parts_of
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, RunCall, TrainStep, behind_losses
from converter.analysis.frames import Access, Place
from converter.analysis.inputs.embedded_data import DATA
from converter.analysis.traits import Trait, has, names
from converter.analysis.values import FED, Host, Input, Mapping, Number, Origin, Sequence, Tensor, Typed, Value, needed
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.plan import Insert, Replace
from converter.planner.batch_size.counts import counted_again
from converter.planner.batch_size.defaults import kept_defaults, may_be_none, with_defaults
from converter.planner.batch_size.fed.carried import beginnings, is_fetched
from converter.planner.batch_size.fed.degrees import other_degrees
from converter.planner.batch_size.fed.rows import (
    Fed,
    base_of,
    fed_sizes,
    is_kept,
    is_written_into,
    named_for,
    other_meaning,
    rows_of_turns,
)
from converter.planner.batch_size.grids import grids, shown_in
from converter.planner.batch_size.intervals import steps_or_sizes
from converter.planner.batch_size.mapped import of_whole_batches
from converter.planner.batch_size.one_name import named_products
from converter.planner.batch_size.overlapping import first_bounds, fixed_strides, fixed_turns
from converter.planner.batch_size.pipelines import behind_training, fed_for, training_sizes
from converter.planner.batch_size.reshaped import binned, reshaped
from converter.planner.batch_size.set_again import SetAgain, compared, set_in_branches
from converter.planner.batch_size.written_out import LOOPS, PASSED_ON, in_heads
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.drawn_batches import drawn_sizes
from converter.planner.questions.fixed_size import fixed_size
from converter.planner.questions.statements import LOGS, called, parents_of
from converter.planner.region.region import Region
from converter.planner.wording import finding, refuse
from converter.planner.writing.free_names import TakenNames
from converter.planner.writing.source_text import SourceText
from converter.source.syntax import first_statement

NumGpus = Callable[[ast.AST], str]  # the expression for the number of GPUs in the file of a node


EVALUATED = "TMG120"  # the rule of --eval-batch
EVALUATION_BATCH = "eval_batch_size"
PARTS = (ast.Subscript, ast.Attribute)
MAY_TAKE_NONE = (ast.Assign, ast.AnnAssign, ast.keyword, ast.BoolOp, ast.Return)  # what may be given None
HANDED = ("parameter", "spread")  # numbers that a caller hands over, by itself or as `f(**settings)`


@dataclass(frozen=True)
class BatchSize:
    """The numbers that mean the batch size.

    fixed: it cannot be scaled, as the whole data set is fed in each step, or as its size comes from
        somewhere that was not found: the conversion then keeps the total.
    whole: the same data set is fed in each training step.
    alone: the model is also built for a single example, which leaves all towers but the first without one.
    kept: warnings that say why it, or the size of other batches, cannot grow; of no use where it is to stay.
    model: the numbers that the model itself takes for the batch size; some of them may not be those that the host
        loads its batches by, such as a literal beside a flag of the same value.
    """

    origins: frozenset[Origin]
    fixed: bool
    warnings: tuple[Diagnostic, ...]
    whole: bool = False
    alone: bool = False
    kept: tuple[Diagnostic, ...] = ()
    model: frozenset[Origin] = frozenset()

    def counted_in_towers(self, batch: str) -> frozenset[Origin]:
        """The numbers that mean one shard inside the towers; with --batch per-gpu the model's own ones do already."""
        return self.origins | self.model if batch == "total" else self.origins

    @property
    def scaled(self) -> frozenset[Origin]:
        """Those that are known before the graph runs."""
        return frozenset(o for o in self.origins if o.key[0] != FED)


@dataclass(frozen=True)
class Scaling:
    """The edits where the batch size is defined, so that the host loads N times as many examples.

    flags: batch sizes that keep the size of one tower, and are scaled where they are read.
    set: attributes that the script sets from them: these attributes are scaled instead.
    """

    replaces: tuple[Replace, ...] = ()
    flags: frozenset[Origin] = frozenset()
    inserts: tuple[Insert, ...] = ()
    set: frozenset[Place] = frozenset()


@dataclass(frozen=True)
class Scaled:
    """The numbers that grow with the number of GPUs.

    intervals: the expressions that read one, but count steps by it. evaluated: those that read one for evaluations
    that keep the script's batch size.
    """

    origins: frozenset[Origin]
    intervals: frozenset[ast.AST]
    evaluated: frozenset[ast.AST] = frozenset()


def find_batch_size(facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep]) -> BatchSize:
    """The numbers behind the batches that are fed in training, with warnings where there are none to scale.

    steps: the training steps, with those of other models that the same calls build.
    """
    more = (v for v in behind_losses(steps).values() if isinstance(v, Input) and v.batch.kind == "example")
    inputs = (*(i for i in inputs if i.batch.kind == "example"), *(i for i in more if i not in inputs))
    data = next((i for i in inputs if i.op == DATA), None)
    if data is not None:
        return BatchSize(frozenset(), True, (finding(facts, steps[0].call, PlanFault.DATA_IN_GRAPH),))
    origins, unknown, whole = _origins(facts, inputs, steps)
    when_run = {origin for number in facts.fed_sizes for origin in number.origins}
    origins = with_defaults(facts, origins - when_run)
    built = {o for n, _, _ in facts.batch_sizes if isinstance(n, Number) for o in base_of(facts, n)}  # for any use
    alone = _single(origins | built) if origins else None
    warnings: list[Diagnostic] = []
    if alone is not None:
        origins.discard(alone)
        warnings.append(finding(facts, alone.node, _of_one_example(facts, alone.node)))
    computed = [o for o in origins if o.key[0] == "computed"]
    call = whole[0].call if whole else steps[0].call
    scaled = bool(origins) and not computed
    acting = _acting(facts, steps)
    if acting is not None:
        warnings.append(finding(facts, acting.call, PlanFault.ACTING_SCALED if scaled else PlanFault.ACTING))
    elif not whole and not origins:
        warnings.append(_not_found(facts, unknown, inputs, call))
    elif not origins or computed:
        found = _why_whole(facts, whole[0], _fed(whole[0], inputs)) if whole else PlanFault.WHOLE_DATA_SET
        known = whole or (len(computed) == len(origins) and any(_is_length(facts, o) for o in computed))
        found = found if known else PlanFault.SIZE_NOT_FOUND
        warnings.append(finding(facts, call, found if whole or computed else PlanFault.STEP_RUN_ELSEWHERE))
    handed = (origin for origin in origins if origin.key[0] in HANDED)
    warnings += [finding(facts, origin.node, _why_handed(facts, origin), name=origin.name) for origin in handed]
    kept = () if computed else tuple(_reasons(facts, inputs, steps, origins))
    by_hand = _filled_by_hand(facts, inputs) or _filled_for_each_epoch(facts, inputs, steps, origins)
    if by_hand is not None and scaled:
        warnings.append(finding(facts, by_hand.call, PlanFault.QUEUE_FILLED_BY_HAND))
    same = [run for run in whole if _is_same(facts, run, _fed(run, inputs))]
    if same and scaled:
        warnings.append(finding(facts, same[0].call, PlanFault.WHOLE_DATA_SET_BESIDE_BATCHES))
    written = [i for i in inputs if _has_plain_rows(i, origins)]
    if written and scaled:
        warnings.append(finding(facts, written[0].node or call, PlanFault.PLAIN_NUMBER_OF_ROWS))
    fixed = bool(not scaled or by_hand is not None or same or written or kept)
    counted = {origin for number in facts.counted for origin in base_of(facts, number)}
    if not origins:  # the towers count their shards all the same
        origins = counted
    elif not fixed:
        kept = tuple(_left_alone(facts, inputs, steps, (*unknown, *whole)))
        origins |= counted_again(facts, steps, origins).counts | first_bounds(facts, steps, origins)
    return BatchSize(
        origins=frozenset(origins | when_run),
        fixed=fixed,
        warnings=tuple(warnings),
        whole=bool(same) and len(same) == len(whole) and not unknown,
        alone=alone is not None,
        kept=kept,
        model=frozenset(counted.union(facts.divided) - when_run),
    )


def _left_alone(
    facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep], unknown: tuple[RunCall, ...]
) -> Iterator[Diagnostic]:
    """The runs of training steps that no batch size is seen for, in their places, where it is for other runs.

    Several places may make one call: the methods of several classes, which share the one that runs the step.
    """
    found = {_place_of(run) for run, fed in _feeding(facts, inputs, steps) if fed and run not in unknown}
    left = (run.call for run in unknown if found and _fed(run, inputs) and _place_of(run) not in found)
    yield from (finding(facts, call, PlanFault.SIZE_NOT_FOUND_BESIDE) for call in dict.fromkeys(left))


def _place_of(run: RunCall) -> tuple[ast.AST, ...]:
    return tuple(site.stmt for site in run.site.chain())


def _why_whole(facts: Facts, run: RunCall, fed: Fed) -> PlanFault:
    """What a run is fed that no number of examples makes larger."""
    if all(_is_handed_over(value) for _, value in fed):
        return PlanFault.FED_BY_CALLER
    loops = [site.stmt for site in run.site.chain() if isinstance(site.stmt, (ast.For, ast.While))]
    if any(is_written_into(facts, value, loops) for _, value in fed):
        return PlanFault.REFILLED
    return PlanFault.SAME_BATCH if fed_sizes(facts, run, fed) else PlanFault.WHOLE_DATA_SET


def _is_handed_over(value: Value) -> bool:
    """Whether a fed value is an argument of a function that no statement calls, or a part of one."""
    while isinstance(value, Host) and value.inputs and isinstance(value.node, PARTS):
        value = value.inputs[0]
    return isinstance(value, Host) and value.call == "parameter"


def _not_found(facts: Facts, unknown: list[RunCall], inputs: tuple[Input, ...], call: ast.AST) -> Diagnostic:
    """That the size of the batches was not found; unknown: the runs that are fed them."""
    for run in unknown:
        number = other_meaning(facts, run, _fed(run, inputs), _fed(run, inputs))
        if isinstance(number, ast.Constant):
            return finding(facts, number, PlanFault.SIZE_IN_OTHER_MEANING, number=str(number.value))
        behind = needed(value for _, value in _fed(run, inputs)).values()
        parts = (v.node for v in behind if isinstance(v, Host) and isinstance(parts_of(v), Number))
        if (split := next(parts, None)) is not None:
            return finding(facts, split, PlanFault.NUMBER_OF_PARTS)
    hook = next(facts.effects_of(EffectKind.UNSEEN_HOOK), None)
    if hook is not None and not any(_fed(run, inputs) for run in unknown):
        return finding(facts, hook.node, PlanFault.FED_BY_HOOK)
    return finding(facts, unknown[0].call if unknown else call, PlanFault.SIZE_NOT_FOUND)


def _reasons(
    facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep], origins: set[Origin]
) -> Iterator[Diagnostic]:
    """Why a batch size cannot grow, or may not be all that counts rows."""
    yield from _kept(facts, origins)
    if origins:
        yield from _unclear(facts, inputs, steps, origins)
        yield from _uneven(facts, inputs, steps, origins)
        yield from _past_the_end(facts, steps, origins)
        for node in islice(steps_or_sizes(facts, steps, origins), 1):
            yield finding(facts, node, PlanFault.SIZE_OR_STEPS)


def _kept(facts: Facts, origins: set[Origin]) -> Iterator[Diagnostic]:
    """Why a batch size that was found cannot grow."""
    for call in (c for o in origins if o.key[0] == "spread" for c in _other_calls(facts, o)):
        yield finding(facts, call, PlanFault.SIZE_OF_TWO_CALLS)
    for access in facts.accesses:
        own = [o for o in origins if isinstance(access.value, Number) and o in access.value.origins]
        mixed = isinstance(access.value, Number) and len(access.value.origins) > 1
        holder = access.place.holder
        if mixed and own and isinstance(holder, Typed) and holder.kind == "Settings":
            yield finding(facts, access.node, PlanFault.SETTING_OR_NUMBER)
            break
    for call in reshaped(facts, origins):
        yield finding(facts, call, PlanFault.RESHAPED_DATA)
    for call in binned(facts, origins):
        yield finding(facts, call, PlanFault.BINS_OF_HISTOGRAM)
    for call in grids(facts, origins):
        if not shown_in(facts, call, origins):
            yield finding(facts, call, PlanFault.GRID_OF_BATCH)
    for node, how in islice(of_whole_batches(facts, origins), 1):
        yield finding(facts, node, PlanFault.ROWS_MAPPED_TOGETHER, how=how)


def _past_the_end(facts: Facts, steps: list[TrainStep], origins: set[Origin]) -> Iterator[Diagnostic]:
    """Loops that walk through rows by the batch size, as often as before: larger batches may pass the last of them."""
    for kind, nodes in (
        (PlanFault.ROWS_OF_FIXED_TURNS, fixed_turns(facts, facts.runs_of(steps), origins)),
        (PlanFault.ROWS_OF_FIXED_STRIDES, fixed_strides(facts, steps, origins)),
    ):
        for node in nodes:
            yield finding(facts, node, kind)
            return


def _uneven(
    facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep], origins: set[Origin]
) -> Iterator[Diagnostic]:
    """The training steps that are fed a number of rows which follows the batch size, and is no multiple of it."""
    for run, fed in _feeding(facts, inputs, steps):
        for rows in other_degrees(facts, run, [*fed, *facts.yielded_for(inputs)], frozenset(origins)):
            yield finding(facts, run.call, PlanFault.ROWS_OF_ANOTHER_DEGREE, rows=rows)
            return


def _unclear(
    facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep], origins: set[Origin]
) -> Iterator[Diagnostic]:
    """Numbers that count the rows of an input beside the batch size: their places may mean another thing, too."""
    for run, fed in _feeding(facts, inputs, steps):
        if (node := rows_of_turns(facts, run, fed)) is not None:
            yield finding(facts, node, PlanFault.ROWS_BESIDE_TURNS)
        without = [pair for pair in fed if not named_for(facts, run, *pair)]
        for pair in without if len(without) < len(fed) else ():
            number = other_meaning(facts, run, [pair], fed)
            if isinstance(number, ast.Constant):
                yield finding(facts, number, PlanFault.SIZE_IN_OTHER_MEANING, number=str(number.value))
    for size in _beginnings(facts, inputs, steps):
        if size.factors() and origins.isdisjoint(size.factors()):
            node = min(size.factors(), key=_place).node
            yield finding(facts, node, PlanFault.OTHER_SIZE_OF_STATE)


def _other_calls(facts: Facts, origin: Origin) -> Iterator[ast.AST]:
    """The calls that hand over a batch size by itself to a function that others give a dict: `f(64)`, `f(**settings)`.

    What the function multiplies would be scaled twice where such a caller scales it, too.
    """
    frames = facts.frames_by_node.get(origin.node, ())
    calls = [frame.call for frame in frames if isinstance(frame.call, ast.Call)]
    alone = (call for call in calls if not any(keyword.arg is None for keyword in call.keywords))
    yield from (call for call in alone if call.args or call.keywords)


def _why_handed(facts: Facts, origin: Origin) -> PlanFault:
    """Who hands over a batch size: settings, a decorator that reads them (the calls give nothing), or other code."""
    frames = facts.frames_by_node.get(origin.node, ())
    calls = [frame.call for frame in frames if isinstance(frame.call, ast.Call) and frame.call in facts.parents]
    by_decorator = calls and not any(call.args or call.keywords for call in calls)
    return PlanFault.SIZE_FROM_SETTINGS if origin.key[0] == "spread" or by_decorator else PlanFault.SIZE_FROM_CALLER


def _is_length(facts: Facts, origin: Origin) -> bool:
    """Whether a computed number of examples is the length of the data, which is fed as a whole.

    The length of what a loop has in each turn is that of a batch, and the least of several numbers may be another one.
    """
    parts = list(ast.walk(origin.node))
    if any(isinstance(around, LOOPS) for around in parents_of(facts, origin.node)):
        return False
    least = {name.rpartition(".")[2] for name in LEAST}
    if isinstance(origin.node, ast.Call) and called(origin.node) in least:
        return False
    functions = [part.func for part in parts if isinstance(part, ast.Call)]
    counts = any(isinstance(func, ast.Name) and func.id == "len" for func in functions)
    return counts or any(isinstance(part, ast.Attribute) and part not in functions for part in parts)


def _has_plain_rows(value: Input, origins: set[Origin]) -> bool:
    """True if an input has a fixed number of rows other than the batch size (and other than 1)."""
    rows = fixed_size(value)
    return isinstance(rows, Number) and rows.value not in (None, 1) and not any(o in origins for o in rows.linear)


def _single(origins: set[Origin]) -> Origin | None:
    """The batch size of 1 among several, as in scripts that also generate text one step at a time."""
    ones = [o for o in origins if isinstance(o.node, ast.Constant) and o.node.value == 1]
    return min(ones, key=_place, default=None) if len(origins) > 1 else None


def _of_one_example(facts: Facts, number: ast.AST) -> PlanFault:
    """What the batch size 1 is of: a data set where `dataset.batch(1)` says so, else a model."""
    call = next((node for node in parents_of(facts, number) if isinstance(node, ast.Call)), None)
    batching = {name.rpartition(".")[2] for name in names(Trait.GIVES_BATCHES)}
    of_data = call is not None and getattr(call.func, "attr", "") in batching
    return PlanFault.DATA_SET_OF_ONE_EXAMPLE if of_data else PlanFault.MODEL_OF_ONE_EXAMPLE


def _place(origin: Origin) -> tuple[int, int, str]:
    """The line, the column and the file where a number comes from."""
    return origin.line, getattr(origin.node, "col_offset", 0), origin.path


def _filled_by_hand(facts: Facts, inputs: tuple[Input, ...]) -> RunCall | None:
    """A run that puts examples into a queue that gives the batches, as many as before.

    None where queue runners do, or threads that go on until they are stopped.
    """
    puts = ((i, v) for i in inputs for v in i.inputs if isinstance(v, Tensor) and has(v.op, Trait.ENQUEUES))
    filled = {put.uid for taken, put in puts if not _gives_as_put(taken, put)}
    return next((run for run in facts.runs if run.computes(filled) and not _goes_on(facts, run)), None)


def _filled_for_each_epoch(
    facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep], origins: set[Origin]
) -> RunCall | None:
    """A run that puts as many examples as before into a queue of single ones, for as many steps as before.

    They would wait for ever for the rest of a larger batch. None where the examples or the steps follow its size.
    """
    behind = behind_training(facts, inputs, steps).items()
    puts = {uid for uid, v in behind if isinstance(v, Tensor) and has(v.op, Trait.ENQUEUES)}
    filling = [run for run in facts.runs if run.feeds and run.computes(puts) and not _goes_on(facts, run)]
    for step in facts.runs_of(steps) if filling else ():
        last = max((run for run in filling if run.time < step.time), key=lambda run: run.time, default=None)
        given = {uid: v for _, value in (last.feeds if last else ()) for uid, v in facts.behind(value).items()}
        follows = any(isinstance(v, Number) and v.origins & origins for v in given.values())
        if given and not follows and _takes_as_many_turns(facts, step, origins):
            return last
    return None


def _takes_as_many_turns(facts: Facts, run: RunCall, origins: set[Origin]) -> bool:
    """Whether numbers say how often the loop around a run goes on, which do not follow the batch size."""
    loop = next((site for site in run.site.chain() if isinstance(site.stmt, LOOPS)), None)
    heads = [facts.turned[loop]] if loop is not None and loop in facts.turned else []
    heads += [bound for over in heads for bound in facts.ranges.get(over.uid, ())]
    test = loop.stmt.test if loop is not None and isinstance(loop.stmt, ast.While) else None
    heads += [v for node in ast.walk(test) for v in facts.operands_of(node)] if isinstance(test, ast.Compare) else []
    return bool(heads) and not any(isinstance(v, Number) and v.origins & origins for v in needed(heads).values())


def _goes_on(facts: Facts, run: RunCall) -> bool:
    """Whether a run stands in a thread, in a loop that ends only when it is told to: `while not stop:`."""
    threads = [thread for thread in facts.threads if thread.makes(run)]
    around = {site for thread in threads for site in thread.site.chain()}
    loops = (site.stmt for site in run.site.chain() if threads and site not in around)
    return any(isinstance(loop, ast.While) and _is_endless(loop.test) for loop in loops)


def _is_endless(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return isinstance(test.operand, (ast.Name, ast.Attribute, ast.Call))
    return isinstance(test, ast.Constant) and bool(test.value)


def _acting(facts: Facts, steps: list[TrainStep]) -> RunCall | None:
    """A training step that is fed with an environment's answers to the model's actions; None if there is none."""
    for run in facts.runs_of(steps):
        for value in needed(v for _, v in run.feeds).values():
            if isinstance(value, Host) and value.call.rpartition(".")[2] == "step" and is_fetched(value):
                return run
    return None


def scale(
    facts: Facts, regions: tuple[Region, ...], scaled: Scaled, text: SourceText, num_gpus: NumGpus, names: TakenNames
) -> tuple[Scaling, TakenNames]:
    """Multiply batch sizes by the number of GPUs where they are defined; returns the edits and the names taken then."""
    sizes = sorted(scaled.origins, key=_place)
    again = {o: _set_again(facts, o, sizes, text) for o in sizes if o.key[0] not in ("literal", *HANDED)}
    kept = scaled.intervals.union(scaled.evaluated, *(settings.inside for settings in again.values()))
    written = [o.node for o in sizes if o.key[0] == "literal" and o.node not in kept]
    literals = {n: _scaled(text, n, num_gpus) for n in (*written, *compared(written, text)) if n not in kept}
    replaces, inserts, names = named_products(facts, literals, literals, text, names)
    defaults = [_divided(text, n, num_gpus) for n in kept_defaults(facts, (o for o in sizes if o.node in literals))]
    text = text.after(defaults)
    flags: set[Origin] = set()
    unscaled = {o.node for o in sizes} & kept
    set_again = {access.place for access in facts.accesses if access.write}
    for origin in sizes:
        if origin.key[0] in HANDED:
            inserts.append(_scaled_parameter(origin, text, num_gpus))
        elif origin.key[0] != "literal":
            outside = _host_reads(facts, regions, origin, again[origin], text, scaled.evaluated)
            products = _scaled_reads(facts, outside, origin, again[origin], text, num_gpus)
            unscaled |= {read.node for read, _ in products.values()} & kept
            products = {n: (read, product) for n, (read, product) in products.items() if read.node not in kept}
            ends = max((region.end for region in regions), default=0)
            behind = {n for n, (read, _) in products.items() if read.time > ends and read.place not in set_again}
            reads = {n: e for n, (_, e) in products.items()}
            made, named, names = named_products(facts, reads, behind, text, names)
            replaces += made
            inserts += named
            flags.add(origin)
    apart = [_divided(text, n, num_gpus) for n in scaled.intervals - unscaled]
    replaces += sorted(apart, key=_where)
    own = {n: _divided(text, n, num_gpus) for n in sorted(scaled.evaluated - unscaled - scaled.intervals, key=_at)}
    quotients = {n: replace(edit, why=EVALUATED) for n, edit in own.items()}
    made, named, names = named_products(facts, quotients, quotients, text, names, EVALUATION_BATCH)
    replaces += sorted(made, key=_where)
    inserts += named
    replaces += [d for d in defaults if not any(r.at <= d.at and d.end <= r.end for r in replaces)]
    put = frozenset(_set_places(facts)).difference(*(settings.places for settings in again.values()))
    return Scaling(tuple(replaces), frozenset(flags), tuple(inserts), put), names


def _where(edit: Replace) -> tuple[str, int, int]:
    return edit.at.path, edit.at.line, edit.at.column


def _at(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _divided(text: SourceText, node: ast.AST, num_gpus: NumGpus) -> Replace:
    """A scaled number as the default of a flag, which goes on being the size of one tower."""
    inside = not isinstance(text.parent(node), (ast.Call, ast.keyword))
    quotient = f"{text.of(node)} // {num_gpus(node)}"
    return Replace(text.start(node), text.end(node), f"({quotient})" if inside else quotient, "TMG110")


def _set_again(facts: Facts, origin: Origin, sizes: list[Origin], text: SourceText) -> SetAgain:
    """Where the script sets a setting again in one of its branches."""
    reads = (a for a, _ in facts.numbers if not a.write and reads_flag(a, origin))
    return set_in_branches(facts, str(origin.key[-1]), reads, sizes, text)


def _set_places(facts: Facts) -> dict[Place, int]:
    """The attributes that the script sets, each with when it first does so."""
    found: dict[Place, int] = {}
    for access in facts.accesses:
        if access.write and access.place.kind == "attr":
            found.setdefault(access.place, access.time)
    return found


def reads_flag(access: Access, origin: Origin) -> bool:
    """True if an access reads the flag itself, and not an attribute to which the script has copied its value."""
    holder = access.place.holder
    flags = isinstance(holder, Typed) and holder.kind in ("Namespace", "Flags", "Settings")
    return flags and access.place.key == origin.key[-1]


def _scaled_parameter(origin: Origin, text: SourceText, num_gpus: NumGpus) -> Insert:
    """A batch size that a caller in another file passes as an argument is scaled where the function receives it."""
    first = first_statement(origin.node)
    return Insert(text.anchor(first), (f"{origin.name} *= {num_gpus(first)}",), "top", "TMG110")


def _number_of(text: SourceText, node: ast.AST) -> ast.AST:
    """The whole of `int(node)`: the setting in it may be a text, of which a product is no multiple."""
    above = text.parent(node)
    if isinstance(above, ast.Call) and above.args == [node] and not above.keywords:
        return _number_of(text, above) if getattr(above.func, "id", "") in ("int", "float") else node
    return node


def _scaled(text: SourceText, node: ast.AST, num_gpus: NumGpus, may_be_none: bool = False) -> Replace:
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    plain = product or isinstance(node, (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    bare = f"{text.of(node)} * {num_gpus(node)}" if plain else f"({text.of(node)}) * {num_gpus(node)}"
    if may_be_none and isinstance(text.parent(node), MAY_TAKE_NONE):
        bare = f"{text.of(node)} and {bare}"
    tight = (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript, ast.Compare, ast.BoolOp)
    alone = not isinstance(text.parent(node), tight)
    return Replace(text.start(node), text.end(node), bare if alone else f"({bare})", "TMG110")


def _host_reads(
    facts: Facts,
    regions: tuple[Region, ...],
    origin: Origin,
    again: SetAgain,
    text: SourceText,
    evaluated: Container[ast.AST],
) -> dict[ast.AST, Access]:
    """The expressions that read a flag outside of the towers; refuses one that the towers read, too.

    Each execution of the towers' statements reads one tower's size, that of a model which is built to be tested, too.
    evaluated: the expressions that read the size for evaluations which keep the script's: a tower has a part of it.
    """
    inside: set[ast.AST] = set()
    outside: dict[ast.AST, Access] = {}
    later = _set_places(facts)
    for access, number in facts.numbers:
        if access.write or not reads_flag(access, origin):
            continue
        if access.place in again.places:
            written_out = text.parent(access.node) is not None  # it is not where `*=` reads it
            if not written_out or access.node in again.inside or origin not in number.origins:
                continue
        elif number.origins != frozenset((origin,)) or access.time > later.get(access.place, access.time):
            continue
        if any(region.in_any_tower(access.site) for region in regions):
            inside.add(access.node)
        else:
            outside.setdefault(access.node, access)
    for node in (*outside, *inside):
        if node in inside and (node in outside or node in evaluated):
            raise refuse(facts, node, PlanFault.SIZE_READ_IN_AND_OUT)
    return outside


def _scaled_reads(
    facts: Facts, outside: Table[ast.AST, Access], origin: Origin, again: SetAgain, text: SourceText, num_gpus: NumGpus
) -> dict[ast.AST, tuple[Access, Replace]]:
    """A flag holds what the user gave for one tower; the host's uses of it are scaled one by one."""
    none = may_be_none(facts, origin)
    defaults = {*(flag.call for flag in facts.flags), *(fallback.node for fallback in facts.fallbacks)}
    whole = {_number_of(text, n): access for n, access in outside.items()}
    return {
        n: (access, _scaled(text, n, num_gpus, none and access.place not in again.places))
        for n, access in whole.items()
        if _counts(text, n) and not _is_default(text, n, defaults)
    }


def _is_default(text: SourceText, node: ast.AST, definitions: Container[ast.AST]) -> bool:
    """Whether a setting is the default of another, which goes on being the size of one tower.

    A default that is divided by it is a number of steps, which the larger batches make smaller.
    """
    below, above = node, text.parent(node)
    while above is not None and not isinstance(below, ast.stmt):
        if below in definitions:
            return True
        if isinstance(above, ast.BinOp) and isinstance(above.op, (ast.Div, ast.FloorDiv)) and above.right is below:
            return False
        below, above = above, text.parent(above)
    return False


def _counts(text: SourceText, node: ast.AST) -> bool:
    """True if the value is used as a number: not in text or a log line, and not in a check of the user's choice."""
    parent = text.parent(node)
    while isinstance(parent, PASSED_ON):
        node, parent = parent, text.parent(parent)
    if isinstance(parent, ast.Call) and node is not parent.func:
        shown = getattr(parent.func, "id", getattr(parent.func, "attr", ""))
        return shown not in (*LOGS, "str", "repr", "format")
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod) and parent.right is node:
        return not (isinstance(parent.left, ast.Constant) and isinstance(parent.left.value, str))
    if isinstance(parent, (ast.If, ast.While, ast.IfExp)) and parent.test is node:
        return False  # whether it was given
    if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], (ast.Is, ast.IsNot)):
        return False
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
        return False
    if isinstance(parent, ast.Compare):
        sides = [side for side in (parent.left, *parent.comparators) if side is not node]
        return not (_is_asserted(text, parent) and all(isinstance(side, ast.Constant) for side in sides))
    return not isinstance(parent, ast.FormattedValue) and not (parent is not None and _is_asserted(text, node))


def _is_asserted(text: SourceText, node: ast.AST) -> bool:
    """Whether a condition is one of those that an `assert` tests."""
    parent = text.parent(node)
    while isinstance(parent, (ast.BoolOp, ast.UnaryOp)):
        parent = text.parent(parent)
    return isinstance(parent, ast.Assert)


# -- where the batches come from -------------------------------------------------------------------


def _origins(
    facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep]
) -> tuple[set[Origin], list[RunCall], list[RunCall]]:
    """The numbers behind the batch sizes; runs whose batches were not followed; runs that feed a whole data set."""
    origins: set[Origin] = set()
    for size, _, _ in training_sizes(facts, inputs, steps):
        for number in (size, *fed_for(facts, size, inputs, steps)):
            origins |= base_of(facts, number) if isinstance(number, Number) else set()
    loaded = set(origins)
    unknown: list[RunCall] = []
    everything: list[RunCall] = []
    for run, fed in _feeding(facts, inputs, steps):
        found = set() if _is_same(facts, run, fed) else fed_sizes(facts, run, fed)
        found |= fed_sizes(facts, run, facts.yielded_for(inputs))
        whole = bool(fed) and not any(has(i.op, Trait.DEQUEUES) for i in inputs)
        for _, value in fed:
            kept = is_kept(facts, value, run)
            whole &= _is_whole_data_set(value) if kept is None else kept
        origins |= found | in_heads(facts, run, loaded)
        if not found:
            (everything if whole else unknown).append(run)
    if not inputs:
        origins |= {origin for number in drawn_sizes(steps) for origin in base_of(facts, number)}
    if origins:
        literals = (n.linear for n in _beginnings(facts, inputs, steps) if all(o.key[0] == "literal" for o in n.linear))
        origins = origins.union(*(linear for linear in literals if len(linear) == 1))
    return {o for o in origins if not _follows(facts, o, origins - {o})}, unknown, everything


def _beginnings(facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep]) -> Iterator[Number]:
    return beginnings(facts, facts.runs_of(steps), inputs)


def _feeding(facts: Facts, inputs: tuple[Input, ...], steps: list[TrainStep]) -> Iterator[tuple[RunCall, Fed]]:
    """The training steps, and the runs that put whole batches into the queue of their inputs, with what they feed."""
    trained = {step.result.uid for step in steps}
    puts = {v.uid: v for i in inputs for v in i.inputs if isinstance(v, Tensor) and _gives_as_put(i, v)}
    put = {i for v in puts.values() for i in needed([v]).values() if isinstance(i, Input)}
    for run in facts.runs:
        if run.computes(trained):
            yield run, _fed(run, inputs)
        elif run.computes(puts.keys()):
            yield run, [(key, value) for key, value in run.feeds if key in put]


def _gives_as_put(taken: Input, put: Tensor) -> bool:
    """Whether one run takes from a queue what one run put into it: whole batches."""
    one_by_one = any(op.endswith("_many") for op in (put.op, taken.op))
    return has(put.op, Trait.ENQUEUES) and has(taken.op, Trait.DEQUEUES) and not one_by_one


def _fed(run: RunCall, inputs: tuple[Input, ...]) -> Fed:
    """What a run feeds the inputs of the model."""
    return [(key, value) for key, value in run.feeds if isinstance(key, Input) and key in inputs]


def _is_same(facts: Facts, run: RunCall, fed: Fed) -> bool:
    """True if each iteration of the training loop feeds the same examples: a larger batch would be more data."""
    return bool(fed) and all(is_kept(facts, value, run) for _, value in fed)


def _follows(facts: Facts, origin: Origin, others: set[Origin]) -> bool:
    """True if a number with a batch size's name is computed from a scaled one, or read from a fetched batch."""
    inner = set(ast.walk(origin.node)) if isinstance(origin.node, ast.expr) else set()
    read = [a.value for a in facts.accesses if not a.write and a.node in inner]
    scaled = any(isinstance(v, Number) and not others.isdisjoint(v.factors()) for v in read)
    return scaled or (origin.key[0] == "computed" and any(isinstance(v, Host) and is_fetched(v) for v in read))


def _is_whole_data_set(value: Value) -> bool:
    """True if a fed value is a whole data set: no slice, call or loop has produced it."""
    if isinstance(value, Host):
        if value.call in ("slice", "[]", "item") or "batch" in value.call.lower():
            return False
        return all(_is_whole_data_set(v) for v in value.inputs if not isinstance(v, (Mapping, Sequence)))
    return True
