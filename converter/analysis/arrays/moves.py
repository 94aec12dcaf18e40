"""Numbers that the turns of a loop move on, by what was added to them or taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from converter.analysis.counts.reading import MOVES, TURN
from converter.analysis.counts.terms import Atom
from converter.analysis.values import Host, Number, Value

if TYPE_CHECKING:
    from converter.analysis.facts import Facts
    from converter.analysis.frames import Access


def moved_by(facts: Facts, write: Access) -> float:
    """What a place gets beside what was in it, less than nothing where it is taken away; 0 where that is not known."""
    value = write.value
    op = value.op if isinstance(value, Number) else value.call if isinstance(value, Host) else ""
    if op not in MOVES or len(value.inputs) != 2:
        return 0
    before = {other.value.uid for other in facts.writes_to(write.place)}
    one, two = value.inputs
    for start, by in ((one, two), (two, one)) if op == "add" else ((one, two),):
        plain = isinstance(by, Number) and all(origin.key[0] == "literal" for origin in by.origins)
        if plain and isinstance(by, Number) and isinstance(by.value, (int, float)) and before_end(start).uid in before:
            return by.value if op == "add" else -by.value
    return 0


def before_end(value: Value) -> Value:
    """What a number was in the last turn that was followed, where it stands for that of any turn."""
    left = isinstance(value, Number) and not (value.op or value.turn or value.chosen) and len(value.inputs) == 1
    return value.inputs[0] if left and isinstance(value.inputs[0], Number) else value


def turns_of_loop(over: Value) -> frozenset[Atom]:
    """What stands for how many turns are over of a loop that goes over a value."""
    parts = (part for each in over.parts() for part in (each, *each.parts()))
    turns = (part.turn for part in parts if isinstance(part, Number))
    return frozenset((TURN, turn) for turn in (over.uid, *turns) if turn)
