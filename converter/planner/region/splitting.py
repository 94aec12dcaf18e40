"""Blocks of which a part is the towers': what is opened once more in front of the loop, or behind it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.values import Input, Value, needed
from converter.planner.outcome import Refused, Reread
from converter.planner.questions.batch_values import depends_on_batch
from converter.planner.region.block import BEHIND, IN_FRONT, Block
from converter.planner.region.neighbours import makes_input, touched_in
from converter.planner.region.prepared_batches import prepared_batches, prepares
from converter.planner.writing.findings import error


def in_front(
    facts: Facts, block: Block, tower: set[int], values: dict[int, Value]
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
        inner = Block(facts, block.frame, around.body) if alone else block  # type: ignore[attr-defined]
        here = inner.index[child] if child is not None and alone else index
        if not alone or prepares(inner, here, values):
            fault = error(facts, value.node or around, "TMG204", *_why_inside(value))
            ready = prepared_batches(facts, inner, here, values)
            return Reread(ready, fault) if ready else Refused((fault,))
        assert isinstance(child, ast.Assign)
        if child not in found.setdefault(index, []):
            found[index].append(child)
    for children in found.values():
        block.move(children, IN_FRONT)
    return {i: tuple(sorted(c, key=lambda s: s.lineno)) for i, c in found.items()}


def _why_inside(value: Input) -> tuple[str, str]:
    """Why an input is made among the statements of the model, and what to do."""
    if value.op == "fed":
        return "this is computed by the model and fed in its stead", "feed a placeholder that is made before the model"
    if any(depends_on_batch(v) for v in needed(value.inputs).values()):
        what = "the default of this input is computed from the batch by the model"
        return what, "compute it before the statements that build the model"
    return (
        "this input is made by the same statement as the model that reads it",
        "make the placeholders before the statements that build the model",
    )


def behind_loop(
    facts: Facts, block: Block, tower: set[int], made: list[Value], steps: Sequence[TrainStep]
) -> dict[ast.stmt, tuple[ast.stmt, ...]] | Refused:
    """What follows the loss in the towers' `with` blocks and conditions: behind the loop these are opened once more.

    Blocks inside of blocks that are opened again stand among the statements that follow in the outer one.
    """
    parts: list[dict[ast.stmt, tuple[ast.stmt, ...]]] = []
    for index in sorted(tower, reverse=True):  # what is left of a later block reads no more of an earlier one
        around = block.body[index]
        trains = [s for s in steps if block.statement(s.site) == index]
        if not isinstance(around, ast.With) and not (trains and isinstance(around, ast.If)):
            if trains and around is not trains[0].site.stmt:
                return _refused(
                    facts,
                    trains[0],
                    "the training step stands in the same statement as the model",
                    "take the gradients in a statement of its own, after the loss",
                )
            continue
        rests = _rests(facts, block, index, tower, made, trains)
        if rests is None and trains:
            goes_on = any(later > index for later in tower)
            what = "the model goes on behind the block in which this training step stands"
            among = "the training step stands among the statements of the model"
            return _refused(facts, trains[0], what if goes_on else among, "take the gradients after the loss")
        deeper: tuple[ast.stmt, ...] = ()
        parts.append({})
        for holder, rest in reversed(rests or []):
            if deeper or rest:
                parts[-1][holder], deeper = (*deeper, *rest), (holder,)
            block.move(rest, BEHIND)
    return {holder: rest for part in reversed(parts) for holder, rest in part.items()}


def _refused(facts: Facts, step: TrainStep, message: str, hint: str) -> Refused:
    return Refused((error(facts, step.call, "TMG219", message, hint),))


def _rests(
    facts: Facts, block: Block, index: int, tower: set[int], made: list[Value], trains: list[TrainStep]
) -> list[tuple[ast.stmt, list[ast.stmt]]] | None:
    """Nested blocks, outermost first, each with what follows the loss in it; None where that cannot wait."""
    around = block.body[index]
    found: list[tuple[ast.stmt, list[ast.stmt]]] = []
    while _opens_again(block, around, tower):
        inner = Block(facts, block.frame, around.body)  # type: ignore[attr-defined]
        last = max((i for v in made if (i := inner.statement(v.site)) is not None), default=-1)
        rest = [stmt for stmt in inner.body[last + 1 :] if block.moved.get(stmt) != IN_FRONT]
        if rest and not _trails(block, index, tower, inner, last):
            return None
        found.append((around, rest))
        where = {inner.statement(s.site) for s in trains}
        if all(i is not None and i > last for i in where):
            return found if last >= 0 or isinstance(around, ast.With) else None
        if where != {last}:
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


def _trails(block: Block, index: int, tower: set[int], inner: Block, last: int) -> bool:
    """Whether the rest of a with block can wait until the loop is over."""
    writes = {a.place for i, a in inner.accesses() if i > last and a.write}
    return not any(i > index and i in tower and a.place in writes for i, a in block.accesses())


def _child(block: Block, value: Value, around: ast.With) -> ast.stmt | None:
    assert value.site is not None
    for site in value.site.chain():
        if site.frame.uid == block.frame.uid and site.stmt in around.body:
            return site.stmt
    return None


def _leads(facts: Facts, block: Block, around: ast.stmt, child: ast.stmt) -> bool:
    """Whether a statement can go in front of the others of its block."""
    inner = Block(facts, block.frame, around.body)  # type: ignore[attr-defined]
    touched = touched_in(inner)
    place = inner.index[child]
    reads, writes, _ = touched[place]
    return not any(
        writes & (touched[i][0] | touched[i][1]) or reads & touched[i][1]
        for i in range(place)
        if not makes_input(inner, facts, i)
    )
