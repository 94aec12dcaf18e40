"""A block of the script in one execution, and what each of its statements made, read or wrote."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from operator import itemgetter

from converter.analysis.facts import Effect, Facts
from converter.analysis.frames import Access, Place
from converter.analysis.values import Frame, Site, Value

Touched = dict[int, tuple[set[Place], set[Place], set[int]]]  # by statement: places read, written, values read

IN_FRONT, BEHIND = -1, -2  # indexes of statements that the loop leaves out of one of its with blocks


def block_of(facts: Facts, frame: Frame, body: list[ast.stmt]) -> Block:
    """The block of these statements in one execution: the same for each who asks, with what it has looked up."""
    known = facts.blocks.get((frame.uid, id(body)))
    if not isinstance(known, Block):
        known = facts.blocks[frame.uid, id(body)] = Block(facts, frame, body)
    return known


class Block:
    """One block of the script in one execution: the frame, its statements, and what each touched.

    moved: statements inside of its own that the loop leaves out: IN_FRONT or BEHIND. It keeps what it has looked up.
    """

    def __init__(
        self, facts: Facts, frame: Frame, body: list[ast.stmt], moved: Mapping[ast.stmt, int] | None = None
    ) -> None:
        self.facts = facts
        self.frame = frame
        self.body = body
        self.index = {stmt: i for i, stmt in enumerate(body)}
        self.moved = moved or {}
        self._paths: dict[int, int | None] = {}
        self._accesses: list[tuple[int, Access]] | None = None
        self._writers: dict[Place, set[int]] | None = None
        self._fillers: dict[int, set[int]] | None = None
        self._effects: dict[int, list[Effect]] | None = None
        self.touched: Touched | None = None  # see neighbours

    def statement(self, site: Site | None) -> int | None:
        """The index of the statement of this block that a site lies in."""
        if site is None:
            return None
        if id(site) not in self._paths:
            self._look_up(site)
        return self._paths[id(site)]

    def _look_up(self, site: Site) -> None:
        """Finds the statement for a site, and for those around it on the way."""
        ahead: list[int] = []
        found: int | None = None
        for step in site.chain():
            if id(step) in self._paths:
                found = self._paths[id(step)]
                break
            ahead.append(id(step))
            if step.frame is self.frame:
                found = self.moved.get(step.stmt, self.index.get(step.stmt))
                if found is not None:
                    break
        self._paths.update(dict.fromkeys(ahead, found))

    def without(self, stmts: Iterable[ast.stmt], where: int) -> Block:
        """The block without statements nested in its own that the loop leaves out: `where` is IN_FRONT or BEHIND."""
        more = dict.fromkeys(stmts, where)
        return Block(self.facts, self.frame, self.body, {**self.moved, **more}) if more else self

    def accesses(self) -> list[tuple[int, Access]]:
        """Reads and writes inside this block, each with the index of its statement."""
        if self._accesses is None:
            found: list[tuple[int, int, Access]] = []
            for site, accesses in self.facts.accesses_by_frame.get(self.frame, ()):
                index = self.statement(site)
                if index is not None and index >= 0:
                    found += [(number, index, access) for number, access in accesses]
            found.sort(key=itemgetter(0))
            self._accesses = [(index, access) for _, index, access in found]
        return self._accesses

    def effects_in(self, indexes: Iterable[int]) -> list[Effect]:
        """What some of the statements do beside their values, each in the order of the walk."""
        if self._effects is None:
            self._effects = {}
            for effect in self.facts.effects:
                at = self.statement(effect.site)
                if at is not None:
                    self._effects.setdefault(at, []).append(effect)
        return [effect for index in indexes for effect in self._effects.get(index, ())]

    def writers(self, place: Place) -> Collection[int]:
        """The indexes of the statements that write a place."""
        if self._writers is None:
            self._writers = {}
            for index, access in self.accesses():
                if access.write:
                    self._writers.setdefault(access.place, set()).add(index)
        return self._writers.get(place, ())

    def fillers(self, container: Value) -> Collection[int]:
        """The indexes of the statements that write an item of a list or a dict."""
        if self._fillers is None:
            self._fillers = {}
            for index, access in self.accesses():
                if access.write and access.place.kind == "item":
                    self._fillers.setdefault(access.place.owner, set()).add(index)
        return self._fillers.get(container.uid, ())
