"""Values after a loop that was not followed to its end."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from converter.analysis.effects import EffectKind
from converter.analysis.flow.repeats import Where
from converter.analysis.flow.undo import StateChange
from converter.analysis.frames import Access, Place
from converter.analysis.python.containers import is_known_key, item_place
from converter.analysis.values import Count, Host, Instance, Length, Mapping, Number, Sequence, Value, tensors_in

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


SHORT = 5  # numbers in a list that are all looked at


def is_short(iterable: Value) -> bool:
    """Whether it is a short list of numbers, such as a shape: a loop over it is followed whole."""
    elements = iterable.elements if isinstance(iterable, Sequence) and not iterable.many else []
    parts = [part for element in elements for part in (element, *element.parts())]
    lengths = any(isinstance(part, (Count, Length)) for part in parts)
    held = isinstance(iterable, Sequence) and iterable.mutable  # not a range, whose numbers nobody wrote
    return 0 < len(elements) <= SHORT and (held or lengths) and not any(tensors_in(iterable))


class Turns:
    """Remembers the state before a loop; afterwards forgets the values that further turns would have changed.

    short: all turns are followed, whatever they do.
    """

    def __init__(self, walk: Walk, loop: ast.AST, short: bool = False) -> None:
        self.walk, self.loop, self.short = walk, loop, short
        self.began = walk.clock
        self.effects, self.accesses = len(walk.facts.effects), len(walk.facts.accesses)
        self.built, self.decided = walk.graph_clock, walk.repeats.decided
        self.brief = walk.repeats.deep > 0 and loop in walk.repeats.idle  # seen in full, in an outer loop's first turn
        self.changed = walk.repeats.idle[loop] if self.brief else frozenset()

    def begin(self) -> None:
        """Notes when a turn begins."""
        if self.walk.site is not None:
            self.walk.facts.turns.setdefault(self.walk.site, []).append(self.walk.clock)

    def shows_nothing_new(self, turn: int, built: int) -> bool:
        """Whether the turns behind this one are left out; built: the graph's clock when the turn began."""
        return not self.short and (turn > 0 or self.brief) and self.walk.graph_clock == built

    def may_go_on_otherwise(self) -> bool:
        """Whether a later turn may take another branch than those followed; if so, what the turns change is open.

        `if step % 100 == 0` and `if len(rows) == 100` would be decided by two turns, and what runs in a later one never
        seen. Where the turns build the graph, each has its own numbers.
        """
        if self.brief or self.walk.graph_clock != self.built or self.walk.repeats.decided == self.decided:
            return False
        first: dict[Place, Access] = {}
        last: dict[Place, Number] = {}
        for access in self.walk.facts.accesses[self.accesses :]:
            first.setdefault(access.place, access)
            if access.write and isinstance(access.value, Number):
                last[access.place] = access.value
        for place, number in last.items():
            before = first[place]
            if not before.write and isinstance(before.value, Number) and before.value.value != number.value:
                self._forget(place, number)
        for grown, _ in self._growths():
            grown.many |= grown.time <= self.began
        return True

    def _growths(self) -> Iterator[tuple[Sequence, str]]:
        """The lists without tensors that the turns changed, with the names of the calls that did."""
        for effect in self.walk.facts.effects[self.effects :]:
            grown = effect.value
            filled = effect.kind is EffectKind.MUTATION and isinstance(grown, Sequence) and bool(grown.elements)
            if isinstance(grown, Sequence) and filled and not any(tensors_in(grown)):
                yield grown, effect.name

    def end(self, whole: bool) -> None:
        """Updates what is known after the loop; whole: True if all of its turns were followed."""
        changed = frozenset() if whole else self._cut_short()
        if self.walk.graph_clock != self.built:
            self.walk.repeats.idle.pop(self.loop, None)
        else:
            self.walk.repeats.idle[self.loop] = changed

    def leave_open(self) -> None:
        """Lists into which tensors were put may hold more of them, or fewer, in another run."""
        for effect in self.walk.facts.effects[self.effects :]:
            if effect.kind is EffectKind.MUTATION:
                self._open(effect.value)
        lengths: dict[Place, int] = {}  # of lists by the names that are bound to them
        for access in self.walk.facts.accesses[self.accesses :]:
            if not access.write:
                continue
            if access.place.kind == "item":
                self._open(access.place.holder)
            elif isinstance(access.value, Sequence):
                length = len(access.value.elements)
                if lengths.setdefault(access.place, length) != length:  # `outs = outs + [h]`
                    access.value.open |= any(tensors_in(access.value))
                    access.value.level()
                lengths[access.place] = length

    def _open(self, filled: Value | None) -> None:
        """Marks a list as open if it existed before the loop; a list that a turn makes for itself stays known."""
        if isinstance(filled, Sequence) and filled.time <= self.began:
            filled.open |= any(tensors_in(filled))
            filled.level()

    def _open_keys(self) -> None:
        """Takes the keys of a dict's tensors for unknown where one statement puts each turn's under another key."""
        put: dict[tuple[int, ast.AST], set[str]] = {}
        holders: dict[int, Mapping] = {}
        for access in self.walk.facts.accesses[self.accesses :]:
            holder = access.place.holder
            if access.write and isinstance(holder, Mapping) and holder.time <= self.began:
                holders[holder.uid] = holder
                put.setdefault((holder.uid, access.node), set()).add(access.place.key)
        several = {(uid, key) for (uid, _), keys in put.items() if len(keys) > 1 for key in keys}
        for uid in sorted({uid for uid, _ in several if any(tensors_in(holders[uid]))}):
            holder = holders[uid]
            for key, value in list(holder.pairs):
                if (uid, item_place(holder, key).key) in several and is_known_key(key):
                    unknown = Host((key,))
                    self.walk.undo_log += [StateChange(holder, key, value), StateChange(holder, unknown, None)]
                    holder.drop(key)
                    holder.set(unknown, value)

    def _cut_short(self) -> frozenset[Where]:
        """Give lists that grew an unknown length, and numbers that changed an unknown value."""
        self.leave_open()
        self._open_keys()
        for grown, name in list(self._growths()):
            grown.many = True
            if self.brief and name.endswith((".append", ".extend", "+=")):
                grown.elements.append(grown.elements[-1])  # the second turn's
        last: dict[Place, Number] = {}
        several: set[Place] = set()
        for access in self.walk.facts.accesses[self.accesses :]:
            if access.write and isinstance(access.value, Number):
                before = last.get(access.place)
                if before is None and (access.place.kind, access.place.key) in self.changed:
                    several.add(access.place)
                if before is not None and before.value != access.value.value:
                    several.add(access.place)
                last[access.place] = access.value
        for place in several:
            self._forget(place, last[place])
        return frozenset((place.kind, place.key) for place in several)

    def _forget(self, place: Place, number: Number) -> None:
        unknown = Number(None, number.origins, number.linear, (number,))
        unknown.site, unknown.time, unknown.label = number.site, number.time, number.label
        if place.kind == "name" and place.frame is not None and place.frame.locals.get(place.key) is number:
            place.frame.locals[place.key] = unknown
        elif isinstance(place.holder, Instance) and place.holder.attributes.get(place.key) is number:
            place.holder.attributes[place.key] = unknown
        elif isinstance(place.holder, Mapping):
            key = next((key for key, value in place.holder.pairs if value is number), None)
            if key is not None:
                place.holder.set(key, unknown)
