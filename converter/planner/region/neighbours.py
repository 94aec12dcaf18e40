"""The places that statements read and write, and the statements through which the towers read batches."""

from __future__ import annotations

from collections.abc import Iterable

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts
from converter.analysis.frames import Access, Place
from converter.analysis.values import Function, Input, Number, Value, grows_by_key
from converter.planner.questions.batch_values import carries_batch
from converter.planner.questions.nested_tensors import inputs_in
from converter.planner.questions.rows_from_python import has_rows
from converter.planner.questions.tensors_of_size import may_be_made_again
from converter.planner.region.block import Block, Touched
from converter.planner.region.branches_not_run import unwalked
from converter.planner.region.changed_between_towers import is_container
from converter.planner.region.containers import object_places


def close(
    block: Block, tower: set[int], inputs: Iterable[Input], facts: Facts, sizes: set[tuple[object, ...]]
) -> set[int]:
    """Adds statements that the towers read batches through: aliases, lists, numbers made of the batch size."""
    writes: dict[tuple[Place, int], list[int]] = {}  # place and uid of a value -> the statements that put it there
    reads: dict[int, list[Access]] = {}
    for index, access in block.accesses():
        if access.write:
            writes.setdefault((access.place, access.value.uid), []).append(index)
        else:
            reads.setdefault(index, []).append(access)
    makes_input = {block.statement(i.site) for i in inputs}
    mutated: dict[int, set[int | None]] = {}
    for effect in facts.effects_of(EffectKind.MUTATION):
        if effect.value is not None:
            mutated.setdefault(effect.value.uid, set()).add(block.statement(effect.site))
    todo, tower, first = list(tower), set(tower), min(tower, default=0)
    while todo:
        index = todo.pop()
        for access in reads.get(index, ()):
            value = access.value
            writers = writes.get((access.place, value.uid), ())
            writers = [w for w in writers if w < index and w not in tower and w not in makes_input]
            if not writers:
                continue
            follows = carries_batch(value) or _counts_batch(value, sizes) or has_rows(value, sizes)
            follows = follows or may_be_made_again(facts, value, sizes)
            follows = follows or _is_called_with_default(value, reads[index], sizes)
            if not follows and not mutated.get(value.uid, set()) & tower:
                continue
            for writer in writers:
                alias = isinstance(value, Input) or bool(inputs_in(value))
                if alias and writer < first:
                    continue  # re-bound inside the loop, as the input itself is
                empty = not has_rows(value, sizes) and _starts_empty(value, writer, reads)
                if writer < first - 1 and empty:
                    continue  # emptied inside the loop
                tower.add(writer)
                todo.append(writer)
                first = min(first, writer)
    return tower


def _starts_empty(value: Value, writer: int, reads: dict[int, list[Access]]) -> bool:
    """True if a statement makes a list or dict that holds no value of the batch yet."""
    return is_container(value) and not any(carries_batch(a.value) for a in reads.get(writer, ()))


def _counts_batch(value: Value, sizes: set[tuple[object, ...]]) -> bool:
    """True if a number depends on the batch size, but is not proportional to it."""
    return isinstance(value, Number) and any(o.key in sizes for o in value.origins) and not grows_by_key(value, sizes)


def _is_called_with_default(value: Value, reads: Iterable[Access], sizes: set[tuple[object, ...]]) -> bool:
    """True if a statement's calls of a function take a batch, or its size, from where the function was defined."""
    if not isinstance(value, Function):
        return False
    taken = {
        (name, default.uid)
        for name, default in value.defaults.items()
        if carries_batch(default) or (isinstance(default, Number) and any(o.key in sizes for o in default.origins))
    }
    return bool(taken) and any((a.place.key, a.value.uid) in taken for a in reads)


def touched_in(block: Block) -> Touched:
    """For each statement: places read, places written, values read; looked up once, and not to be changed."""
    if block.touched is None:
        block.touched = _touched(block)
    return block.touched


def _touched(block: Block) -> Touched:
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


def makes_input(block: Block, facts: Facts, index: int) -> bool:
    """Whether a statement of the block makes an input."""
    return any(block.statement(i.site) == index for i in facts.inputs)
