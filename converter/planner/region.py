"""Places the tower loop: in which block, around which statements, and what goes before and after."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.frames import Access, Frame, Place, Site
from converter.analysis.values import CONFLICT, Input, Number, Origin, Tensor, Value, needed, tensors_in
from converter.diagnostics import Diagnostic, Refusal
from converter.planner.trail import BEHIND, IN_FRONT, Block, Step, depends_on_batch, path, suites

# What a statement sees of the graph as it is by then: it must not go in front of those that build it.
GRAPH_STATE = {"graph state", "get collection", "total loss"}


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
    inline: frozenset[ast.AST]  # expressions that are losses by themselves, and all nodes in them
    splits: dict[int, tuple[ast.stmt, ...]]  # statements inside a tower's with block that stay in front of the loop
    behind: dict[int, tuple[ast.stmt, ...]]  # and those that come after it

    def comes_after(self, access: Access) -> bool:
        """Whether something is read after the loop: later, or by a statement that is moved behind it."""
        index = self.block.statement(access.site)
        return access.time > self.end or index == BEHIND or (index is not None and index in self.after)

    def in_any_tower(self, site: Site) -> bool:
        """The same for any execution of the block: a class may make several models."""
        stmts = {self.block.body[i] for i in self.tower}
        return any(step.stmt in stmts for step in site.chain())

    def in_tower(self, site: object) -> bool:
        """Whether something stands among the statements of the towers, in this execution of the block."""
        index = self.block.statement(site)  # type: ignore[arg-type]
        return index is not None and index in self.tower


def batch_inputs(facts: Facts, steps: Sequence[TrainStep]) -> tuple[Input, ...]:
    """The inputs behind the losses that are cut into shards."""
    values = needed(step.loss for step in steps)
    found = [v for v in values.values() if isinstance(v, Input) and v.batch.kind == "example"]
    inputs = tuple(sorted(found, key=lambda v: v.uid))
    if not inputs:
        raise refuse(facts, steps[0].call, "TMG202", "no batch of examples goes into the loss of this training step",
                     "feed examples through placeholders with a batch axis, such as [None, …]")  # fmt: skip
    for value in values.values():
        if isinstance(value, Tensor) and value.batch.why == CONFLICT and value.batch.kind == "opaque":
            raise refuse(facts, value.node or steps[0].call, "TMG215",
                         f"{CONFLICT}: its shards would not fit those of the batch",
                         "feed what belongs to each of the batches on its own")  # fmt: skip
    return inputs


def find_region(
    facts: Facts, steps: Sequence[TrainStep], inputs: tuple[Input, ...], sizes: frozenset[Origin]
) -> Region:
    """The region of a model: what builds its losses from the inputs, and what of its block stays out of the loop."""
    values = needed(step.loss for step in steps)
    inline = _inline_losses(steps)
    made = [
        v for v in values.values()
        if depends_on_batch(v) and not isinstance(v, Input) and v.site is not None and not _inside_call(v, steps)
    ]  # fmt: skip
    if not made:
        raise refuse(
            facts,
            steps[0].call,
            "TMG214",
            "the model and its loss are not built in one place",
            "build the model and its loss in one function",
        )
    losses = [s.loss for s in steps if s.loss_node not in inline]
    block = _block(facts, made, losses)
    tower = {index for v in made if (index := block.statement(v.site)) is not None}
    if not tower:
        raise refuse(
            facts,
            steps[0].call,
            "TMG214",
            "the statements that build the loss are not in one place",
            "build the model and its loss in one function",
        )
    tower = _close(block, tower, inputs, facts, {o.key for o in sizes})
    foreign = facts.foreign.get(block.body[0])
    if foreign is not None:
        raise refuse(facts, block.body[min(tower)], "TMG221",
                     "the model is built in this other file of the project, where the towers belong",
                     "build the model in the script that is converted")  # fmt: skip
    splits = _split(facts, block, tower)
    behind = _split_behind(facts, block, tower, made, steps)
    before, tower, after = _sort_out(facts, block, tower, inputs, values)
    splits.update(_split(facts, block, tower))
    times = [a.time for i, a in block.accesses() if i in tower]
    times += [v.time for v in facts.tensors if block.statement(v.site) in tower]
    return Region(
        block, tuple(sorted(before)), tuple(sorted(tower)), tuple(sorted(after)), inputs, values,
        min(times), max(times), frozenset(n for loss in inline for n in ast.walk(loss)), splits, behind,
    )  # fmt: skip


def _inline_losses(steps: Sequence[TrainStep]) -> set[ast.expr]:
    """Losses that are written out where they are minimised: `minimize(-d_loss)`."""
    return {
        s.loss_node for s in steps
        if s.loss_node is not None and not isinstance(s.loss_node, (ast.Name, ast.Attribute, ast.Subscript))
        and s.loss.site is not None and _inside_call(s.loss, steps)
    }  # fmt: skip


def _inside_call(value: Value, steps: Sequence[TrainStep]) -> bool:
    """Whether a value was made by evaluating the loss argument of a training step."""
    return any(
        value.site is not None and value.site.stmt is s.site.stmt and value.site.frame is s.site.frame
        and value.time <= s.time
        and s.loss_node is not None and not isinstance(s.loss_node, (ast.Name, ast.Attribute, ast.Subscript))
        for s in steps
    )  # fmt: skip


def refuse(facts: Facts, node: ast.AST, code: str, message: str, hint: str) -> Refusal:
    """A refusal that points to a node of the script, or of the other file of the project that it is in."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0) + 1
    return Refusal(Diagnostic(code, facts.foreign.get(node, facts.path), line, column, message, hint))


# -- which block ----------------------------------------------------------------------------------


def _block(facts: Facts, made: list[Value], losses: list[Tensor]) -> Block:
    """The innermost block that all statements between the inputs and the losses lie in."""
    where = suites(facts.tree)
    for module in {s.frame.module.node for v in made for s in v.site.chain()} - {facts.tree} if facts.foreign else ():  # type: ignore[union-attr]
        where.update(suites(module))
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
    raise refuse(
        facts,
        losses[0].node or facts.tree,
        "TMG214",
        "the model and its loss are not built in one place",
        "build the model and its loss in one function",
    )


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


def _close(
    block: Block, tower: set[int], inputs: Iterable[Input], facts: Facts, sizes: set[tuple[object, ...]]
) -> set[int]:
    """Adds statements that the towers read batches through: aliases, lists, numbers made of the batch size."""
    writes: dict[Place, list[tuple[int, Access]]] = {}
    reads: dict[int, list[Access]] = {}
    for index, access in block.accesses():
        if access.write:
            writes.setdefault(access.place, []).append((index, access))
        else:
            reads.setdefault(index, []).append(access)
    makes_input = {block.statement(i.site) for i in inputs}
    mutated: dict[int, set[int | None]] = {}
    for effect in facts.effects:
        if effect.kind == "mutation" and effect.value is not None:
            mutated.setdefault(effect.value.uid, set()).add(block.statement(effect.site))
    todo = list(tower)
    while todo:
        index = todo.pop()
        for access in reads.get(index, ()):
            follows = _carries_batch(access.value) or _counts_batch(access.value, sizes)
            if not follows and not mutated.get(access.value.uid, set()) & tower:
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


def _counts_batch(value: Value, sizes: set[tuple[object, ...]]) -> bool:
    """Whether a number follows the batch size in another way than in proportion."""
    return (
        isinstance(value, Number)
        and any(o.key in sizes for o in value.origins)
        and not any(o.key in sizes for o in value.linear)
    )


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
        block.statement(a.site) == index and not a.write and _made_in(block, a.value, tower)
        for _, a in block.accesses()
        if _ == index
    )
    reads_batch = any(i == index and not a.write and _carries_batch(a.value) for i, a in block.accesses())
    changed = {
        e.value.uid for e in facts.effects if e.kind == "mutation" and e.value and block.statement(e.site) == index
    }
    if any(changed & touched[i][2] for i in tower):
        return "tower"
    earlier = [i for i in tower | after if i < index]
    later = [i for i in tower if i > index]
    reads_graph = any(e.kind in GRAPH_STATE and block.statement(e.site) == index for e in facts.effects)
    hoistable = (
        not from_tower
        and not reads_graph
        and not any(writes & (touched[i][0] | touched[i][1]) or reads & touched[i][1] for i in earlier)
    )
    fed_by = any(writes & touched[i][0] for i in later)
    makes_raw = any(e.kind == "raw variable" and block.statement(e.site) == index for e in facts.effects)
    tower_raw = any(e.kind == "raw variable" and (block.statement(e.site) or 0) in earlier for e in facts.effects)
    if hoistable and not (makes_raw and tower_raw) and not reads_batch:
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


def _split(facts: Facts, block: Block, tower: set[int]) -> dict[int, tuple[ast.stmt, ...]]:
    """Placeholders inside the towers' `with` blocks: these are opened once more in front of the loop for them."""
    found: dict[int, list[ast.stmt]] = {}
    for value in facts.inputs:
        index = block.statement(value.site)
        if index is None or index not in tower or index < 0:
            continue
        around = block.body[index]
        child = _child(block, value, around) if isinstance(around, ast.With) else None
        if child is None or not isinstance(child, ast.Assign) or not _leads(facts, block, around, child):
            raise refuse(facts, value.node or around, "TMG204",
                         "this input is made by the same statement as the model that reads it",
                         "make the placeholders before the statements that build the model")  # fmt: skip
        if child not in found.setdefault(index, []):
            found[index].append(child)
    for children in found.values():
        block.move(children, IN_FRONT)
    return {i: tuple(sorted(c, key=lambda s: s.lineno)) for i, c in found.items()}


def _split_behind(
    facts: Facts, block: Block, tower: set[int], made: list[Value], steps: Sequence[TrainStep]
) -> dict[int, tuple[ast.stmt, ...]]:
    """What follows the loss in the towers' `with` blocks: these are opened once more behind the loop for it."""
    found: dict[int, tuple[ast.stmt, ...]] = {}
    for index in sorted(tower):
        around = block.body[index]
        trains = [s for s in steps if block.statement(s.site) == index]
        if not isinstance(around, ast.With):
            if trains and around is not trains[0].site.stmt:
                raise refuse(facts, trains[0].call, "TMG219",
                             "the training step stands in the same statement as the model",
                             "take the gradients in a statement of its own, after the loss")  # fmt: skip
            continue
        inner = Block(facts, block.frame, around.body)
        last = max((i for v in made if (i := inner.statement(v.site)) is not None), default=-1)
        rest = around.body[last + 1 :]
        if any(inner.statement(s.site) in range(last + 1) for s in trains) or (
            rest and not _trails(block, index, tower, inner, last)
        ):
            if trains:
                raise refuse(facts, trains[0].call, "TMG219",
                             "the training step stands among the statements of the model",
                             "take the gradients after the loss")  # fmt: skip
            continue
        if rest:
            found[index] = tuple(rest)
            block.move(rest, BEHIND)
    return found


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
    touched = _touched(inner)
    place = inner.index[child]
    reads, writes, _ = touched[place]
    return not any(
        writes & (touched[i][0] | touched[i][1]) or reads & touched[i][1]
        for i in range(place) if not _makes_input(inner, facts, i)
    )  # fmt: skip
