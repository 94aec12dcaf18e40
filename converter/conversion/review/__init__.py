"""Reads a conversion's text again, before anything is written, and compares it with the original.

The analysis walks the converted text as it walked the script. Where an expression stands in both, it has to read and
bind the same: the whole batch's outside of the towers, a tower's part inside. Nothing is taken from the plan but the
names under which helpers were written.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field
from itertools import chain

from converter.analysis.facts import Facts
from converter.analysis.flow.keys import key_reader
from converter.analysis.frames import Access
from converter.analysis.traits import Trait, has
from converter.analysis.values import Constant, Instance, Mapping, Sequence, Tensor
from converter.conversion.review.compare import Mode, WalkComparison
from converter.conversion.review.converted_walk import AddedNames, ConvertedFile, ConvertedWalk, walk_again
from converter.conversion.review.counts import counts_differ, rates_differ
from converter.conversion.review.order import orders_differ
from converter.conversion.review.paths import ANYWHERE, Path, Paths
from converter.conversion.review.shared import filled_again, not_there, sessions_left, unshared
from converter.conversion.review.sizes import sizes_differ
from converter.conversion.review.towers import REUSES, turn_of
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.source.text import split_lines

Key = tuple[Path, int, bool]  # how a statement is reached, an expression in it, whether it is bound
HINT = "the conversion would be wrong, so nothing is written: please report it with this message"


@dataclass(frozen=True)
class FoundDifference:
    """A difference of the converted text: its reason, and where both texts read or bind the value."""

    why: str
    before: ast.AST | None
    after: ast.AST | None
    doubtful: bool = False


@dataclass
class Review:
    """The result of the second reading.

    findings: what is wrong. doubts: differences that the walk may know too little of, as findings are worded.
    unread: what could not be compared. reads: how many values were.
    """

    findings: list[Diagnostic] = field(default_factory=list)
    doubts: list[Diagnostic] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    reads: int = 0


def read_again(facts: Facts, texts: list[ConvertedFile], written: AddedNames) -> Review:
    """Walk the converted texts and compare the facts with the original's."""
    second = walk_again(facts, texts, written)
    reading = Review(unread=list(second.towers.unread))
    if second.facts.endless is not None:
        reading.unread.append("the converted text is too long to be walked")
        return reading
    found = list(_Comparing(facts, second, written, reading).differences())
    lines = {text.path: split_lines(text.after) for text in texts}
    for one in found:
        kept = reading.doubts if one.doubtful else reading.findings
        kept.append(_diagnostic(one, facts, second, lines))
    for stmt in second.alignment.lost:
        if any(isinstance(n, ast.Attribute) and has(n.attr, Trait.SETS_REUSE) for n in ast.walk(stmt)):  # by own scopes
            continue
        message = "the converted text does not have this statement"
        reading.doubts.append(_at(facts, stmt, message))
    return reading


def _diagnostic(found: FoundDifference, facts: Facts, second: ConvertedWalk, lines: dict[str, list[str]]) -> Diagnostic:
    """A finding at the original's line, with the converted one."""
    after = ""
    if found.after is not None and hasattr(found.after, "lineno"):
        text = lines.get(second.facts.path_of(found.after), [])
        number = found.after.lineno
        after = f" (line {number} of the converted text: {text[number - 1].strip()})" if number <= len(text) else ""
    return _at(facts, found.before or facts.tree, f"{found.why}{after}")


def _at(facts: Facts, node: ast.AST, message: str) -> Diagnostic:
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
    return Diagnostic("TMG290", facts.shown(node), line, column, message=message, hint=HINT)


class _Comparing:
    """Pairs the values of both walks, and compares them."""

    def __init__(self, facts: Facts, second: ConvertedWalk, written: AddedNames, reading: Review) -> None:
        self.facts, self.second, self.reading = facts, second, reading
        total = written.options.batch == "total"
        added = total or written.options.loss == "global"
        self.comparison = WalkComparison(facts, second, total, added, written.options.scale_lr)
        self.paths = Paths(second)
        self.scale_lr = written.options.scale_lr

    def differences(self) -> Iterator[FoundDifference]:
        """All differences, those of reads and bindings first."""
        yield from self._of_accesses()
        yield from self._of_statements()
        for why, one, two in sizes_differ(self.comparison):
            yield FoundDifference(why, one, two)
        found = [unshared(self.comparison), orders_differ(self.comparison, self.paths)]
        found += [filled_again(self.comparison), not_there(self.comparison), sessions_left(self.comparison)]
        found.append(counts_differ(self.comparison, self.paths))
        if self.scale_lr == "none":
            found.append(rates_differ(self.comparison))
        for why, one, two in chain.from_iterable(found):
            yield FoundDifference(why, one, two)
        self._note_unexecuted()

    # -- what ------------------------------------------------------------------------------------

    def _of_accesses(self) -> Iterator[FoundDifference]:
        """Compares what each expression reads and each statement binds."""
        olds = self._accesses_of_first()
        news: dict[tuple[Key, Mode], list[Access]] = defaultdict(list)
        for access in self.second.facts.accesses:
            node = self.paths.node(access.node)
            if node is None or _is_left(access, node):
                continue
            mode = turn_of(self.comparison.towers, access.time)
            key = self.paths.again(access.site), id(node), access.write
            if key not in olds:  # called by one of the tool's own lines
                key = (ANYWHERE, *key[1:])
            news[key, mode].append(access)
        for (key, mode), accesses in news.items():
            ones = olds.get(key, [])
            unsure = key[0] == ANYWHERE or len(ones) != len(accesses)  # it may be another execution
            for old, access in zip(ones, accesses, strict=False):
                self.reading.reads += 1
                if isinstance(old.value, (Sequence, Mapping)) and old.node in self.facts.selections:
                    continue  # what is taken out of it is compared
                if isinstance(old.value, Mapping) and key_reader(self.facts.parents, old.node) is not None:
                    continue  # what lies under the keys is compared where it is read
                if mode and _reuses(self.facts, old, access):
                    continue
                difference = self.comparison.read(old.value, access.value, mode)
                if difference is not None:
                    uncalled = any(isinstance(site.stmt, ast.ClassDef) for site in access.site.chain())
                    doubtful = difference.doubtful or unsure or uncalled
                    yield FoundDifference(difference.why, old.node, access.node, doubtful)
            for access in accesses[len(ones) :]:
                line = getattr(self.paths.node(access.node), "lineno", 0)
                self._unread(f"line {line} is executed more often than in the original")

    def _accesses_of_first(self) -> dict[Key, list[Access]]:
        """The original's reads and bindings, by the call path of their statement, and once more by statement alone."""
        found: dict[Key, list[Access]] = defaultdict(list)
        for access in self.facts.accesses:
            if not isinstance(access.node, ast.stmt):
                found[self.paths.first(access.site), id(access.node), access.write].append(access)
                found[ANYWHERE, id(access.node), access.write].append(access)
        return found

    def _of_statements(self) -> Iterator[FoundDifference]:
        """Compares what statements build that bind nothing: training steps, summaries."""
        olds: dict[Path, list[Tensor]] = defaultdict(list)
        for tensor in _unbound(self.facts):
            olds[self.paths.first(tensor.site)].append(tensor)
        news: dict[tuple[Path, Mode], list[Tensor]] = defaultdict(list)
        for tensor in _unbound(self.second.facts):
            news[self.paths.again(tensor.site), turn_of(self.comparison.towers, tensor.time)].append(tensor)
        for (path, mode), made in news.items():
            there = olds.get(path, [])
            steps = [t for t in there if t.op == "train op"], [t for t in made if t.op == "train op"]
            for ones, twos in ((there, made), steps):
                if len(ones) == len(twos):
                    for one, two in zip(ones, twos, strict=True):
                        if (difference := self.comparison.differ(one, two, mode)) is not None:
                            yield FoundDifference(difference.why, one.node, two.node, difference.doubtful)
                    break

    def _note_unexecuted(self) -> None:
        executed = {self.paths.end(self.paths.again(access.site)) for access in self.second.facts.accesses}
        for access in self.facts.accesses:
            if id(access.site.stmt) not in executed:
                self._unread(f"line {access.site.stmt.lineno} of the original is not executed")

    def _unread(self, why: str) -> None:
        if why not in self.reading.unread:
            self.reading.unread.append(why)


def _reuses(facts: Facts, old: Access, new: Access) -> bool:
    """Whether a later tower asks for the reuse of a scope's variables that the script makes there.

    The tower's own scope reuses the first tower's variables, and so does a scope inside of it, whatever it asks for.
    """
    given = facts.parents.get(old.node)
    call = facts.parents.get(given) if isinstance(given, ast.keyword) and given.arg == REUSES else None
    if not isinstance(call, ast.Call) or not isinstance(facts.parents.get(call), ast.withitem):
        return False
    values = [each.value for each in (old.value, new.value) if isinstance(each, Constant)]
    return len(values) == 2 and values[0] in (False, None) and values[1] is True


def _is_left(access: Access, node: ast.AST) -> bool:
    """Whether it is what branches leave, or what one of several objects holds: that is compared where it is read."""
    if isinstance(node, ast.stmt):
        return True
    holder = access.place.holder
    if not isinstance(holder, Instance) or not any(isinstance(one, Instance) for one in holder.inputs):
        return False
    return access.write and access.site is holder.site


def _unbound(facts: Facts) -> Iterator[Tensor]:
    """What statements make that bind nothing; what several functions leave is compared where it is read."""
    return (t for t in facts.tensors if t.site is not None and isinstance(t.site.stmt, ast.Expr) and t.op != "join")


__all__ = ["Review", "ConvertedFile", "AddedNames", "read_again"]
