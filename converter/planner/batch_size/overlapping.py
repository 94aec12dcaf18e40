"""Batches that overlap, or leave rows out: `x[i:i + batch_size]` where i goes on by another number of rows.

Where the batch size grows, such a step takes other rows than N steps of the original do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from converter.analysis.arrays.rows import spanned
from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.frames import Access
from converter.analysis.values import Host, Number, Origin, Value, needed
from converter.dataclass import dataclass

LOOPS = (ast.For, ast.AsyncFor, ast.While)
RANGE = "numpy.arange"


def overlapping(facts: Facts, steps: Iterable[TrainStep], sizes: Iterable[Origin]) -> Iterator[ast.AST]:
    """The slices of fed data that are as long as a batch, and begin at numbers that go on by another number of rows."""
    scaled = frozenset(sizes)
    trained = {step.result.uid for step in steps}
    ranges = {tuple(a.uid for a in args): args for args in facts.ranges.values() if args}
    reads = {a.node: a for a in facts.accesses if not a.write}
    seen: set[ast.AST] = set()
    for run in (run for run in facts.runs if run.computes(trained)):
        for value in needed(fed for _, fed in run.feeds).values():
            node = value.node if isinstance(value, Host) else None
            if not isinstance(node, ast.Slice) or node.lower is None or node in seen:
                continue
            rows = spanned(value, node)
            if rows is None or not rows.linear & scaled or not value.inputs:
                continue
            seen.add(node)
            begins = _Begins(facts, scaled, ranges, rows)
            moves = begins.of(value.inputs[0]) | begins.counted(reads.get(node.lower), run)
            if moves == {False}:
                yield node.lower


@dataclass(frozen=True)
class _Begins:
    """How the numbers at which batches begin go on: True by batches, False by another number.

    ranges: the arguments of each `range()`, by their uids. rows: how many rows a batch has.
    """

    facts: Facts
    scaled: frozenset[Origin]
    ranges: Mapping[tuple[int, ...], Sequence[Value]]
    rows: Number

    def of(self, value: Value) -> set[bool]:
        """What loops over ranges make of it; nothing where it is another number."""
        if isinstance(value, Host) and value.call == "item" and value.inputs:
            source = value.inputs[0]
            arange = isinstance(source, Host) and source.call == RANGE
            return {self._in_batches([v for v in source.inputs if isinstance(v, Number)])} if arange else set()
        if not isinstance(value, Number):
            return set()
        bounds = self.ranges.get(tuple(v.uid for v in value.inputs))
        if bounds is not None:
            return {self._in_batches(bounds)}
        inner = [self.of(v) for v in value.inputs]
        moves: set[bool] = set().union(*inner)
        return {True} if moves and value.linear & self.scaled else moves

    def _in_batches(self, bounds: Sequence[Value]) -> bool:
        """Whether a range goes on by the batch size itself, and not by the half of it."""
        step = bounds[2] if len(bounds) > 2 else None
        known = isinstance(step, Number) and step.value is not None and self.rows.value is not None
        if not isinstance(step, Number) or (known and step.value != self.rows.value):
            return False
        return bool(step.linear & self.scaled) and (known or not step.quotient)

    def counted(self, access: Access | None, run: RunCall) -> set[bool]:
        """What a loop around a training step adds to the number itself: `i += 8`."""
        if access is None or access.place.kind not in ("name", "attr"):
            return set()
        loops = {site.stmt for site in run.site.chain() if isinstance(site.stmt, LOOPS)}
        writes = (w for w in self.facts.writes_to(access.place) if loops & {s.stmt for s in w.site.chain()})
        return {bool(self.scaled & value.origins) for value in _computed(writes)}


def _computed(writes: Iterable[Access]) -> Iterator[Number]:
    """The numbers that statements compute from the one that was there, `i += n`, `i = i + n`."""
    for write in writes:
        stmt = write.site.stmt
        names = {getattr(n, "id", getattr(n, "attr", "")) for n in ast.walk(stmt) if _is_read(n)}
        again = isinstance(stmt, ast.Assign) and str(write.place.key) in names
        if isinstance(write.value, Number) and (again or isinstance(stmt, ast.AugAssign)):
            yield write.value


def _is_read(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load)
