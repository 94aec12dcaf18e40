"""Statements between those of the towers: they go in front of the loop, behind it, or into the towers."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import Enum
from functools import cached_property

from converter.analysis.effects import READS_COLLECTION, VARIABLES, EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.frames import Access, Place
from converter.analysis.inputs.embedded_data import DATA
from converter.analysis.traits import Trait, has
from converter.analysis.values import FED, Input, Instance, Sequence, Tensor, Value, needed
from converter.dataclass import dataclass
from converter.planner.outcome import Refused
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.batch_values import carries_batch, is_made_of_shard
from converter.planner.questions.outside_calls import is_foreign
from converter.planner.questions.statements import LOGS, called, is_text, returned_by, returns
from converter.planner.region.block import Block, Touched
from converter.planner.region.collected import is_collected_for
from converter.planner.region.containers import is_filled
from converter.planner.region.handed import can_be_handed
from converter.planner.region.incomplete_lists import listed_between
from converter.planner.region.neighbours import makes_input, touched_in
from converter.planner.region.normalised import takes_statistics
from converter.planner.region.variable_reuse import (
    asks_in_reused_scope,
    finds_variables,
    makes_variables,
    numbers_names,
    sets_reuse,
)
from converter.planner.wording import finding

# What a statement sees of the graph as it is by then: it must not go in front of those that build it.
GRAPH_STATE = {EffectKind.GRAPH_STATE, *READS_COLLECTION}

CLOCKS = ("time", "clock", "perf_counter", "monotonic", "process_time", "default_timer", "now")


class Side(Enum):
    """Where a statement goes."""

    BEFORE = "before"
    TOWER = "tower"
    AFTER = "after"


@dataclass(frozen=True)
class Order:
    """The indexes of a block's statements in front of the loop, in it, and behind it."""

    before: set[int]
    tower: set[int]
    after: set[int]


@dataclass(frozen=True)
class _Between:
    """A statement between those of the towers that are known so far.

    after: indexes of the statements that go behind the loop. written_out: places read by losses that are written out
    where they are minimised. collects: whether one of these takes what a collection holds. late: whether a return may
    be put off until the end of the loop. handing: whether the towers may make placeholders, of which each is handed
    its rows.
    """

    facts: Facts
    block: Block
    index: int
    tower: set[int]
    after: set[int]
    touched: Touched
    written_out: set[Place]
    collects: bool
    late: bool
    handing: bool

    @property
    def stmt(self) -> ast.stmt:
        return self.block.body[self.index]

    @cached_property
    def read(self) -> list[Access]:
        return [a for i, a in self.block.accesses() if i == self.index and not a.write]

    @cached_property
    def from_tower(self) -> bool:
        """Whether the statement reads something that the towers make."""
        return any(_made_in(self.block, a.value, self.tower) for a in self.read)

    @cached_property
    def earlier(self) -> list[int]:
        """Statements of the towers and behind them that stand above it."""
        return [i for i in self.tower | self.after if i < self.index]

    @cached_property
    def later(self) -> list[int]:
        """Statements of the towers that stand below it."""
        return [i for i in self.tower if i > self.index]

    @cached_property
    def makes_input(self) -> bool:
        return makes_input(self.block, self.facts, self.index)

    @cached_property
    def leads_to_input(self) -> bool:
        """Whether a value that it makes is fed, or computed on to one that is: runs of their own take the whole batch.

        The script computes weights of the examples in one run, say, and feeds them to the next, which trains.
        """
        fed = [i for i in self.facts.inputs if i.op == FED and (self.block.statement(i.site) or 0) > self.index]
        behind = needed(value for made in fed for value in made.inputs).values() if fed else ()
        return any(self.block.statement(value.site) == self.index for value in behind)

    @cached_property
    def stays_out(self) -> bool:
        """Whether it makes an input that no tower can be handed a part of."""
        made = [i for i in self.facts.inputs if self.block.statement(i.site) == self.index]
        return bool(made) and not (self.handing and all(can_be_handed(i, self.stmt) for i in made))

    @cached_property
    def keeps_order(self) -> bool:
        """Whether it makes variables in a script that tells them apart by their positions in a list."""
        return self.facts.told_by_position and _makes_any_variable(self.block, {self.index})

    def clashes(self, others: Iterable[int]) -> bool:
        """Whether it writes what others touch, or reads what they write."""
        reads, writes, _ = self.touched[self.index]
        return any(writes & (self.touched[i][0] | self.touched[i][1]) or reads & self.touched[i][1] for i in others)


def sort_out(
    facts: Facts, block: Block, chosen: set[int], inline: set[ast.AST], late: bool = True, handing: bool = False
) -> Order | Refused:
    """Statements between those of the towers: before the loop, after it, or into it.

    inline: the nodes of losses that are written out where they are minimised, and computed in the towers all the same.
    late: whether a return may be put off until the end of the loop, where nothing below it goes in front of the loop.
    handing: whether the towers may make placeholders, of which each is handed its rows.
    """
    touched = touched_in(block)
    tower = set(chosen)
    written_out = {a.place for _, a in block.accesses() if a.node in inline and not a.write}
    trained = max((i for i, a in block.accesses() if a.node in inline), default=0)
    collects = any(e.node in inline and _takes_collected(e) for e in facts.effects)
    needed_there = [i for i in range(trained) if touched[i][1] & written_out]
    needed_there += [i for i in range(trained) if collects and _is_unseen(block, i)]
    while True:
        first = min(tower)
        last = max(*tower, *needed_there, first)
        before: set[int] = set()
        after: set[int] = set()
        joined = False
        for index in (i for i in range(first, last + 1) if i not in tower):
            between = _Between(
                facts=facts,
                block=block,
                index=index,
                tower=tower,
                after=after,
                touched=touched,
                written_out=written_out,
                collects=collects,
                late=late,
                handing=handing,
            )
            side = _side(between)
            if isinstance(side, PlanFault):
                return Refused((finding(facts, block.body[index], side),))
            if side is Side.TOWER:
                tower.add(index)
                joined = True
                break
            (before if side is Side.BEFORE else after).add(index)
        ends = [i for i in after if returns(block.body[i])]
        if not joined and ends and max(before, default=0) > min(ends):
            return sort_out(facts, block, chosen, inline, late=False, handing=handing)
        if not joined:
            return _with_comments(block, Order(before, tower, after))


def _with_comments(block: Block, order: Order) -> Order:
    """Strings that serve as comments go with the statement below them, which they are about."""
    sides = {side: set(getattr(order, side.value)) for side in Side}
    for index in range(max(order.tower) - 1, 0, -1):
        below = next((side for side in Side if index + 1 in sides[side]), None)
        if is_text(block.body[index]) and below is not None:
            sides = {side: members - {index} for side, members in sides.items()}
            sides[below] |= {index}
    return Order(*(sides[side] for side in (Side.BEFORE, Side.TOWER, Side.AFTER)))


def _side(at: _Between) -> Side | PlanFault:
    """Where a statement goes, or why it can go nowhere."""
    if isinstance(at.stmt, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return PlanFault.BETWEEN_ENDS_BLOCK
    ends = list(returned_by(at.stmt))
    if ends and at.late and _may_end_behind(at):
        return Side.AFTER
    if not at.facts.returned.isdisjoint(ends):
        return PlanFault.BETWEEN_MAY_RETURN
    if _belongs_to_towers(at):
        return Side.TOWER
    movable = _may_go_before(at)
    makes_raw = any(e.kind is EffectKind.RAW_VARIABLE for e in at.block.effects_in([at.index]))
    tower_raw = any(e.kind is EffectKind.RAW_VARIABLE for e in at.block.effects_in(at.earlier))
    alone = not _reads_batch(at) or at.makes_input or at.leads_to_input or _makes_what_towers_find(at)
    if movable and not (makes_raw and tower_raw) and alone:
        return Side.AFTER if _is_told_behind(at) else Side.BEFORE
    if isinstance(at.stmt, (ast.FunctionDef, ast.ClassDef)):
        return Side.TOWER if not movable else Side.BEFORE
    if _towers_need(at):
        return Side.TOWER if not at.stays_out else PlanFault.BETWEEN_MAKES_INPUT
    return _side_of_rest(at)


def _may_end_behind(at: _Between) -> bool:
    """Whether the towers' statements below a return may be executed in front of it: they only add operations then.

    They make no variables, and the tensors that they read are made in this block: no argument that may be missing.
    What a function called by them reads under a name of its own, it was given by an expression that is looked at.
    """
    later = set(at.later)
    if _makes_any_variable(at.block, later):
        return False
    for index, access in at.block.accesses():
        if index in later and not access.write and isinstance(access.value, Tensor):
            bound_by = access.place.frame.call_site if access.place.frame is not None else None
            if at.block.statement(bound_by) not in later and at.block.statement(access.value.site) is None:
                return False
    return True


def _belongs_to_towers(at: _Between) -> bool:
    """True if each tower must execute a statement: the towers depend on it, or would see what it changes."""
    facts, block = at.facts, at.block
    own = block.effects_in([at.index])
    changed = {e.value.uid for e in own if e.kind is EffectKind.MUTATION and e.value}
    in_front = not at.from_tower and (at.makes_input or at.leads_to_input or not _reads_batch(at))
    seeing = at.earlier if in_front else at.tower
    if any(changed & at.touched[i][2] for i in seeing):
        return True
    if at.from_tower and is_collected_for(facts, block, at.index, block, at.later):
        return True
    if listed_between(facts, block, at.tower, own):
        return True
    if _makes_container_for(block, at.index, at.touched, at.later):
        return True
    if takes_statistics(block, at.index) and (at.from_tower or _reads_batch(at)) and not at.stays_out:
        return True
    reuses = sets_reuse(facts, block, at.index)
    return reuses and makes_variables(block, set(at.later)) and not at.makes_input


def _may_go_before(at: _Between) -> bool:
    """True if a statement has the same effect when it is moved before the towers' statements above it."""
    facts, block = at.facts, at.block
    if at.from_tower or sets_reuse(facts, block, at.index):
        return False
    if any(e.kind in GRAPH_STATE for e in block.effects_in([at.index])):
        return False
    above = {i for i in at.tower if i < at.index}
    finds = finds_variables(block, {at.index}) or asks_in_reused_scope(block, at.index)
    if finds and makes_variables(block, above):
        return False
    if numbers_names(block, {at.index}) and numbers_names(block, above):
        return False
    if is_collected_for(facts, block, at.index, block, at.earlier) or at.clashes(at.earlier):
        return False
    return not (at.keeps_order and _makes_any_variable(block, {i for i in at.earlier if i in at.tower}))


def _is_told_behind(at: _Between) -> bool:
    """True for a line that prints, or that reads the clock, and that nothing of the towers needs.

    It comes after what stands above it, so that it tells of that: how long the model took, or that it is built.
    """
    value = getattr(at.stmt, "value", None)
    names = LOGS if isinstance(at.stmt, ast.Expr) else CLOCKS if isinstance(at.stmt, ast.Assign) else ()
    if not isinstance(value, ast.Call) or called(value) not in names:
        return False
    if any(at.block.statement(tensor.site) == at.index for tensor in at.facts.tensors):  # it makes operations, too
        return False
    return not _towers_need(at) and not at.clashes(at.later)


def _reads_batch(at: _Between) -> bool:
    """Whether a statement reads a batch that a feed or a pipeline brings in.

    An object is read for the sake of its attributes, and these are read on their own account.
    """
    return any(carries_batch(a.value) for a in at.read if not isinstance(a.value, Instance) and not _is_data(a.value))


def _makes_what_towers_find(at: _Between) -> bool:
    """True if a statement creates variables that later statements of the towers may look up with `reuse`."""
    return makes_variables(at.block, {at.index}) and finds_variables(at.block, set(at.later))


def _towers_need(at: _Between) -> bool:
    """Whether later statements of the towers, or losses that are written out, read what a statement writes."""
    writes = at.touched[at.index][1]
    fed_by = any(writes & at.touched[i][0] for i in at.later) or bool(writes & at.written_out)
    return fed_by or is_collected_for(at.facts, at.block, at.index, at.block, at.later)


def _side_of_rest(at: _Between) -> Side | PlanFault:
    """The side of a statement that cannot go before the loop and that the towers do not need."""
    block = at.block
    if not at.clashes(at.later):
        if _is_unseen(block, at.index) and (at.collects or _takes_any(block, at.later)):
            return PlanFault.BETWEEN_MAY_COLLECT
        if at.keeps_order and _makes_any_variable(block, set(at.later)):
            return Side.TOWER
        if _makes_what_towers_find(at) and not at.stays_out:
            return Side.TOWER
        if not _names_a_part(at):
            counts = numbers_names(block, {at.index}) and numbers_names(block, set(at.later))
            return Side.TOWER if counts and not at.stays_out else Side.AFTER
    return Side.TOWER if not at.stays_out else PlanFault.BETWEEN_UNMOVABLE


def _names_a_part(at: _Between) -> bool:
    """True if a statement only names a result of an object of the towers: that can be merged, the object cannot."""
    body = at.stmt.body if isinstance(at.stmt, ast.With) else [at.stmt]
    return all(isinstance(s, ast.Assign) for s in body) and any(
        is_made_of_shard(a.value) and _made_in(at.block, a.value, at.tower) for a in at.read
    )


def _makes_any_variable(block: Block, indexes: set[int]) -> bool:
    """Whether some statements make variables of any kind."""
    return any(e.kind in VARIABLES for e in block.effects_in(indexes))


def _makes_container_for(block: Block, index: int, touched: Touched, later: Iterable[int]) -> bool:
    """Whether a statement does nothing but make lists or dicts that later statements of the towers fill."""
    made = [a.value for i, a in block.accesses() if i == index and a.write]
    if not made or not all(is_filled(v) and block.statement(v.site) == index for v in made):
        return False
    if not isinstance(block.body[index], ast.Assign) or any(_is_repeated(v) for v in made):
        return False
    filled = {place.owner for i in later for place in touched[i][1] if place.kind == "contents"}
    return any(value.uid in filled for value in made)


def _is_repeated(value: Value) -> bool:
    """Whether a list was made with a number: `[0] * batch_size`."""
    return isinstance(value, Sequence) and any(v not in value.elements for v in value.inputs)


def _is_unseen(block: Block, index: int) -> bool:
    """True if a statement calls code that is not followed, which may add to any collection."""
    calls = [e for e in block.effects_in([index]) if e.kind is EffectKind.UNFOLLOWED]
    return any(is_foreign(e.value) for e in calls if e.value is not None)


def _takes_any(block: Block, later: Iterable[int]) -> bool:
    """Whether some statements take what a collection holds."""
    return any(_takes_collected(effect) for effect in block.effects_in(later))


def _takes_collected(effect: Effect) -> bool:
    """Whether what a collection holds is taken here, other than variables."""
    return effect.kind in READS_COLLECTION and not has(effect.name, Trait.VARIABLE_COLLECTION)


def _made_in(block: Block, value: Value, tower: set[int]) -> bool:
    return block.statement(value.site) in tower or any(block.statement(v.site) in tower for v in value.inputs)


def _is_data(value: Value) -> bool:
    """True if a value is data in the graph: other values computed from it can stay before the loop."""
    return isinstance(value, Input) and value.op == DATA
