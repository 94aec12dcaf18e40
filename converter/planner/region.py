"""Places the tower loop: in which block, around which statements, and what goes before and after."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.frames import Access, Frame, Place
from converter.analysis.values import Input, Tensor, Value, tensors_in
from converter.diagnostics import Diagnostic, Refusal
from converter.planner.trail import Block, Step, depends_on_batch, needed, path, suites

HOISTED_EFFECTS = {"placeholder", "flag", "session"}


@dataclass(frozen=True)
class Region:
    """The block of the loop and the sorted indexes of its statements."""

    block: Block
    before: tuple[int, ...]
    tower: tuple[int, ...]
    after: tuple[int, ...]
    inputs: tuple[Input, ...]
    needed: dict[int, Value]
    start: int  # the walk's clock when the first tower statement began
    end: int  # and when the last one had ended

    def in_tower(self, site: object) -> bool:
        index = self.block.statement(site)  # type: ignore[arg-type]
        return index is not None and index in self.tower


def find_region(facts: Facts, steps: Sequence[TrainStep]) -> Region:
    values = needed(step.loss for step in steps)
    inputs = tuple(v for v in values.values() if isinstance(v, Input) and v.batch.kind == "example")
    if not inputs:
        raise refuse(facts, steps[0].call, "TMG202", "no batch of examples goes into the loss of this training step",
                     "feed examples through placeholders with a batch axis, such as [None, …]")  # fmt: skip
    made = [v for v in values.values() if depends_on_batch(v) and not isinstance(v, Input) and v.site is not None]
    block = _block(facts, made, [s.loss for s in steps])
    tower = {index for v in made if (index := block.statement(v.site)) is not None}
    if not tower:
        raise refuse(facts, steps[0].call, "TMG214", "the statements that build the loss are not in one place", "")
    tower = _close(block, tower, inputs, facts)
    before, tower, after = _sort_out(facts, block, tower, inputs, values)
    _check_inputs(facts, block, tower, inputs)
    times = [a.time for i, a in block.accesses() if i in tower]
    times += [v.time for v in facts.tensors if block.statement(v.site) in tower]
    return Region(
        block, tuple(sorted(before)), tuple(sorted(tower)), tuple(sorted(after)), inputs, values, min(times), max(times)
    )


def refuse(facts: Facts, node: ast.AST, code: str, message: str, hint: str) -> Refusal:
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0) + 1
    return Refusal(Diagnostic(code, facts.path, line, column, message, hint))


# -- which block ----------------------------------------------------------------------------------


def _block(facts: Facts, made: list[Value], losses: list[Tensor]) -> Block:
    """The innermost block that all statements between the inputs and the losses lie in."""
    where = suites(facts.tree)
    paths = [path(v.site) for v in (*made, *losses) if v.site is not None]
    depth = _common(paths)
    while depth >= 0:
        heads = {p[depth][1] for p in paths if len(p) > depth}
        frames = {p[depth][0] for p in paths if len(p) > depth}
        blocks = {id(where[h]): where[h] for h in heads if h in where}
        if len(blocks) == 1 and len(frames) == 1 and all(len(p) > depth for p in paths):
            body = next(iter(blocks.values()))
            if not any(isinstance(h, ast.Return) for h in heads):
                return Block(facts, _frame(made, losses, next(iter(frames))), body)
        depth -= 1
    raise refuse(facts, losses[0].node or facts.tree, "TMG214", "the model and its loss are not built in one place", "")


def _common(paths: list[tuple[Step, ...]]) -> int:
    """How many leading steps all paths share, at most one less than the shortest has."""
    depth = 0
    shortest = min(len(p) for p in paths)
    while depth < shortest - 1 and len({p[depth] for p in paths}) == 1:
        depth += 1
    return depth


def _frame(made: list[Value], losses: list[Tensor], uid: int) -> Frame:
    for value in (*losses, *made):
        if value.site is not None:
            for site in value.site.chain():
                if site.frame.uid == uid:
                    return site.frame
    raise AssertionError("a frame on a value's path is found on it")


# -- which statements -----------------------------------------------------------------------------


def _close(block: Block, tower: set[int], inputs: Iterable[Input], facts: Facts) -> set[int]:
    """Adds statements that the towers read batches through: aliases, lists, counters they change."""
    writes: dict[Place, list[tuple[int, Access]]] = {}
    reads: dict[int, list[Access]] = {}
    for index, access in block.accesses():
        if access.write:
            writes.setdefault(access.place, []).append((index, access))
        else:
            reads.setdefault(index, []).append(access)
    makes_input = {block.statement(i.site) for i in inputs}
    mutated = {(e.value.uid): block.statement(e.site) for e in facts.effects if e.kind == "mutation" and e.value}
    todo = list(tower)
    while todo:
        index = todo.pop()
        for access in reads.get(index, ()):
            if not _carries_batch(access.value):
                mutator = mutated.get(access.value.uid)
                if mutator not in tower:
                    continue
            for writer, write in writes.get(access.place, ()):
                if writer not in tower and writer not in makes_input and write.value is access.value and writer < index:
                    first = min(tower)
                    alias = isinstance(access.value, Input)
                    if alias and writer < first:
                        continue  # re-bound inside the loop, as the input itself is
                    tower.add(writer)
                    todo.append(writer)
    return tower


def _carries_batch(value: Value) -> bool:
    if isinstance(value, Input):
        return value.batch.kind == "example"
    return depends_on_batch(value) or any(t.batch.kind != "free" for t in tensors_in(value))


def _sort_out(
    facts: Facts, block: Block, tower: set[int], inputs: tuple[Input, ...], values: dict[int, Value]
) -> tuple[set[int], set[int], set[int]]:
    """Statements between those of the towers: before the loop, after it, or into it."""
    touched = _touched(block)
    while True:
        first, last = min(tower), max(tower)
        before: set[int] = set()
        after: set[int] = set()
        joined = False
        for index in range(first, last + 1):
            if index in tower:
                continue
            stmt = block.body[index]
            choice = _choose(facts, block, index, tower, touched, before, after)
            if choice == "before":
                before.add(index)
            elif choice == "after":
                after.add(index)
            elif choice == "tower":
                tower.add(index)
                joined = True
                break
            else:
                raise refuse(facts, stmt, "TMG203", f"this statement stands between those of the model and {choice}",
                             "move it before the model or after the loss")  # fmt: skip
        if not joined:
            return before, tower, after


Touched = dict[int, tuple[set[Place], set[Place], set[int]]]


def _touched(block: Block) -> Touched:
    """For each statement: places read, places written, values read."""
    found: Touched = {i: (set(), set(), set()) for i in range(len(block.body))}
    for index, access in block.accesses():
        reads, writes, values = found[index]
        if access.write:
            writes.add(access.place)
        else:
            reads.add(access.place)
            values.add(access.value.uid)
    return found


def _choose(
    facts: Facts, block: Block, index: int, tower: set[int], touched: Touched, before: set[int], after: set[int]
) -> str:
    stmt = block.body[index]
    if isinstance(stmt, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return "ends the block"
    reads, writes, values = touched[index]
    from_tower = any(
        block.statement(a.site) == index and not a.write and _made_in(block, a.value, tower) for _, a in block.accesses() if _ == index
    )
    earlier = [i for i in tower | after if i < index]
    later = [i for i in tower if i > index]
    hoistable = not from_tower and not any(
        writes & (touched[i][0] | touched[i][1]) or reads & touched[i][1] for i in earlier
    )
    fed_by = any(writes & touched[i][0] for i in later)
    makes_raw = any(e.kind == "raw variable" and block.statement(e.site) == index for e in facts.effects)
    tower_raw = any(e.kind == "raw variable" and (block.statement(e.site) or 0) in earlier for e in facts.effects)
    if hoistable and not (makes_raw and tower_raw):
        return "before"
    if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
        return "tower" if not hoistable else "before"
    if fed_by:
        return "tower" if not _makes_input(block, facts, index) else "makes an input out of the model"
    sinkable = not any(writes & (touched[i][0] | touched[i][1]) or reads & touched[i][1] for i in later)
    if sinkable:
        return "after"
    return "tower" if not _makes_input(block, facts, index) else "cannot be moved"


def _made_in(block: Block, value: Value, tower: set[int]) -> bool:
    return block.statement(value.site) in tower or any(block.statement(v.site) in tower for v in value.inputs)


def _makes_input(block: Block, facts: Facts, index: int) -> bool:
    return any(block.statement(i.site) == index for i in facts.inputs)


def _check_inputs(facts: Facts, block: Block, tower: set[int], inputs: tuple[Input, ...]) -> None:
    for value in inputs:
        if block.statement(value.site) in tower:
            node = value.node or facts.tree
            raise refuse(facts, node, "TMG204", "this input is made by the same statement as the model that reads it",
                         "make the placeholders before the statements that build the model")  # fmt: skip
