"""What a loop leaves behind that was not followed to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from converter.analysis.frames import Place
from converter.analysis.values import Instance, Number, Sequence, Value, tensors_in

if TYPE_CHECKING:
    from converter.analysis.walk import Walk


class Turns:
    """Takes note of where a loop begins; after it, what its further turns would have changed is no longer known."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.began = walk.clock
        self.effects, self.accesses = len(walk.facts.effects), len(walk.facts.accesses)

    def leave_open(self) -> None:
        """Lists into which tensors were put may hold more of them, or fewer, in another run."""
        for effect in self.walk.facts.effects[self.effects :]:
            if effect.kind == "mutation":
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
        """A list that was there before is not known to its end; what a turn makes for itself is."""
        if isinstance(filled, Sequence) and filled.time <= self.began:
            filled.open |= any(tensors_in(filled))
            filled.level()

    def cut_short(self) -> None:
        """Lists that grew have any length, and numbers that took several values may have any."""
        self.leave_open()
        for effect in self.walk.facts.effects[self.effects :]:
            grown = effect.value
            if effect.kind == "mutation" and isinstance(grown, Sequence) and grown.elements:
                grown.many |= not any(tensors_in(grown))
        last: dict[Place, Number] = {}
        several: set[Place] = set()
        for access in self.walk.facts.accesses[self.accesses :]:
            if access.write and isinstance(access.value, Number):
                before = last.get(access.place)
                if before is not None and before.value != access.value.value:
                    several.add(access.place)
                last[access.place] = access.value
        for place in several:
            self._forget(place, last[place])

    def _forget(self, place: Place, number: Number) -> None:
        unknown = Number(None, number.origins, number.linear, (number,))
        unknown.site, unknown.time, unknown.label = number.site, number.time, number.label
        if place.kind == "name" and place.frame is not None and place.frame.locals.get(place.key) is number:
            place.frame.locals[place.key] = unknown
        elif isinstance(place.holder, Instance) and place.holder.attributes.get(place.key) is number:
            place.holder.attributes[place.key] = unknown
