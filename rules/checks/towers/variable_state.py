"""A variable carries results of one batch to the next step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from heapq import heapify, heappop, heappush
from math import inf
from operator import attrgetter
from typing import TypeGuard, cast

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Tensor, Value, Variable, needed
from converter.diagnostics import Diagnostic
from converter.planner.cases import Placed
from converter.planner.checking import check
from converter.planner.wording import finding

CODES = ("TMG234",)


@check(Placed)
def carries_state(case: Placed) -> Iterator[Diagnostic]:
    """Variables that carry something of a batch to the next step: each tower would go on from its own shard.

    What is computed after the loop is computed from the whole batch, and set once: one number for all examples may
    be carried so.
    """
    assigned = [(e, e.value) for e in case.facts.effects_of(EffectKind.ASSIGNED) if isinstance(e.value, Tensor)]
    set_by = {made.uid: {v.uid for v in made.inputs if isinstance(v, Variable)} for _, made in assigned}
    read = _read_as_data((s.loss for s in case.steps), set_by)
    for effect, made in assigned:
        once = not any(r.in_any_tower(effect.site) for r in case.regions)
        if not any(isinstance(v, Tensor) and v.batch.kind != "free" for v in made.inputs):
            if not once and made.uid in read and _goes_on(effect, made):
                yield finding(case.facts, effect.node, "TMG234 changed_by_each")
            continue
        carried = [v for v in made.inputs if isinstance(v, Variable) and v.uid in read]
        if made.uid in read or any(not once or not _is_number(v) for v in carried):
            yield finding(case.facts, effect.node, "TMG234 carried")


@check(Placed)
def reads_new_average(case: Placed) -> Iterator[Diagnostic]:
    """Moving averages of the batch that the loss reads behind their update: it is made of the first tower's shard."""
    inside = [t for t in case.facts.tensors if any(region.in_tower(t.site) for region in case.regions)]
    waiting = [tensor for tensor in inside if any(map(_averages, tensor.control))]
    if not waiting:
        return
    read = _read_as_data((s.loss for s in case.steps), {})
    for tensor in waiting:
        owners = {v.uid for update in filter(_averages, tensor.control) for v in update.inputs}
        averages = (v for v in tensor.operands if isinstance(v, Tensor) and v.op == "average")
        if tensor.uid in read and any(owners & {v.uid for v in average.inputs} for average in averages):
            yield finding(case.facts, tensor.node or case.facts.tree, "TMG234 new_average")


def _averages(value: Value) -> bool:
    return isinstance(value, Tensor) and value.op == "ema"


def _goes_on(effect: Effect, made: Tensor) -> bool:
    """Whether a variable is set to another value each time: to one that is computed from variables."""
    given = made.operands if effect.name.rpartition(".")[2] != "assign" else made.operands[1:]
    return any(isinstance(v, Variable) for v in needed(given).values())


def _is_number(variable: Variable) -> bool:
    """Whether a variable holds one number, in whatever shape: [0.] is read as 0. is."""
    return variable.dims is not None and all(d == 1 for d in variable.dims)


def _read_as_data(losses: Iterable[Tensor], set_by: dict[int, set[int]]) -> dict[int, Value]:
    """The values that losses are computed from, without control inputs and moving averages of the batch.

    set_by: uid of an operation that sets variables -> their uids. Of the branches of a condition, the one that sets a
    variable is taken in training; what the others read of it, they read outside of training.
    """
    found: dict[int, Value] = {}
    seen: dict[int, list[frozenset[int]]] = {}  # uid -> what was left out on the ways to it
    begin = list(losses)
    set_behind = partial(_set_behind, set_by=set_by, known=_set_behind_branches(begin, set_by))
    ways = [(0, loss.uid, cast(Value, loss), frozenset[int]()) for loss in begin]
    heapify(ways)
    while ways:
        _, _, value, averages = heappop(ways)  # those that leave out least come first
        if value.uid in averages or any(fewer <= averages for fewer in seen.get(value.uid, ())):
            continue  # what leaves out more finds no more; without this, n conditions have 2 ** n ways
        seen.setdefault(value.uid, []).append(averages)
        found[value.uid] = value
        for v, others in [] if isinstance(value, Input) else _read_by(value, set_behind):
            heappush(ways, (len(averages | others), v.uid, v, averages | others))
    return found


def _read_by(value: Value, set_behind: Callable[[Value], frozenset[int]]) -> Iterator[tuple[Value, frozenset[int]]]:
    """The values that one is computed from, each with the moving averages that are left out on the way to it."""
    if not _is_condition(value):
        inputs = value.operands if isinstance(value, Tensor) else value.inputs
        yield from ((v, frozenset()) for v in (*inputs, *value.parts()))
        return
    branches = _branches(value)
    sets = [set_behind(v) for v in branches]
    for i, v in enumerate(branches):
        yield v, frozenset().union(*sets[:i], *sets[i + 1 :]) - sets[i]


def _is_condition(value: Value) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and (value.op == "join" or has(value.op, Trait.CONDITION))


def _branches(condition: Tensor) -> list[Value]:
    """What a condition chooses from: where some of it is computed from a batch, that in place of moving averages."""
    inputs = [*condition.operands, *condition.parts()]
    return [v for v in inputs if v.roots] or inputs


def _set_behind_branches(losses: Iterable[Tensor], set_by: dict[int, set[int]]) -> dict[int, frozenset[int]]:
    """What `_set_behind` gives for the branches of conditions; what is behind the first ones is looked through once."""
    known: dict[int, frozenset[int]] = {}
    conditions = [value for value in needed(losses).values() if _is_condition(value)]
    for condition in sorted(conditions, key=attrgetter("uid")):
        for branch in _branches(condition):
            known[branch.uid] = _set_behind(branch, set_by, known)
    return known


def _set_behind(value: Value, set_by: dict[int, set[int]], known: dict[int, frozenset[int]]) -> frozenset[int]:
    """The variables that operations behind a value set, those that it only waits for included.

    known: the same for earlier values. None of the operations behind a tensor is made after it.
    """
    if value.uid in known or not set_by:
        return known.get(value.uid, frozenset())
    last = value.uid if isinstance(value, Tensor) else inf
    behind = needed([value], known)
    return frozenset().union(*(known.get(uid, set_by.get(uid, ()) if uid <= last else ()) for uid in behind))
