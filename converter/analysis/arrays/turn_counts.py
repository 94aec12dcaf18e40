"""Numbers that count the turns of loops which train: those of a range, one that each turn moves on, the global step."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from converter.analysis.arrays.filled_lists import LOOPS
from converter.analysis.arrays.moves import before_end, moved_by, turns_of_loop
from converter.analysis.arrays.rows import counted_by
from converter.analysis.counts.degrees import RESTS
from converter.analysis.counts.reading import SIZE, TURN, TermReader
from converter.analysis.counts.terms import Atom, Of, Terms, atom, number
from converter.analysis.facts import Facts, RunCall
from converter.analysis.frames import Access
from converter.analysis.traits import Trait, has
from converter.analysis.values import Host, Number, Origin, Sequence, Value, Variable, grows_with

Counted = ast.stmt | None  # a loop whose turns are counted, None for the steps that the graph counts


class TurnCounts(TermReader):
    """Reads numbers by how many turns are over of the loops around some training steps, wherever these began."""

    def __init__(self, facts: Facts, runs: Iterable[RunCall], sizes: frozenset[Origin]) -> None:
        super().__init__(sizes, self._same_length)
        self._facts = facts
        self._lengths: dict[int, Number] = {}
        self._moved: dict[int, Terms] = {}  # by the uids of numbers that are moved on
        self._loops: dict[Atom, Counted] = {}
        around = {site for run in runs for site in run.site.chain() if isinstance(site.stmt, LOOPS)}
        turned = [(facts.turned[site], site.stmt) for site in around if site in facts.turned]
        for over, loop in turned:
            self._loops |= dict.fromkeys(turns_of_loop(over), loop)
        self._find_moved({site.stmt for site in around})
        bounds = [facts.ranges.get(over.uid, []) for over, _ in turned]
        self._ends = {part for each in bounds if 1 <= len(each) <= 2 for part in self.of(each[-1])}

    def loops_of(self, value: Value, rests: bool = True) -> set[Counted]:
        """The loops whose turns a number counts; empty for any other number. rests: also what is left of such a count.

        In `epoch * n + i` each epoch has taken the n turns at which its loop ends.
        """
        terms = self.of(value)
        while rests and (rest := _divided_for_rest(terms)) is not None:
            terms = rest
        found: set[Counted] = set()
        for monomial, factor in terms:
            turns = [one for one, exponent in monomial if exponent == 1 and one in self._loops]
            times = frozenset(part for part in monomial if part[0] not in turns)
            ends = (end for end, number_of in self._ends if not turns or number_of == factor)
            if len(turns) > 1 or (times and times not in ends):
                return set()
            found |= {self._loops[one] for one in turns if not times}
        return found

    def is_interval(self, value: Value) -> bool:
        """Whether a number grows with the batch size, and does not depend on turns."""
        terms = self.of(value)
        powers = [
            (one, power) for monomial, _ in terms for one, power in monomial if one == SIZE or isinstance(one, Of)
        ]
        grows = bool(powers) and all(one == SIZE and power > 0 for one, power in powers)
        return grows and not self.depends_on_turns(value)

    def depends_on_turns(self, value: Value) -> bool:
        """Whether a number is another one in each turn, as far as is known."""
        return not self._loops.keys().isdisjoint(self.of(value).atoms)

    def _find_moved(self, loops: set[ast.stmt]) -> None:
        for write in self._facts.accesses:
            if not write.write or not isinstance(write.value, (Number, Host)):
                continue
            loop = next((site.stmt for site in write.site.chain() if isinstance(site.stmt, LOOPS)), None)
            sized = any(grows_with(v, self._sizes) for v in write.value.inputs)
            by = moved_by(self._facts, write) if loop in loops and not sized else 0
            if _is_global_step(self._facts, write):
                loop, by = None, 1
            if by:
                self._moved[write.value.uid] = atom((TURN, loop)) * number(by)
                self._loops[TURN, loop] = loop

    def _read(self, value: Value, deep: int) -> Terms:
        inner = before_end(value)
        if inner.uid in self._moved:
            return self._moved[inner.uid]
        return super()._read(inner if getattr(inner, "turn", 0) else value, deep)

    def _of_turn(self, turn: int, bounds: tuple[Value, ...], deep: int) -> Terms:
        begin = self.of(bounds[0], deep) if len(bounds) > 1 else number(0)
        made = super()._of_turn(turn, bounds, deep)
        return made if SIZE in begin.atoms else made - begin

    def _same_length(self, length: Value) -> Number | None:
        """One number for all lengths of the same data."""
        whole = counted_by(length)
        if whole is None or not isinstance(length, Number) or length.value is not None:
            return None
        return self._lengths.setdefault(whole.uid, length)


def _divided_for_rest(terms: Terms) -> Terms | None:
    """What was divided, where a number is what was left of it; None for any other number."""
    ((one, _), *_) = terms.single[0] if terms.single is not None and terms.single[0] else ((None, 0),)
    return one.given[0] if isinstance(one, Of) and one.name in RESTS else None


def _is_global_step(facts: Facts, write: Access) -> bool:
    """Whether a name is given what a run fetches of a variable that is not trained."""
    value, stmt = write.value, write.site.stmt
    if not isinstance(value, Host) or not isinstance(stmt, ast.Assign) or not isinstance(stmt.value, ast.Call):
        return False
    if has(value.call, Trait.READS_STEP):
        return True
    run = next((run for run in facts.runs if run.call is stmt.value), None)
    fetched = run.fetches[0] if run is not None and run.fetches else None
    for target in stmt.targets:
        if target is write.node:
            return _is_kept(fetched)
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(fetched, Sequence) and not fetched.unmeasured:
            pairs = zip(target.elts, fetched.elements, strict=False)
            same = len(target.elts) == len(fetched.elements)
            return same and any(name is write.node and _is_kept(part) for name, part in pairs)
    return False


def _is_kept(fetched: Value | None) -> bool:
    return isinstance(fetched, Variable) and not fetched.trainable
