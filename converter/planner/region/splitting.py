"""Blocks of which a part is the towers': what is opened once more in front of the loop, or behind it."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.frames import Place
from converter.analysis.values import Input, Value, needed
from converter.planner.found import Found
from converter.planner.outcome import Refused, Reread
from converter.planner.questions.batch_values import depends_on_batch
from converter.planner.region.block import BEHIND, IN_FRONT, Block
from converter.planner.region.collected import is_collected_for
from converter.planner.region.neighbours import makes_input, touched_in
from converter.planner.region.prepared_batches import prepared_batches, prepares
from converter.planner.wording import finding


def in_front(
    facts: Facts, block: Block, tower: set[int], values: Mapping[int, Value]
) -> dict[int, tuple[ast.stmt, ...]] | Refused | Reread:
    """Placeholders inside the towers' `with` blocks: these are opened once more in front of the loop for them."""
    found: dict[int, list[ast.stmt]] = {}
    for value in facts.inputs:
        index = block.statement(value.site)
        if index is None or index not in tower or index < 0:
            continue
        around = block.body[index]
        child = _child(block, value, around) if isinstance(around, ast.With) else None
        alone = isinstance(child, ast.Assign) and _leads(facts, block, around, child)
        inner = Block(facts, block.frame, body_of(around)) if alone else block
        here = inner.index[child] if child is not None and alone else index
        if not alone or prepares(inner, here, values):
            fault = finding(facts, value.node or around, _why_inside(value))
            ready = prepared_batches(facts, inner, here, values)
            return Reread(ready, fault) if ready else Refused((fault,), shorter=True)
        assert isinstance(child, ast.Assign)
        if child not in found.setdefault(index, []):
            found[index].append(child)
    for children in found.values():
        block.move(children, IN_FRONT)
    return {i: tuple(sorted(c, key=lambda s: s.lineno)) for i, c in found.items()}


def _why_inside(value: Input) -> Found:
    """Why an input is made among the statements of the model."""
    if value.op == "fed":
        return Found.FED_IN_PLACE_OF_RESULT
    if any(depends_on_batch(v) for v in needed(value.inputs).values()):
        return Found.DEFAULT_OF_BATCH
    return Found.INPUT_BY_STATEMENT_OF_MODEL


def behind_loop(
    facts: Facts, block: Block, tower: set[int], joined: set[int], made: list[Value], steps: Sequence[TrainStep]
) -> dict[ast.stmt, tuple[ast.stmt, ...]] | Refused:
    """What follows the loss in the towers' `with` blocks and conditions: behind the loop these are opened once more.

    Blocks inside of blocks that are opened again stand among the statements that follow in the outer one.
    joined: statements that the towers execute as well, beside those that compute the loss.
    """
    parts: list[dict[ast.stmt, tuple[ast.stmt, ...]]] = []
    for index in sorted(tower, reverse=True):  # what is left of a later block reads no more of an earlier one
        around = block.body[index]
        trains = [s for s in steps if block.statement(s.site) == index]
        if not isinstance(around, ast.With) and not (trains and isinstance(around, ast.If)):
            if trains and around is not trains[0].site.stmt:
                return Refused((finding(facts, trains[0].call, Found.STEP_IN_STATEMENT_OF_MODEL),), shorter=True)
            continue
        rests = _rests(_Opened(facts, block, index, tower | joined), made, trains)
        if rests is None and trains:
            goes_on = any(later > index for later in tower)
            case = Found.MODEL_GOES_ON_BEHIND_STEP if goes_on else Found.STEP_AMONG_MODEL
            return Refused((finding(facts, trains[0].call, case),), shorter=True)
        deeper: tuple[ast.stmt, ...] = ()
        parts.append({})
        for holder, rest in reversed(rests or []):
            if deeper or rest:
                parts[-1][holder], deeper = (*deeper, *rest), (holder,)
            block.move(rest, BEHIND)
    return {holder: rest for part in reversed(parts) for holder, rest in part.items()}


@dataclass(frozen=True)
class _Opened:
    """A statement of the towers that holds statements of which the last may wait until the loop is over."""

    facts: Facts
    block: Block
    index: int
    tower: set[int]

    @cached_property
    def later(self) -> list[int]:
        """The statements of the towers that follow."""
        return [i for i in self.tower if i > self.index]

    @cached_property
    def touched_later(self) -> tuple[set[Place], set[Place]]:
        """What the statements of the towers that follow read and write."""
        touched = touched_in(self.block)
        return set().union(*(touched[i][0] for i in self.later)), set().union(*(touched[i][1] for i in self.later))

    def last_that_stays(self, inner: Block, last: int) -> int:
        """The last statement of an inner block that the towers execute; those up to `last` compute the loss.

        Of those behind it none writes what later statements of the towers read or write, reads what these write, or
        adds to a collection that they read.
        """
        reads, writes = self.touched_later
        for index in range(len(inner.body) - 1, last, -1):
            read, written, _ = touched_in(inner)[index]
            if written & (reads | writes) or read & writes:
                return index
            if is_collected_for(self.facts, inner, index, self.block, self.later):
                return index
        return last


def _rests(
    opened: _Opened, made: list[Value], trains: list[TrainStep]
) -> list[tuple[ast.stmt, list[ast.stmt]]] | None:
    """Nested blocks, outermost first, each with what follows the loss in it; None where that cannot wait."""
    block = opened.block
    around = block.body[opened.index]
    found: list[tuple[ast.stmt, list[ast.stmt]]] = []
    while _opens_again(block, around, opened.tower):
        inner = Block(opened.facts, block.frame, body_of(around))
        last = max((i for v in made if (i := inner.statement(v.site)) is not None), default=-1)
        stays = opened.last_that_stays(inner, last)
        rest = [stmt for stmt in inner.body[stays + 1 :] if block.moved.get(stmt) != IN_FRONT]
        found.append((around, rest))
        where = {inner.statement(s.site) for s in trains}
        if all(i is not None and i > stays for i in where):
            return found if last >= 0 or isinstance(around, ast.With) else None
        if where != {last} or stays > last:
            return None
        around = inner.body[last]
    return None


def _opens_again(block: Block, stmt: ast.stmt, tower: set[int]) -> bool:
    """Whether a block inside of the towers' can be opened behind the loop as it was in it."""
    if isinstance(stmt, ast.With):
        return True
    if not isinstance(stmt, ast.If) or any(isinstance(n, (ast.Call, ast.NamedExpr)) for n in ast.walk(stmt.test)):
        return False
    test = set(ast.walk(stmt.test))
    reads = {a.place for _, a in block.accesses() if a.node in test}
    return not any(a.write and a.place in reads for i, a in block.accesses() if i in tower)


def body_of(stmt: ast.stmt) -> list[ast.stmt]:
    """The statements inside a `with` or a condition."""
    assert isinstance(stmt, (ast.With, ast.If))
    return stmt.body


def _child(block: Block, value: Value, around: ast.With) -> ast.stmt | None:
    assert value.site is not None
    for site in value.site.chain():
        if site.frame.uid == block.frame.uid and site.stmt in around.body:
            return site.stmt
    return None


def _leads(facts: Facts, block: Block, around: ast.stmt, child: ast.stmt) -> bool:
    """Whether a statement can go in front of the others of its block."""
    inner = Block(facts, block.frame, body_of(around))
    touched = touched_in(inner)
    place = inner.index[child]
    reads, writes, _ = touched[place]
    return not any(
        writes & (touched[i][0] | touched[i][1]) or reads & touched[i][1]
        for i in range(place)
        if not makes_input(inner, facts, i)
    )
