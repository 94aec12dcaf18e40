"""Blocks that hold more than the towers' statements: they are opened again before the loop, or after it.

    with tf.name_scope('net'):                      with tf.name_scope('net'):
        x = tf.placeholder(tf.float32, [None, 4])       x = tf.placeholder(tf.float32, [None, 4])
        h = tf.layers.dense(x, 3)                   for gpu in range(num_gpus):
        loss = tf.reduce_mean(h)                        with …, tf.name_scope('net'):
        top = tf.argmax(h, 1)                               h = tf.layers.dense(x, 3)
                                                            loss = tf.reduce_mean(h)
                                                    with tf.name_scope('net'):
                                                        top = tf.argmax(h, 1)

The towers execute the `with` statement. `in_front` finds the placeholder in it, which has to be there before the loop
begins; `behind_loop` finds what follows the loss in it, which reads merged values. Both return the block without these
statements (`Block.without`), so that what they read and write is no longer the towers'.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.frames import Place
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Site, Value, needed
from converter.dataclass import dataclass
from converter.planner.outcome import Refused, Reread
from converter.planner.plan_faults import PlanFault
from converter.planner.questions.batch_values import depends_on_batch
from converter.planner.region.block import BEHIND, IN_FRONT, Block, block_of
from converter.planner.region.collected import is_collected_for
from converter.planner.region.handed import can_be_handed, stays_at_default
from converter.planner.region.neighbours import makes_input, touched_in
from converter.planner.region.normalised import takes_statistics
from converter.planner.region.prepared_batches import prepared_batches, prepares
from converter.planner.wording import finding
from converter.planner.writing.findings import line_seen_from


def in_front(
    facts: Facts, block: Block, tower: set[int], values: Mapping[int, Value], handing: bool = False
) -> tuple[dict[int, tuple[ast.stmt, ...]], Block] | Refused | Reread:
    """Statements in the towers' `with` blocks that make placeholders, and the block without them.

    They are given by the index of their `with` block, in their order.
    Refused for an input that is made where it cannot be moved: in the middle of an expression, or behind a statement
    that it needs. Where that prepares whole batches, another reading may take their results for the inputs.
    handing: whether placeholders may stay, of which each tower is handed its rows.
    """
    found: dict[int, list[ast.stmt]] = {}
    for value in facts.inputs:
        index = block.statement(value.site)
        if index is None or index not in tower or stays_at_default(facts, block, tower, value):
            continue
        around = block.body[index]
        maker = _leading_maker(facts, block, value, around)
        inner = block if maker is None else block_of(facts, block.frame, body_of(around))
        here = index if maker is None else inner.index[maker]
        if maker is None or prepares(inner, here, values):
            if handing and can_be_handed(value, around):
                continue
            why = _why_inside(value)
            if why is PlanFault.INPUT_BY_STATEMENT_OF_MODEL and isinstance(around, ast.FunctionDef | ast.ClassDef):
                why = PlanFault.INPUT_OF_UNCALLED_CODE
            node = value.node or around
            line = line_seen_from(facts, node, around)
            fault = finding(facts, node, why, name=getattr(around, "name", ""), line=line)
            ready = prepared_batches(inner, {here}, values)
            return Reread(ready, fault) if ready else Refused((fault,), shorter=True)
        if maker not in found.setdefault(index, []):
            found[index].append(maker)
    ordered = {index: tuple(sorted(makers, key=lambda stmt: stmt.lineno)) for index, makers in found.items()}
    return ordered, block.without([maker for makers in found.values() for maker in makers], IN_FRONT)


def _leading_maker(facts: Facts, block: Block, value: Value, around: ast.stmt) -> ast.Assign | None:
    """The assignment in a `with` block that makes an input, and that can go in front of the others there."""
    child = _child(block, value, around) if isinstance(around, ast.With) else None
    return child if isinstance(child, ast.Assign) and _leads(facts, block, around, child) else None


def _why_inside(value: Input) -> PlanFault:
    """Why an input is made among the statements of the model."""
    if value.op == "fed":
        return PlanFault.FED_IN_PLACE_OF_RESULT
    if has(value.op, Trait.HAS_DEFAULT) and any(depends_on_batch(v) for v in needed(value.inputs).values()):
        return PlanFault.DEFAULT_OF_BATCH
    return PlanFault.INPUT_BY_STATEMENT_OF_MODEL


@dataclass(frozen=True)
class SplitLosses:
    """What the towers compute, and what trains on it.

    made: the values that the towers compute. steps: the training steps.
    inline: what losses read that are written out where they are minimised, and computed in the towers all the same.
    staying: statements that the towers execute as they do in other executions of the same blocks.
    """

    made: list[Value]
    steps: Sequence[TrainStep]
    inline: frozenset[Place]
    staying: frozenset[ast.stmt] = frozenset()

    def last_in(self, block: Block) -> int:
        """The last statement of a block that computes for the losses; -1 for none."""
        computing = (i for value in self.made if (i := block.statement(value.site)) is not None)
        return max((*computing, *(i for i, stmt in enumerate(block.body) if stmt in self.staying)), default=-1)


def behind_loop(
    facts: Facts, block: Block, tower: set[int], joined: set[int], losses: SplitLosses
) -> tuple[dict[ast.stmt, tuple[ast.stmt, ...]], Block] | Refused:
    """What follows the loss in the towers' `with` blocks and conditions, and the towers' block without it.

    It is given by the `with` block or condition, which is opened again behind the loop.

    A block inside of a block that is opened again stands as one statement among those that follow in the outer one.
    Refused where a training step stands in the middle of what the towers compute.
    joined: statements that the towers execute as well, beside those that compute the loss.
    """
    made, steps = losses.made, losses.steps
    parts: list[dict[ast.stmt, tuple[ast.stmt, ...]]] = []
    for index in sorted(tower, reverse=True):  # what is left of a later block reads no more of an earlier one
        around = block.body[index]
        trains = [s for s in steps if block.statement(s.site) == index]
        if not isinstance(around, ast.With) and not (trains and isinstance(around, ast.If)):
            if trains and (around is not trains[0].site.stmt or _is_needed(index, tower, trains)):
                return _among_model(_Among(facts, block, index, tower, made), trains)
            continue
        opened = _Opened(facts=facts, block=block, index=index, tower=tower | joined, trains=trains, losses=losses)
        both: dict[ast.stmt, tuple[ast.stmt, ...]] = {}
        for of_arm in _by_arm(around, trains):
            rests = _rests(opened, of_arm)
            if rests is None and trains:
                return _among_model(_Among(facts, block, index, tower, made), of_arm)
            for holder, rest in _by_holder(rests or []).items():
                both[holder] = (*both.get(holder, ()), *rest)
            for _, moved in reversed(rests or []):
                block = block.without(moved, BEHIND)
        parts.append(both)
    return {holder: rest for part in reversed(parts) for holder, rest in part.items()}, block


def _by_arm(around: ast.stmt, trains: list[TrainStep]) -> list[list[TrainStep]]:
    """The training steps in each branch of a condition; all of them together for a `with` block."""
    if not isinstance(around, ast.If):
        return [trains]
    inside = [[s for s in trains if _stands_in(arm, s.site)] for arm in (around.body, around.orelse)]
    return [steps for steps in inside if steps]


def _stands_in(body: list[ast.stmt], site: Site | None) -> bool:
    return site is not None and any(one.stmt in body for one in site.chain())


def _is_needed(index: int, tower: set[int], trains: Sequence[TrainStep]) -> bool:
    """Whether the towers need the statement of a training step: for a loss with a name, or what follows it."""
    return any(later > index for later in tower) or isinstance(trains[0].loss_node, ast.Name)


@dataclass(frozen=True)
class _Among:
    """The statement of the towers that holds a training step. made: the values that the towers compute."""

    facts: Facts
    block: Block
    index: int
    tower: set[int]
    made: Sequence[Value]


def _among_model(case: _Among, trains: Sequence[TrainStep]) -> Refused:
    """The refusal of a training step in the middle of what the towers compute, with what stands in the way."""
    facts, around, step = case.facts, case.block.body[case.index], trains[0]
    later = [case.block.body[i] for i in sorted(case.tower) if i > case.index]
    computing = {site.stmt for v in case.made if v.site for site in v.site.chain()}
    loop, branch = _loop_around(around, step), _branch_of(around, step)
    loop, branch = (loop if loop in computing else None), (branch if branch in computing else None)
    opened = isinstance(around, (ast.With, ast.If))
    both = next((site.stmt for site in step.site.chain() if site.stmt in computing or site.stmt is around), around)
    named: ast.stmt
    if loop is not None:
        kind, named = PlanFault.STEP_IN_LOOP_OF_MODEL, loop
    elif later and (opened or around is step.site.stmt):
        kind, named = PlanFault.MODEL_GOES_ON_BEHIND_STEP, later[-1]
    elif not opened:
        kind, named = PlanFault.STEP_IN_STATEMENT_OF_MODEL, around
    elif branch is not None:
        kind, named = PlanFault.STEP_IN_BRANCH_OF_MODEL, branch
    elif not isinstance(both, (ast.With, ast.If)):
        kind, named = PlanFault.STEP_IN_STATEMENT_OF_MODEL, both
    else:
        kind, named = PlanFault.STEP_AMONG_MODEL, around
    at = _step_seen_in(around if named in later else named, step)
    fault = finding(facts, at, kind, line=line_seen_from(facts, at, named))
    return Refused((fault,), shorter=True)


def _step_seen_in(block: ast.stmt, step: TrainStep) -> ast.AST:
    """Where a block takes the training step: its own statement that calls what takes it, if that stands elsewhere."""
    within = set(ast.walk(block))
    if step.call in within:
        return step.call
    return next((site.stmt for site in step.site.chain() if site.stmt in within), step.call)


def _loop_around(around: ast.stmt, step: TrainStep) -> ast.For | ast.While | None:
    """The innermost loop in a statement that a training step stands in, also of a caller."""
    for site in step.site.chain():
        if isinstance(site.stmt, (ast.For, ast.While)):
            return site.stmt
        if site.stmt is around:
            return None
    return None


def _branch_of(around: ast.stmt, step: TrainStep) -> ast.If | None:
    """The condition in whose branch a training step stands, without a loop in between."""
    for site in step.site.chain():
        if isinstance(site.stmt, (ast.For, ast.While)):
            return None
        if isinstance(site.stmt, ast.If):
            return site.stmt
        if site.stmt is around:
            return None
    return None


def _by_holder(rests: list[tuple[ast.stmt, list[ast.stmt]]]) -> dict[ast.stmt, tuple[ast.stmt, ...]]:
    """The statements that follow in each block, innermost first; a reopened block comes first in the outer one."""
    found: dict[ast.stmt, tuple[ast.stmt, ...]] = {}
    deeper: tuple[ast.stmt, ...] = ()
    for holder, rest in reversed(rests):
        if deeper or rest:
            found[holder], deeper = (*deeper, *rest), (holder,)
    return found


@dataclass(frozen=True)
class _Opened:
    """A statement of the towers whose block ends with statements that may move after the loop.

    trains: the training steps in it.
    """

    facts: Facts
    block: Block
    index: int
    tower: set[int]
    trains: Sequence[TrainStep]
    losses: SplitLosses

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
        adds to a collection that they read. None in front of a training step writes what its loss reads, if that is
        written out there, or takes statistics of a batch.
        """
        reads, writes = self.touched_later
        trained = min((i for s in self.trains if (i := inner.statement(s.site)) is not None), default=len(inner.body))
        for index in range(len(inner.body) - 1, last, -1):
            read, written, _ = touched_in(inner)[index]
            if written & (reads | writes) or read & writes or (index < trained and written & self.losses.inline):
                return index
            if index < trained and takes_statistics(inner, index):
                return index
            if is_collected_for(self.facts, inner, index, self.block, self.later):
                return index
        return last


def _rests(opened: _Opened, trains: list[TrainStep]) -> list[tuple[ast.stmt, list[ast.stmt]]] | None:
    """Nested blocks, outermost first, each with the statements after the loss; None if these cannot be moved.

    Goes one level down as long as the statement that holds the end of the loss holds the training steps, too:

        with a:                     # (with a, [s])
            with b:                 # (with b, [minimize(loss), t])
                loss = …
                minimize(loss); t
            s
    """
    block = opened.block
    around = block.body[opened.index]
    found: list[tuple[ast.stmt, list[ast.stmt]]] = []
    while _opens_again(block, around, opened.tower):
        body = around.orelse if isinstance(around, ast.If) and _in_other(around, trains) else body_of(around)
        inner = block_of(opened.facts, block.frame, body)
        last = opened.losses.last_in(inner)
        stays = opened.last_that_stays(inner, last)
        found.append((around, [s for s in inner.body[stays + 1 :] if block.moved.get(s) != IN_FRONT]))
        where = {inner.statement(s.site) for s in trains}
        all_behind = all(i is not None and i > stays for i in where)
        if all_behind:
            if last < 0 and not isinstance(around, ast.With):
                return None
            return found + (_rests_of_loss(opened, inner.body[last]) if last == stays >= 0 else [])
        with_the_loss = where == {last} and stays <= last
        if not with_the_loss:
            return None
        around = inner.body[last]
    return None


def _in_other(around: ast.If, trains: list[TrainStep]) -> bool:
    """Whether training steps stand in the `else` of a condition."""
    return any(_stands_in(around.orelse, step.site) for step in trains)


def _rests_of_loss(opened: _Opened, around: ast.stmt) -> list[tuple[ast.stmt, list[ast.stmt]]]:
    """Statements after the loss in `with` blocks that hold the loss but no training step, such as summaries."""
    found: list[tuple[ast.stmt, list[ast.stmt]]] = []
    while isinstance(around, ast.With):
        inner = block_of(opened.facts, opened.block.frame, body_of(around))
        last = opened.losses.last_in(inner)
        stays = opened.last_that_stays(inner, last)
        rest = [s for s in inner.body[stays + 1 :] if opened.block.moved.get(s) != IN_FRONT]
        found.append((around, rest))
        if last != stays or last < 0:
            break
        around = inner.body[last]
    while found and not found[-1][1]:
        found.pop()
    return found


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
    inner = block_of(facts, block.frame, body_of(around))
    touched = touched_in(inner)
    place = inner.index[child]
    reads, writes, _ = touched[place]
    return not any(
        writes & (touched[i][0] | touched[i][1]) or reads & touched[i][1]
        for i in range(place)
        if not makes_input(inner, facts, i)
    )
