"""State that one tower would pass on to the next: places that the towers read and then change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from converter.analysis.frames import Access, Place
from converter.analysis.traits import Trait, has
from converter.analysis.values import ARRAY, Constant, Input, Mapping, Number, Sequence, Site, Tensor, Typed, Value
from converter.planner.region.block import Block

PERHAPS = (ast.For, ast.AsyncFor, ast.While, ast.Try)  # statements whose block may not be run, or not to its end


def carried(block: Block, tower: Iterable[int]) -> list[Access]:
    """The first read of each place that may give its value from before the towers, where they change it afterwards.

    Places that each tower makes anew are left out. A write in a branch or a loop may not have come before a read.
    """
    chosen = set(tower)
    first: dict[Place, Access] = {}
    reads: dict[Place, Access] = {}
    changed: set[Place] = set()
    for index, access in sorted(block.accesses(), key=lambda pair: pair[1].time):
        if index not in chosen or _by_import(block, access.site):
            continue
        start = first.setdefault(access.place, access)
        if not access.write:
            if access.place not in reads and (not start.write or _may_be_from_before(block, access, start)):
                reads[access.place] = access
        elif access.place in reads and access.value is not reads[access.place].value:
            changed.add(access.place)
    return [
        a
        for place, a in reads.items()
        if place in changed and not isinstance(a.value, Input) and not _fresh(block, chosen, place)
    ]


def _may_be_from_before(block: Block, read: Access, start: Access) -> bool:
    """True if a read may give what its place held before the towers; start: their first access, which writes it."""
    before = {a.value.uid for a in block.facts.writes_to(read.place) if a.time < start.time}
    if not before:
        return False
    joined = read.value.inputs if getattr(read.value, "op", "") == "join" else ()
    if read.value.maybe_other or any(value.uid in before for value in (read.value, *joined)):
        return True
    around = set(read.site.chain())
    return any(isinstance(s.stmt, PERHAPS) and s not in around for s in start.site.chain())


def _by_import(block: Block, site: Site) -> bool:
    """Whether the top level of another module does it: only for the first tower that imports the module."""
    frame = site.frame
    return frame is not block.frame and isinstance(frame.node, ast.Module)


def _fresh(block: Block, tower: set[int], place: Place) -> bool:
    """Whether each tower makes a place anew: a local name of a function it calls, a part of an object it makes."""
    if place.kind != "name":
        made = place.holder.site if place.holder is not None else None
        return made is not None and block.statement(made) in tower and not _by_import(block, made)
    frame = place.frame
    if frame is None or frame is block.frame or isinstance(frame.node, ast.Module):
        return False
    return block.statement(frame.call_site) in tower


def iterators_read(block: Block, tower: Iterable[int]) -> list[Access]:
    """The towers' first read of each iterator that is made before them: the first tower leaves nothing to the others.

    What Python gives for `map(…)`, `zip(…)` or a generator expression can be read once.
    """
    return _read_once(block, tower, block.facts.iterators)


def generators_read(block: Block, tower: Iterable[int]) -> list[Access]:
    """The towers' first read of each generator of the script that is made before them: each would take other values."""
    return _read_once(block, tower, block.facts.generators)


def _read_once(block: Block, tower: Iterable[int], once: Set[int]) -> list[Access]:
    """The towers' first read of each of some values that are made before them."""
    chosen = set(tower)
    first: dict[int, Access] = {}
    for index, access in sorted(block.accesses(), key=lambda pair: pair[1].time):
        if index in chosen and not access.write and access.value.uid in once:
            first.setdefault(access.value.uid, access)
    return [access for access in first.values() if block.statement(access.value.site) not in chosen]


def cells_copied(block: Block, tower: Iterable[int]) -> list[tuple[Typed, str]]:
    """The cells that the towers' calls copy and then build, with the last part of such a call's name.

    A built cell cannot be copied: each tower has to make its own.
    """
    chosen = set(tower)
    return _copied(tensor for tensor in block.facts.tensors if block.statement(tensor.site) in chosen)


def copied_cells(made: Iterable[Value]) -> list[Typed]:
    """The cells that are copied by the calls which make some tensors."""
    return [cell for cell, _ in _copied(value for value in made if isinstance(value, Tensor))]


def _copied(tensors: Iterable[Tensor]) -> list[tuple[Typed, str]]:
    found: dict[int, tuple[Typed, str]] = {}
    for tensor in tensors:
        name = tensor.op.rpartition(".")[2]
        if has(name, Trait.COPIES_CELLS):
            found.update((cell.uid, (cell, name)) for cell in _cells_in(tensor.inputs))
    return list(found.values())


def _cells_in(values: Iterable[Value]) -> Iterator[Typed]:
    """The recurrent cells among values, and those that these are made of."""
    for value in values:
        if isinstance(value, Typed) and value.kind == "Cell":
            yield value
        if isinstance(value, Typed | Sequence):
            yield from _cells_in((*value.inputs, *value.parts()))


def arrays_before(block: Block, tower: Iterable[int]) -> list[Access]:
    """The towers' first reads of tensor arrays that are made in front of them.

    An entry can be written once, and read once (tensor_array_ops.py, 1.15): each tower has to make its own.
    """
    chosen = set(tower)
    first: dict[int, Access] = {}
    for index, access in block.accesses():
        array = access.value if index in chosen and not access.write else None
        held = isinstance(array, Tensor) and array.op == ARRAY
        if held and array is not None and block.statement(array.site) not in chosen:
            first.setdefault(array.uid, access)
    return list(first.values())


def with_own(block: Block, tower: Iterable[int]) -> set[int]:
    """The towers' statements and those of the block that make what each tower needs of its own.

    These are the tensor arrays that they read, and the cells that their calls copy.
    """
    chosen = set(tower)
    while True:
        arrays = (access.value for access in arrays_before(block, chosen))
        cells = (cell for cell, _ in cells_copied(block, chosen))
        more = {index for v in (*arrays, *cells) if (index := block.statement(v.site)) is not None}
        if more <= chosen:
            return chosen
        chosen |= more


def starting_values(block: Block, tower: set[int]) -> set[int]:
    """Statements before the towers', or among them, that assign a plain first value to such a name: `loss = 0`."""
    found: set[int] = set()
    writes: dict[tuple[Place, int], list[tuple[int, Access]]] = {}
    for index, write in block.accesses():
        if write.write:
            writes.setdefault((write.place, write.value.uid), []).append((index, write))
    while True:
        chosen = tower | found
        first = min(chosen)
        more = {
            index
            for access in carried(block, chosen)
            for index, write in writes.get((access.place, access.value.uid), ())
            if index not in chosen
            and index < max(chosen)
            and (index >= first - 1 or _is_list_left_alone(block, write, range(index + 1, first)))
            and write.site.stmt is block.body[index]
            and isinstance(write.site.stmt, ast.Assign)
            and _is_plain(access.value, write.site.stmt)
        }
        if not more:
            return found
        found |= more


def _is_list_left_alone(block: Block, write: Access, between: range) -> bool:
    """Whether a list is made that none of some statements reads or changes, so that it may be made behind them."""
    if not isinstance(write.value, Sequence):
        return False
    touched = (index for index, access in block.accesses() if access.place == write.place)
    return not any(index in between for index in touched)


def is_container(value: Value) -> bool:
    """Whether a value is a list or dict, whose contents can be set back."""
    return isinstance(value, Mapping) or (isinstance(value, Sequence) and value.mutable)


def _is_plain(value: Value, assigned: ast.Assign) -> bool:
    """Whether a statement assigns a number, a constant or an empty list, which others may fill later."""
    if isinstance(value, Sequence):
        made = assigned.value
        empty = isinstance(made, ast.List) and not made.elts and len(assigned.targets) == 1
        return empty or not value.elements
    return isinstance(value, (Constant, Number)) and not value.inputs
