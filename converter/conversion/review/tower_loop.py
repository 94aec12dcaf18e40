"""The tower loop of a converted text, and which collections and variables of each other the towers see."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from converter.analysis.flow.undo import StateChange
from converter.analysis.python.containers import is_known_key
from converter.analysis.python.statements import assign, execute_block
from converter.analysis.traits import Trait, has
from converter.analysis.values import Mapping, Number, Typed, Value
from converter.analysis.walk import Walk
from converter.conversion.review.towers import REUSES, TOWERS, HandedParts, Merged, TowerRecords

Signal = str | None  # how a block ended early
APART = {"TowerCollections", "TowerPenalties", "MergedCollections"}


class _Closed(list[Any]):
    """A list of the first tower's values, to which appending adds nothing: further towers append the same."""

    def append(self, item: Any) -> None:
        """Adds nothing."""


class _Filled:
    """The dicts from before the towers that these fill under unknown keys: each tower has the keys of the one before.

    mark: where the record of changes of the tower begins. began: the walk's clock in front of the towers.
    """

    def __init__(self, mark: int, began: int) -> None:
        self._mark, self._began = mark, began
        self._first: list[tuple[Mapping, Value]] = []

    def end_of_tower(self, changes: Sequence[StateChange], is_last: bool) -> None:
        """Takes the keys out again, for the next tower to put them there; the last tower's become the first's."""
        made = [
            (c.holder, c.key)
            for c in changes[self._mark :]
            if isinstance(c.holder, Mapping)
            and isinstance(c.key, Value)
            and not is_known_key(c.key)
            and c.holder.time <= self._began
        ]
        self._mark = len(changes)
        self._first = self._first or made
        for holder, key in made if not is_last else ():
            holder.drop(key)
        for (holder, first), (_, key) in zip(self._first, made, strict=False) if is_last else ():
            holder.pairs = [(first if k is key else k, v) for k, v in holder.pairs]


def towers_loop(towers: TowerRecords, entered: set[str], walk: Walk, loop: ast.For) -> Signal:
    """Executes the body of the loop once for each tower that is walked."""
    block = loop.body[0]
    assert isinstance(block, ast.With)
    names = [n.id for item in block.items for n in ast.walk(item.context_expr) if isinstance(n, ast.Name)]
    kinds = {value.name for n in names if n in entered and isinstance(value := _value_of_name(walk, n), Typed)}
    kinds |= {towers.helpers[n] for n in names if n in towers.helpers}
    calls = [n for item in block.items for n in ast.walk(item.context_expr) if isinstance(n, ast.Call)]
    kinds |= {REUSES for call in calls for keyword in call.keywords if keyword.arg == REUSES}
    kinds |= {REUSES for kind in kinds if kind.startswith("enter_tower")}  # its own variable scope
    before = {key: list(held) for key, held in walk.collections.items()}
    towers.handing, towers.listed = _handing(walk, names), []
    variables, first, filled = walk.facts.variables, walk.collections, _Filled(len(walk.undo_log), walk.clock)
    signal: Signal = None
    for gpu in range(TOWERS):
        begin = walk.clock
        if gpu:
            first = walk.collections
            walk.facts.variables = _Closed(variables)
            walk.collections = {key: _seen(key, held, before, kinds) for key, held in first.items()}
        towers.left = list(towers.listed) if gpu else None
        if towers.handing is not None:
            towers.handing.gpu, towers.handing.turn = gpu, 0
        assign(walk, loop.target, walk.stamp(Number(gpu), loop.iter))
        signal = execute_block(walk, loop.body)
        filled.end_of_tower(walk.undo_log, gpu == TOWERS - 1)
        towers.turns.append((begin, walk.clock, gpu))
        towers.entered.append((begin, walk.clock, kinds))
        if gpu:
            if "MergedCollections" in kinds:
                _pair_collections(towers, walk, first, before)
            _keep_collections(walk, first)
            walk.facts.variables = variables
        if signal:
            break
    towers.handing = towers.listed = None
    return signal


def _handing(walk: Walk, names: Sequence[str]) -> HandedParts | None:
    """The state of the helper that hands the towers their placeholders; None if the loop does not enter one."""
    entered = (value for name in names if isinstance(value := _value_of_name(walk, name), Typed))
    helper = next((value for value in entered if value.name == "TowerInputs"), None)
    if helper is None:
        return None
    return HandedParts(helper.args[0] if helper.args else None, helper.kwargs.get("size"))


def _seen(key: object, held: list[Value], before: dict[object, list[Value]], kinds: set[str]) -> list[Value]:
    """The contents of a collection as a later tower sees them."""
    apart = "TowerPenalties" in kinds and has(str(key), Trait.PENALTIES)
    if has(str(key), Trait.GROWS_WITH_VARIABLES) and not apart:
        return _Closed(held)
    return list(before.get(key, [])) if kinds & APART else held


def _pair_collections(
    towers: TowerRecords, walk: Walk, first: dict[object, list[Value]], before: dict[object, list[Value]]
) -> None:
    """Notes which values of collections the towers made alike."""
    for key, held in walk.collections.items():
        if key in first and not has(str(key), Trait.GROWS_WITH_VARIABLES):
            begin = len(before.get(key, ()))
            for one, two in zip(first[key][begin:], held[begin:], strict=False):
                towers.collected[one.uid] = Merged((one, two), "collected")


def _keep_collections(walk: Walk, first: dict[object, list[Value]]) -> None:
    """After the towers, collections hold what the first put there."""
    for key in list(walk.collections):
        if key in first:
            walk.collections[key] = first[key]
        elif isinstance(walk.collections[key], _Closed):
            walk.collections[key] = list(walk.collections[key])


def _value_of_name(walk: Walk, name: str) -> Value | None:
    found = walk.frame.lookup(name)
    return found[1] if found else None
