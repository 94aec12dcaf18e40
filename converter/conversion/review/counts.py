"""Checks numbers of the host that count batches or examples: they follow the batch size, each once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from converter.analysis.counts.degrees import origins_behind
from converter.analysis.facts import Facts, RunCall
from converter.analysis.inputs.row_counts import is_row_count
from converter.analysis.values import Input, Number, Site, Value, needed
from converter.conversion.review.compare import MIXED, WalkComparison
from converter.conversion.review.paths import Path, Paths
from converter.conversion.review.sizes import Sized, inputs_of, is_size, line_of, pairs_of, same_runs
from converter.conversion.review.towers import behind
from converter.dataclass import dataclass


@dataclass(frozen=True)
class _Grown:
    """The sizes of training batches that grew: their origins, and their values."""

    origins: frozenset[tuple[object, ...]]
    values: frozenset[int | float]


def counts_differ(comparison: WalkComparison, paths: Paths) -> Iterator[Sized]:
    """Loops, schedules and feeds whose numbers do not follow the batches of the training steps, with both lines."""
    grown = _grown(comparison)
    yield from _multiplied_wrongly(comparison)
    yield from _feeds(comparison, grown)
    if grown is None:
        if not comparison.total and comparison.towers.turns:
            yield from _nothing_grows(comparison)
        return
    yield from _loops(comparison, paths, grown)
    yield from _schedules(comparison, grown)


def _trained(facts: Facts) -> set[int]:
    return {step.result.uid for step in facts.train_steps}


def _training_runs(comparison: WalkComparison) -> Iterator[tuple[RunCall, RunCall]]:
    trained = _trained(comparison.first)
    return ((one, two) for one, two in same_runs(comparison) if one.computes(trained))


def _grown(comparison: WalkComparison) -> _Grown | None:
    """The sizes that grew behind the inputs and feeds of training steps; None where none did."""
    pairs = [pair for _, alike in inputs_of(comparison) for pair in alike]
    for one, two in _training_runs(comparison):
        for (_, fed), (_, here) in zip(one.feeds, two.feeds, strict=False):
            pairs += pairs_of(fed, here)
    held = [there for there, here in pairs if comparison.power(here) == 1]
    if not held:
        return None
    plain = [v for v in held if v.chosen or len(v.linear) == 1]  # of `batch_size * steps` only one of both grew
    origins = frozenset(o.key for there in plain or held for o in there.factors())
    return _Grown(origins, frozenset(there.value for there in held if there.value is not None))


def _nothing_grows(comparison: WalkComparison) -> Iterator[Sized]:
    """Batches that stay as large as one GPU takes: no size behind a training step grows, and one like it elsewhere."""
    sizes = {inner.value for inner in comparison.towers.grown.values() if isinstance(inner, Number)} - {None}
    for one, two in _training_runs(comparison):
        pairs = [pair for (_, a), (_, b) in zip(one.feeds, two.feeds, strict=False) for pair in pairs_of(a, b)]
        if any(comparison.power(here) == MIXED for _, here in pairs):
            return  # one of several sizes, or what is computed of one
        fed = [
            number
            for key, value in one.feeds
            if isinstance(key, Input) and key.batch.kind == "example"
            for number in behind(value)
            if isinstance(number, Number)
        ]
        if any(number.value in sizes or is_size(comparison.first, number) for number in fed):
            yield "no batch of this training step grows with the towers", one.call, two.call
            return


def _multiplied_wrongly(comparison: WalkComparison) -> Iterator[Sized]:
    """Sizes that are multiplied twice, or before the script has set the number of GPUs."""
    towers = comparison.towers
    for made in towers.products:
        if made.site is None:
            continue
        power = comparison.power(made)
        if power != MIXED and power > 1:
            yield "a size is multiplied twice by the number of towers", _before(comparison, made), made.site.stmt
        if made.time < towers.counted.get(made.site.frame.module.uid, 0):
            why = "a size is multiplied before the script sets the number of GPUs"
            yield why, _before(comparison, made), made.site.stmt


def _before(comparison: WalkComparison, made: Value) -> ast.AST | None:
    return comparison.statements.get(made.site.stmt) if made.site is not None else None


# -- feeds ------------------------------------------------------------------------------------------


def _feeds(comparison: WalkComparison, grown: _Grown | None) -> Iterator[Sized]:
    """Sizes of the whole batch that towers are fed, and evaluations that take more examples."""
    trained = _trained(comparison.first)
    losses = [loss for averaged in comparison.towers.averages.values() for loss in averaged.losses]
    read: set[int] | None = None
    for one, two in same_runs(comparison):
        trains = one.computes(trained)
        for (key, fed), (other, here) in zip(one.feeds, two.feeds, strict=False):
            if trains and isinstance(other, Input):
                if not _counts_batch(comparison, fed, here, two):
                    continue
                read = set(needed(losses)) if read is None else read
                if other.uid in read:
                    yield "a tower is fed the number of rows of the whole batch", line_of(fed) or one.call, two.call
            elif not trains and grown is not None and isinstance(key, Input) and _any_rows(key):
                pairs = pairs_of(fed, here)
                if any(_grew_alone(comparison, grown, there, more) for there, more in pairs):
                    yield "this run, which does not train, takes more examples than before", one.call, two.call


def _counts_batch(comparison: WalkComparison, fed: Value, here: Value, run: RunCall) -> bool:
    """Whether a training step of the converted text is fed the number of rows of all towers."""
    if is_row_count(comparison.second.facts, run, here):
        return True
    if not isinstance(here, Number) or not isinstance(fed, Number):
        return False
    power = comparison.power(here)
    return power == 1 or (power != MIXED and is_size(comparison.first, fed))


def _grew_alone(comparison: WalkComparison, grown: _Grown, one: Number, two: Number) -> bool:
    """Whether a number grew that no training step takes; one of two sizes is a multiple of neither."""
    if comparison.power(two) != 1:
        return False
    numbers = (v for v in needed([one]).values() if isinstance(v, Number))
    return not grown.origins & {o.key for number in numbers for o in number.linear or number.origins}


def _any_rows(key: Input) -> bool:
    return not key.dims or key.dims[0] is None


# -- loops and schedules ----------------------------------------------------------------------------


def _loops(comparison: WalkComparison, paths: Paths, grown: _Grown) -> Iterator[Sized]:
    """Loops around training steps that count as many batches as one GPU takes."""
    twos: dict[Path, tuple[Site, Value]] = {}
    for site, over in comparison.second.facts.turned.items():
        twos.setdefault(paths.again(site), (site, over))
    turned = comparison.first.turned
    around = {s for one, _ in _training_runs(comparison) for s in one.site.chain() if isinstance(s.stmt, ast.For)}
    paths_around = {paths.first(site) for site in around}
    seen: set[Path] = set()
    for site, over in turned.items():
        path = paths.first(site)
        if path in seen or path not in paths_around or path not in twos:
            continue
        seen.add(path)
        again, here = twos[path]
        ones = comparison.first.ranges.get(over.uid, [over])
        others = comparison.second.facts.ranges.get(here.uid, [here])
        if len(ones) == len(others):
            steps = [(ones[2], others[2])] if len(ones) == 3 else []
            if any(_left(comparison, grown, a, b, counts=True) for a, b in steps) or any(
                _left(comparison, grown, a, b) for a, b in zip(ones[:2], others[:2], strict=True)
            ):
                why = "this loop goes over as many batches as one GPU takes"
                yield why, site.stmt, again.stmt


def _schedules(comparison: WalkComparison, grown: _Grown) -> Iterator[Sized]:
    """Steps of a schedule that count as many batches as one GPU takes; a literal there may mean anything."""
    grown = replace(grown, values=frozenset())
    for one, two in comparison.schedules:
        for there, here in zip(one.inputs, two.inputs, strict=False):
            if _left(comparison, grown, there, here):
                yield "this schedule counts as many batches as one GPU takes", one.node, two.node


def _left(comparison: WalkComparison, grown: _Grown, one: Value, two: Value, counts: bool = False) -> bool:
    """Whether a number divides by a batch size (or `counts` by it), and the converted text's by one GPU's."""
    if not isinstance(one, Number) or not isinstance(two, Number):
        return False
    inner, other = one.inputs, two.inputs
    if counts or not inner:
        return counts and _is_grown(comparison.first, grown, one) and comparison.power(two) == 0
    if len(inner) != len(other):
        return False
    divides = one.op == "divide" and len(inner) == 2
    return any(
        _left(comparison, grown, a, b, divides and at == 1 and isinstance(a, Number) and not _is_computed(a))
        for at, (a, b) in enumerate(zip(inner, other, strict=True))
    )


def _is_computed(number: Number) -> bool:
    return any(isinstance(v, Number) for v in number.inputs)


def _is_grown(facts: Facts, grown: _Grown, number: Number) -> bool:
    """Whether a number is the batch size of a training step: the same one, or one of that value without a name."""
    if grown.origins & {o.key for o in number.factors()}:
        return True
    named = any(facts.names_of(origin) for origin in number.origins)
    return number.value in grown.values and not named


# -- rates ------------------------------------------------------------------------------------------


def rates_differ(comparison: WalkComparison) -> Iterator[Sized]:
    """Learning rates that grow with the towers, where neither an option nor the script asks for that."""
    for one, two, node in comparison.rates:
        power = comparison.power(two)
        if power and power != MIXED and not _follows_size(comparison, one):
            yield "a number of the optimizer grows with the towers", node, getattr(two.site, "stmt", None)


def _follows_size(comparison: WalkComparison, rate: Number) -> bool:
    """Whether the script computes a learning rate from a batch size, in any degree: a warning says how it grows."""
    origins = origins_behind(rate)
    return bool(comparison.first.named_sizes(origins)) or any(origin.key in comparison.sizes for origin in origins)


__all__ = ["counts_differ", "rates_differ"]
