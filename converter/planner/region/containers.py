"""Lists, dicts and other containers that statements fill and read: these statements keep their order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Effect, Facts
from converter.analysis.frames import Access, Place
from converter.analysis.values import Host, Mapping, Sequence, Value, closure
from converter.planner.region.block import Block

# Python's containers that the walk does not follow; a call of any of their methods may change them.
UNFOLLOWED = {"builtins.set", "collections.deque", "collections.defaultdict", "collections.Counter"}
MUTATORS = {"append", "extend", "insert", "add", "update", "appendleft"}  # they read nothing of what was there


def object_places(facts: Facts, block: Block) -> Iterator[tuple[int, Place, bool]]:
    """Containers that the statements of a block read or change: index, place, and True if it is changed.

    A container has one place for all of its contents. Items under constant keys have places of their own, which
    the walk notes: reading one of them reads no more.
    """
    held_in: dict[int, list[Place]] = {}  # the contents of what is reached from a value, by its uid
    for index, access in block.accesses():
        holder = access.place.holder
        if access.write and access.place.kind == "item" and holder is not None:
            yield index, _contents(holder), True
        elif not access.write and not _reads_one_item(facts, access):
            if access.value.uid not in held_in:
                reached = {held.uid: held for held in containers_in(access.value)}
                held_in[access.value.uid] = [_contents(held) for held in reached.values()]
            yield from ((index, place, False) for place in held_in[access.value.uid])
    for effect in facts.effects:
        changed = changed_by(effect)
        at = block.statement(effect.site) if changed is not None else None
        if changed is not None and at is not None and at >= 0:
            yield at, _contents(changed), True


def _contents(holder: Value) -> Place:
    return Place("contents", holder.uid, "", holder=holder)


def _reads_one_item(facts: Facts, access: Access) -> bool:
    taken = facts.selections.get(access.node)
    if is_unfollowed(access.value):
        return False
    if isinstance(taken, ast.Attribute):
        return taken.attr in MUTATORS
    return isinstance(taken, ast.Subscript) and isinstance(taken.slice, ast.Constant)


def containers_in(value: Value, depth: int = 4) -> Iterator[Value]:
    """The containers that are reached from a value without an attribute of an object."""
    if is_filled(value):
        yield value
    if depth and isinstance(value, (Sequence, Mapping)):
        for part in value.parts():
            yield from containers_in(part, depth - 1)


def wholes_in(value: Value) -> Iterator[Sequence | Mapping]:
    """A list, tuple or dict, and those that it holds, each once, as one may hold itself; none for other values."""
    held = closure([value], lambda one: one.parts() if isinstance(one, (Sequence, Mapping)) else ())
    return (whole for whole in held if isinstance(whole, (Sequence, Mapping)))


def is_filled(value: Value) -> bool:
    """Whether a value is a container that can be filled after it was made."""
    if isinstance(value, Sequence):
        return value.mutable
    return isinstance(value, Mapping) or is_unfollowed(value)


def is_unfollowed(value: Value) -> bool:
    """Whether a value is a container of Python's whose contents the walk does not follow."""
    return isinstance(value, Host) and value.call in UNFOLLOWED


def is_set_back(value: Value) -> bool:
    """True if such a container can be reset by `clear` and `update`: its elements are never changed themselves."""
    return isinstance(value, Host) and value.call in ("builtins.set", "collections.Counter")


def changed_by(effect: Effect) -> Value | None:
    """The container that an effect changes, by its own method or by one of its items'; None for other effects."""
    if effect.kind is EffectKind.MUTATION:
        return effect.value
    if effect.kind is not EffectKind.UNFOLLOWED or not isinstance(effect.value, Host):
        return None
    value: Value | None = effect.value
    while isinstance(value, Host):
        if is_unfollowed(value):
            return value if value is not effect.value else None
        value = value.source
    return None
