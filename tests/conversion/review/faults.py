"""Faults that are put into right plans: each operator changes one decision, wherever a plan has one of its kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from converter.plan import Loop, Plan
from converter.plan.border import (
    Concat,
    Cut,
    CutEach,
    CutInput,
    CutOptional,
    Fed,
    First,
    Handed,
    Keep,
    MaskedMean,
    Mean,
    Remake,
    Remove,
    Reset,
    Resize,
    Rows,
    Shown,
    Sum,
)

Fault = tuple[str, Plan]


def faults(plan: Plan) -> Iterator[Fault]:
    """Every fault that the operators can put into one plan, each with a name that tells where it is."""
    for at, loop in enumerate(plan.loops):
        for operator in ON_LOOPS:
            for name, changed in operator(loop):
                loops = (*plan.loops[:at], changed, *plan.loops[at + 1 :])
                yield f"{operator.__name__} {name}", replace(plan, loops=loops)
    for on_plan in ON_PLANS:
        for name, wrong in on_plan(plan):
            yield f"{on_plan.__name__} {name}", wrong


def _without(items: tuple[Any, ...]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    for at in range(len(items)):
        yield at, (*items[:at], *items[at + 1 :])


def _changed(items: tuple[Any, ...], at: int, **fields: Any) -> tuple[Any, ...]:
    return (*items[:at], replace(items[at], **fields), *items[at + 1 :])


# -- what goes into the towers ----------------------------------------------------------------------


def _with(loop: Loop, **parts: tuple[Any, ...]) -> Loop:
    """A loop with something else at its border."""
    return replace(loop, border=replace(loop.border, **parts))


def _cut_otherwise(loop: Loop, change: Callable[[Cut, int], tuple[CutInput, ...]]) -> Iterator[tuple[CutInput, Loop]]:
    """Inputs that are cut together, with a change to each of them."""
    for at, shard in enumerate(loop.border.shards):
        for place, one in enumerate(shard.inputs if isinstance(shard, Cut) else ()):
            inputs = change(shard, place)
            yield one, _with(loop, shards=_changed(loop.border.shards, at, inputs=inputs))


def input_not_cut(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """The towers read the whole batch of one input."""
    for one, changed in _cut_otherwise(loop, lambda cut, at: (*cut.inputs[:at], *cut.inputs[at + 1 :])):
        if all(shard.inputs for shard in changed.border.shards if isinstance(shard, Cut)):
            yield one.place, _with(changed, restore=_restore(loop, one.place))


def inputs_swapped(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """Two inputs are read by each other's names."""
    for at, shard in enumerate(loop.border.shards):
        if isinstance(shard, Cut) and len(shard.inputs) > 1:
            one, two, *rest = shard.inputs
            inputs = (replace(one, place=two.place), replace(two, place=one.place), *rest)
            yield f"{two.place}/{one.place}", _with(loop, shards=_changed(loop.border.shards, at, inputs=inputs))


def axis_of_shard(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """An input is cut along another axis."""
    for one, changed in _cut_otherwise(loop, lambda cut, at: _changed(cut.inputs, at, axis=cut.inputs[at].axis + 1)):
        yield one.place, changed


def _not_bound(loop: Loop, *kinds: type) -> Iterator[tuple[str, Loop]]:
    """Names of such kinds mean in the towers what they mean outside."""
    for at, rest in _without(loop.border.bound):
        one = loop.border.bound[at]
        if isinstance(one, kinds):
            yield one.place, _with(loop, bound=rest, restore=_restore(loop, one.place))


def nest_not_cut(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """A list or dict of inputs is read whole."""
    return _not_bound(loop, CutEach, CutOptional)


def tuple_not_remade(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """A tuple goes on holding whole batches."""
    return _not_bound(loop, Remake)


def size_of_whole_batch(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """The towers read the batch size of all of them."""
    return _not_bound(loop, Resize, Keep)


def parts_swapped(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """Each tower goes on with two values of an earlier loop by each other's names."""
    bound = loop.border.bound
    kept = [at for at, one in enumerate(bound) if isinstance(one, Keep)]
    for one, two in zip(kept, kept[1:], strict=False):
        first, second = bound[one], bound[two]
        changed = _changed(_changed(bound, one, saved=second.saved), two, saved=first.saved)
        yield f"{first.place}/{second.place}", _with(loop, bound=changed)


def _restore(loop: Loop, place: str) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in loop.border.restore if pair[0] != place)


# -- what the towers leave to each other and to what follows ----------------------------------------


def not_reset(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """A tower begins with what the one before has left."""
    for place, changed in _not_bound(loop, Reset, Remove):
        yield place, _with(changed, restore=loop.border.restore)


def not_restored(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """After the towers a name goes on standing for the last one's shard."""
    for at, rest in _without(loop.border.restore):
        yield loop.border.restore[at][0], _with(loop, restore=rest)


def context_left_out(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """Towers see each other's collections, variables or updates."""
    for at, rest in _without(loop.contexts):
        yield loop.contexts[at][0], replace(loop, contexts=rest)


# -- what comes out of the towers -------------------------------------------------------------------


def not_merged(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """What follows reads one tower's part."""
    used = " ".join(rebuild.text for rebuild in loop.border.rebuilds)
    merges = loop.border.merges
    for at, merge in enumerate(merges):
        if merge.merged and f"{{{merge.towers}}}" not in used:
            kept = (replace(merge, loss=replace(merge.loss, merged=False)),) if merge.loss else ()
            yield merge.place, _with(loop, merges=(*merges[:at], *kept, *merges[at + 1 :]))


def _merged_otherwise(
    loop: Loop, of: tuple[type, ...], other: Callable[[Rows, Any], object]
) -> Iterator[tuple[str, Loop]]:
    """Values that are merged in one way, each merged in another."""
    merges = loop.border.merges
    for at, merge in enumerate(merges):
        if isinstance(merge.how, of):
            rows = getattr(merge.how, "rows", loop.border.shards[0].rows)
            yield merge.place, _with(loop, merges=_changed(merges, at, how=other(rows, merge.how)))


def rows_added(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """The towers' rows are averaged instead of put together."""
    return _merged_otherwise(loop, (Concat, Fed), lambda rows, _: Mean(rows))


def mean_joined(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """The towers' means are put together as rows."""
    return _merged_otherwise(loop, (Mean, Sum, First, Shown, Handed), lambda rows, _: Concat(rows))


def mean_summed(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """The towers' means are added up without their weights."""
    return _merged_otherwise(loop, (Mean,), lambda rows, _: Sum(rows))


def sum_averaged(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """The towers' sums are weighted."""
    return _merged_otherwise(loop, (Sum,), lambda rows, _: Mean(rows))


def mask_not_counted(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """A masked mean is weighted by rows instead of by what the mask leaves."""
    return _merged_otherwise(loop, (MaskedMean,), lambda rows, _: Mean(rows))


def axis_of_merge(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """Rows are put together along another axis."""
    return _merged_otherwise(loop, (Concat,), lambda _, how: replace(how, axis=how.axis + 1))


def tuple_not_rebuilt(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """A tuple goes on holding one tower's parts."""
    for at, rest in _without(loop.border.rebuilds):
        yield loop.border.rebuilds[at].place, _with(loop, rebuilds=rest)


def not_computed_again(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """What is computed of merged values stays one tower's."""
    for at, rest in _without(loop.again):
        yield str(at), replace(loop, again=rest)


def collections_not_merged(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """A collection goes on holding the first tower's values."""
    kept = loop.collections
    for at, rest in _without(kept.keys if kept else ()):
        yield kept.keys[at], replace(loop, collections=replace(kept, keys=rest) if rest else None)


# -- where statements stand -------------------------------------------------------------------------


def left_behind(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """A statement of the towers is executed once, after them."""
    for at, rest in _without(loop.tower):
        if at:
            yield f"line {loop.tower[at].line}", replace(loop, tower=rest, after=(loop.tower[at], *loop.after))


def too_early(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """A statement of the towers is executed once, before them."""
    for at, rest in _without(loop.tower):
        if at:
            yield f"line {loop.tower[at].line}", replace(loop, tower=rest, before=(*loop.before, loop.tower[at]))


def too_late(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """A statement that prepares the towers stands after them."""
    for at, rest in _without(loop.before):
        yield f"line {loop.before[at].line}", replace(loop, before=rest, after=(loop.before[at], *loop.after))


def before_the_merge(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """A statement that reads merged values stands in front of the towers."""
    for at, rest in _without(loop.after):
        if loop.after[at] not in loop.early:
            yield f"line {loop.after[at].line}", replace(loop, after=rest, before=(*loop.before, loop.after[at]))


def out_of_order(loop: Loop) -> Iterator[tuple[str, Loop]]:
    """Two statements of the towers have changed places."""
    for at in range(1, len(loop.tower) - 1):
        tower = list(loop.tower)
        tower[at], tower[at + 1] = tower[at + 1], tower[at]
        yield f"lines {loop.tower[at].line}, {loop.tower[at + 1].line}", replace(loop, tower=tuple(tower))


# -- expressions ------------------------------------------------------------------------------------


def expression_left(plan: Plan) -> Iterator[Fault]:
    """An expression stays as it is on one GPU: a batch size, a step."""
    for at, edit in enumerate(plan.replaces):
        yield f"line {edit.at.line} {edit.why}", replace(plan, replaces=(*plan.replaces[:at], *plan.replaces[at + 1 :]))


def size_counted_twice(plan: Plan) -> Iterator[Fault]:
    """A batch size is multiplied twice, or what is none."""
    for at, edit in enumerate(plan.replaces):
        if plan.num_gpus in edit.text and edit.text.count(plan.num_gpus) == 1:
            text = edit.text.replace(plan.num_gpus, f"{plan.num_gpus} * {plan.num_gpus}")
            yield f"line {edit.at.line}", replace(plan, replaces=_changed(plan.replaces, at, text=text))
    for at, insert in enumerate(plan.inserts):  # a product that has a name
        twice = f"* {plan.num_gpus} * {plan.num_gpus}"
        wrong = tuple(line.replace(f"* {plan.num_gpus}", twice) for line in insert.lines)
        if wrong != insert.lines:
            yield f"named, line {insert.at.line}", replace(plan, inserts=_changed(plan.inserts, at, lines=wrong))


def another_loss(plan: Plan) -> Iterator[Fault]:
    """Gradients are taken of the losses that belong to another step."""
    lists = [merge.towers for loop in plan.loops for merge in loop.border.merges if merge.loss]
    for at, edit in enumerate(plan.replaces):
        mine = [name for name in lists if re.search(rf"\b{name}\b", edit.text)]
        for name in mine[:1]:
            for other in [n for n in lists if n != name][:1]:
                text = re.sub(rf"\b{name}\b", other, edit.text)
                yield f"line {edit.at.line}", replace(plan, replaces=_changed(plan.replaces, at, text=text))


def argument_lost(plan: Plan) -> Iterator[Fault]:
    """A step loses its global step or the list of its variables."""
    for at, edit in enumerate(plan.replaces):
        for name in ("global_step", "var_list"):
            text = re.sub(rf", {name}=(\w+(\([^()]*\))?(\.\w+)*)(?=[,)])", "", edit.text)
            if text != edit.text:
                yield f"line {edit.at.line} {name}", replace(plan, replaces=_changed(plan.replaces, at, text=text))


ON_LOOPS: tuple[Callable[[Loop], Iterator[tuple[str, Loop]]], ...] = (
    input_not_cut, inputs_swapped, axis_of_shard, nest_not_cut, tuple_not_remade, size_of_whole_batch, parts_swapped,
    not_reset, not_restored, context_left_out, not_merged, rows_added, mean_joined, mean_summed, sum_averaged,
    mask_not_counted, axis_of_merge, tuple_not_rebuilt, not_computed_again, collections_not_merged, left_behind,
    too_early, too_late, before_the_merge, out_of_order,
)  # fmt: skip
ON_PLANS: tuple[Callable[[Plan], Iterator[Fault]], ...] = (
    expression_left, size_counted_twice, another_loss, argument_lost,
)  # fmt: skip
