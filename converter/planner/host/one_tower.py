"""One tower in a branch of the script: the number of GPUs is set to one where it begins."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable
from functools import cached_property

from converter.analysis.facts import Facts
from converter.analysis.frames import Place
from converter.analysis.values import Number, Origin, Sides, Site, needed
from converter.dataclass import dataclass
from converter.plan import At, Insert, Plan
from converter.plan.decisions import BATCH_SIZE
from converter.planner.host.gpu_count import GpuCount
from converter.planner.questions.conditions import Branch, Conditions
from converter.planner.writing.source_text import SourceText
from converter.source.syntax import first_statement

CODE = "TMG149"


@dataclass(frozen=True)
class Reason:
    """Why a branch gets one tower.

    text: as the comment says it. resets: the places that the branch sets, of which it reads nothing that was there
        before. sizes: the numbers that are scaled.
    """

    text: str
    resets: frozenset[Place] = frozenset()
    sizes: frozenset[Origin] = frozenset()


UNTRAINED = Reason("nothing trains here: one tower takes the script's batches")


def one_tower(
    branches: Iterable[Branch], plan: Plan, count: GpuCount, text: SourceText, reason: Reason = UNTRAINED
) -> tuple[list[Branch], list[Insert]]:
    """Of the branches, those at whose beginning the number of GPUs can be set to one, and the lines that do it.

    That is too late where the number was read before.
    """
    if count.module_is_shared or count.one_gpu:
        return [], []
    facts = count.facts
    reads = _Reads(plan, count, text, reason)
    found: list[Branch] = []
    inserts: list[Insert] = []
    for branch in branches:
        name = count.at(facts.path_of(branch.stmt))
        function = branch.frame.node
        declared = name.isidentifier() and not isinstance(function, ast.Module)
        on_line = text.anchor(branch.first) != text.start(branch.first)  # of the condition: `else: evaluate()`
        if on_line or (declared and not isinstance(function, ast.FunctionDef)) or not reads.come_after(branch):
            continue
        found.append(branch)
        line = f"{name} = 1  # {reason.text}"
        inserts.append(Insert(text.start(branch.first), (line,), "top", CODE))
        top = Insert(text.anchor(first_statement(function)), (f"global {name}",), "top", "TMG112") if declared else None
        if top is not None and top not in (*plan.inserts, *inserts):
            inserts.append(top)
    return found, inserts


@dataclass(frozen=True)
class _Reads:
    """Where a plan reads the number of GPUs."""

    plan: Plan
    count: GpuCount
    text: SourceText
    reason: Reason

    @property
    def facts(self) -> Facts:
        """The facts of the script."""
        return self.count.facts

    def come_after(self, branch: Branch) -> bool:
        """Whether each read of the number comes after a branch begins, or is left out where it is taken."""
        tests = set(ast.walk(branch.stmt.test))
        asked = [a.time for a in self.facts.accesses if a.node in tests and a.site.frame is branch.frame]
        if not asked or self._is_unseen:
            return False
        before = (site for time, site in self._executed if time < max(asked))
        sides = branch.sides
        taken = [site for site in before if not site.leaves_out(sides)]
        return not taken or (self._only_scale(taken) and not self._go_on(max(asked), sides))

    def _only_scale(self, sites: Iterable[Site]) -> bool:
        """Whether what stands there reads the number of GPUs to scale a batch size, which the branch sets again."""
        scaling = self._stmts_at({one.at for one in self.plan.replaces if one.why == BATCH_SIZE})
        others = self._stmts - scaling
        stmts = {one.stmt for site in sites for one in site.chain()}
        return bool(self.reason.resets) and others.isdisjoint(stmts)

    def _go_on(self, time: int, sides: Sides) -> bool:
        """Whether anything is computed where the branch is taken from sizes that were scaled before."""
        sizes = self.reason.sizes
        made = [v for v in (*self.facts.tensors, *self.facts.inputs) if v.time < time]
        read = (
            a.value
            for a in self.facts.accesses
            if a.time > time and a.value.time < time and a.place not in self.reason.resets
            if not a.site.leaves_out(sides)
        )
        return any(
            isinstance(number, Number) and not sizes.isdisjoint(number.origins)
            for number in needed([*made, *read]).values()
        )

    @cached_property
    def _is_unseen(self) -> bool:
        """Whether a statement that reads it is executed, and was not seen to be."""
        seen = {stmt for _, site in self._executed for stmt in (one.stmt for one in site.chain())}
        return any(stmt not in seen and self._is_called(stmt) for stmt in self._stmts)

    def _is_called(self, stmt: ast.stmt) -> bool:
        """Whether a run comes to the function that a statement stands in."""
        above = self.facts.parents.get(stmt)
        while above is not None and not isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            above = self.facts.parents.get(above)
        return above is None or above in self.facts.called

    @cached_property
    def _executed(self) -> list[tuple[int, Site]]:
        """When, and where, statements that read it were executed."""
        found: list[tuple[int, Site]] = []
        for site, accesses in self.facts.accesses_by_site:
            if any(one.stmt in self._stmts for one in site.chain()):
                found += [(access.time, site) for _, access in accesses]
        return found

    @cached_property
    def _stmts(self) -> frozenset[ast.stmt]:
        """The statements that read it in the converted script."""
        return self._stmts_at(self._places)

    def _stmts_at(self, places: Collection[At]) -> frozenset[ast.stmt]:
        """The statements around some places."""
        found: dict[At, ast.stmt] = {}
        for nodes in self.facts.walked.values():
            for stmt in nodes.parents:  # from the top of the file down
                if isinstance(stmt, ast.stmt):
                    start, end = self.text.start(stmt), self.text.end(stmt)
                    found.update((at, stmt) for at in places if at.path == start.path and start <= at < end)
        return frozenset(found.values())

    @cached_property
    def _places(self) -> set[At]:
        """Where it is read: by what is replaced and inserted, but its own definition, and by the loops."""
        plan, defined = self.plan, set(self.count.inserts)
        reads: Callable[[str], object] = re.compile(
            rf"\b(num_gpus|{re.escape(self.count.name or 'num_gpus')})\b"
        ).search
        found = {one.at for one in plan.replaces if reads(one.text)}
        found |= {one.at for one in plan.inserts if one not in defined and reads("\n".join(one.lines))}
        return found | {at for loop in plan.loops for at in (*loop.before, *loop.tower, *loop.after)}


def runs_in(facts: Facts, branches: Iterable[Branch]) -> frozenset[ast.AST]:
    """The calls of the runs that are only made where one of the branches is taken."""
    held, conditions = tuple(branches), Conditions(facts)
    apart: dict[ast.AST, bool] = {}
    for run in facts.runs if held else ():
        inside = any(conditions.only_where(run.site, branch) for branch in held)
        apart[run.call] = apart.get(run.call, True) and inside
    return frozenset(call for call, inside in apart.items() if inside)
