"""The statements around the towers': which join them, and which stay in front of the loop or come after it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.effects import VARIABLES, EffectKind
from converter.analysis.facts import Facts
from converter.analysis.frames import Access, Place
from converter.analysis.inputs.embedded_data import DATA
from converter.analysis.traits import Trait, has
from converter.analysis.values import Input, Instance, Number, Sequence, Value, tensors_in
from converter.planner.questions.batch_values import depends_on_batch, is_made_of_shard
from converter.planner.questions.nested_tensors import inputs_in
from converter.planner.questions.outside_calls import is_foreign
from converter.planner.questions.rows_from_python import has_rows
from converter.planner.region.block import Block
from converter.planner.region.branches_not_run import unwalked
from converter.planner.region.changed_between_towers import is_container
from converter.planner.region.containers import is_filled, object_places
from converter.planner.region.incomplete_lists import listed_between
from converter.planner.region.variable_reuse import finds_variables, makes_variables, numbers_names, sets_reuse
from converter.planner.writing.findings import refuse

# What a statement sees of the graph as it is by then: it must not go in front of those that build it.
GRAPH_STATE = {EffectKind.GRAPH_STATE, EffectKind.GET_COLLECTION, EffectKind.TOTAL_LOSS}
UNKNOWN = "None"  # a collection whose key is not a constant
Touched = dict[int, tuple[set[Place], set[Place], set[int]]]


def close(
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
    for effect in facts.effects_of(EffectKind.MUTATION):
        if effect.value is not None:
            mutated.setdefault(effect.value.uid, set()).add(block.statement(effect.site))
    todo = list(tower)
    while todo:
        index = todo.pop()
        for access in reads.get(index, ()):
            value = access.value
            follows = _carries_batch(value) or _counts_batch(value, sizes) or has_rows(value, sizes)
            if not follows and not mutated.get(access.value.uid, set()) & tower:
                continue
            for writer, write in writes.get(access.place, ()):
                if writer not in tower and writer not in makes_input and write.value is access.value and writer < index:
                    first = min(tower)
                    alias = isinstance(access.value, Input) or bool(inputs_in(access.value))
                    if alias and writer < first:
                        continue  # re-bound inside the loop, as the input itself is
                    empty = not has_rows(value, sizes) and _starts_empty(write.value, writer, reads)
                    if writer < first - 1 and empty:
                        continue  # emptied inside the loop
                    tower.add(writer)
                    todo.append(writer)
    return tower


def _starts_empty(value: Value, writer: int, reads: dict[int, list[Access]]) -> bool:
    """Whether a statement makes a list or dict that has nothing of the batch in it yet."""
    return is_container(value) and not any(_carries_batch(a.value) for a in reads.get(writer, ()))


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
    if isinstance(value, Instance):
        return False  # its attributes are places of their own
    return depends_on_batch(value) or any(t.batch.kind != "free" for t in tensors_in(value))


def _is_data(value: Value) -> bool:
    """Data is there before the model: what else is computed from it can stay in front."""
    return isinstance(value, Input) and value.op == DATA


def sort_out(
    facts: Facts, block: Block, tower: set[int], inline: set[ast.AST]
) -> tuple[set[int], set[int], set[int]]:  # fmt: skip
    """Statements between those of the towers: before the loop, after it, or into it.

    inline: the nodes of losses that are written out where they are minimised, and computed in the towers all the same.
    """
    touched = touched_in(block)
    written_out = {a.place for _, a in block.accesses() if a.node in inline and not a.write}
    trained = max((i for i, a in block.accesses() if a.node in inline), default=0)
    while True:
        first = min(tower)
        last = max(*tower, *(i for i in range(trained) if touched[i][1] & written_out), first)
        before: set[int] = set()
        after: set[int] = set()
        joined = False
        for index in range(first, last + 1):
            if index in tower:
                continue
            stmt = block.body[index]
            choice = _choose(facts, block, index, tower, touched, after, written_out)
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


def touched_in(block: Block) -> Touched:
    """For each statement: places read, places written, values read."""
    found: Touched = {i: (set(), set(), set()) for i in range(len(block.body))}
    for index, access in block.accesses():
        reads, writes, values = found[index]
        if access.write:
            writes.add(access.place)
        else:
            reads.add(access.place)
            values.add(access.value.uid)
    for index, place, changes in object_places(block.facts, block):
        (found[index][1] if changes else found[index][0]).add(place)
    for index, (might_read, might_write) in unwalked(block).items():
        found[index][0].update(might_read)
        found[index][1].update(might_write)
    return found


def _choose(
    facts: Facts, block: Block, index: int, tower: set[int], touched: Touched, after: set[int], written_out: set[Place]
) -> str:
    stmt = block.body[index]
    if isinstance(stmt, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return "ends the block"
    reads, writes, values = touched[index]
    read = [a for i, a in block.accesses() if i == index and not a.write]
    from_tower = any(_made_in(block, a.value, tower) for a in read)
    # An object is read for the sake of its attributes, and these are read on their own account.
    batches = [a.value for a in read if not isinstance(a.value, Instance) and not _is_data(a.value)]
    reads_batch = any(map(_carries_batch, batches))
    changed = {
        e.value.uid for e in facts.effects_of(EffectKind.MUTATION) if e.value and block.statement(e.site) == index
    }
    if any(changed & touched[i][2] for i in tower):
        return "tower"
    earlier = [i for i in tower | after if i < index]
    later = [i for i in tower if i > index]
    if from_tower and _collects_for(facts, block, index, later):
        return "tower"
    if any(block.statement(e.site) == index for e in listed_between(facts, block, tower)):
        return "tower"
    if _makes_container_for(block, index, touched, later):
        return "tower"
    reads_graph = any(e.kind in GRAPH_STATE and block.statement(e.site) == index for e in facts.effects)
    reuses = sets_reuse(facts, block, index)
    if reuses and makes_variables(facts, block, set(later)) and not makes_input(block, facts, index):
        return "tower"
    finds = finds_variables(facts, block, index) and makes_variables(facts, block, {i for i in tower if i < index})
    hoistable = (
        not from_tower
        and not reads_graph
        and not reuses
        and not finds
        and not _collects_for(facts, block, index, earlier)
        and not any(writes & (touched[i][0] | touched[i][1]) or reads & touched[i][1] for i in earlier)
    )
    in_order = facts.told_by_position and _makes_any_variable(facts, block, {index})
    if in_order and _makes_any_variable(facts, block, {i for i in earlier if i in tower}):
        hoistable = False
    fed_by = any(writes & touched[i][0] for i in later) or bool(writes & written_out)
    fed_by = fed_by or _collects_for(facts, block, index, later)
    makes_raw = any(block.statement(e.site) == index for e in facts.effects_of(EffectKind.RAW_VARIABLE))
    tower_raw = any((block.statement(e.site) or 0) in earlier for e in facts.effects_of(EffectKind.RAW_VARIABLE))
    if hoistable and not (makes_raw and tower_raw) and (not reads_batch or makes_input(block, facts, index)):
        return "before"
    if isinstance(stmt, (ast.FunctionDef, ast.ClassDef)):
        return "tower" if not hoistable else "before"
    if fed_by:
        return "tower" if not makes_input(block, facts, index) else "makes an input out of the model"
    sinkable = not any(writes & (touched[i][0] | touched[i][1]) or reads & touched[i][1] for i in later)
    # A name for what an object of the towers gives: that can be merged, the object cannot.
    body = stmt.body if isinstance(stmt, ast.With) else [stmt]
    names_part = all(isinstance(s, ast.Assign) for s in body) and any(
        is_made_of_shard(a.value) and _made_in(block, a.value, tower) for a in read
    )
    if sinkable and _may_collect(facts, block, index, tower):
        return "may add to the collection that the loss is computed from: what it calls is not followed"
    if sinkable and in_order and _makes_any_variable(facts, block, set(later)):
        return "tower"
    if sinkable and not names_part:
        counts = numbers_names(facts, block, {index}) and numbers_names(facts, block, set(later))
        return "tower" if counts and not makes_input(block, facts, index) else "after"
    return "tower" if not makes_input(block, facts, index) else "cannot be moved"


def _makes_any_variable(facts: Facts, block: Block, indexes: set[int]) -> bool:
    """Whether some statements make variables of any kind."""
    return any(e.kind in VARIABLES and block.statement(e.site) in indexes for e in facts.effects)


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


def _may_collect(facts: Facts, block: Block, index: int, tower: set[int]) -> bool:
    """Whether a statement calls other packages, of which none is seen, before the towers read a collection."""
    calls = [e for e in facts.effects_of(EffectKind.UNFOLLOWED) if block.statement(e.site) == index]
    read = any(
        e.kind in (EffectKind.GET_COLLECTION, EffectKind.TOTAL_LOSS) and not has(e.name, Trait.VARIABLE_COLLECTION)
        and (at := block.statement(e.site)) is not None and at in tower and at > index
        for e in facts.effects
    )  # fmt: skip
    return read and any(is_foreign(e.value) for e in calls if e.value is not None)


def _collects_for(facts: Facts, block: Block, index: int, others: Iterable[int]) -> bool:
    """Whether a statement adds to a collection of the graph that some of the others read."""
    chosen = set(others)
    added = {e.name for e in facts.effects_of(EffectKind.COLLECTION) if block.statement(e.site) == index}
    if not added:
        return False
    read = {
        "losses" if e.kind is EffectKind.TOTAL_LOSS else e.name
        for e in facts.effects
        if e.kind in (EffectKind.GET_COLLECTION, EffectKind.TOTAL_LOSS) and block.statement(e.site) in chosen
    }
    return bool(added & read) or (bool(read) and UNKNOWN in added | read)


def _made_in(block: Block, value: Value, tower: set[int]) -> bool:
    return block.statement(value.site) in tower or any(block.statement(v.site) in tower for v in value.inputs)


def makes_input(block: Block, facts: Facts, index: int) -> bool:
    """Whether a statement of the block makes an input."""
    return any(block.statement(i.site) == index for i in facts.inputs)
