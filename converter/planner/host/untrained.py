"""Branches of the script in which nothing trains, such as `else:` after `if train:`: they get one tower.

An evaluation over whole batches leaves out more rows where a batch is N times as large. A run of the script that comes
to such a branch takes no training step, so it needs no batch of all GPUs: with one tower it computes what the original
does. If a step is taken there after all, it is the original's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property

from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.values import Frame, Input, Number, Sequence, Sides, Site, Tensor, Value, built_from
from converter.analysis.values import Mapping as Dict
from converter.dataclass import dataclass
from converter.plan import At, Insert, Plan
from converter.planner.host.gpu_count import GpuCount
from converter.planner.writing.source_text import SourceText
from converter.source.syntax import first_statement

CODE = "TMG149"
_NEGATIONS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In}
Key = tuple[object, ...]  # what a condition asks, the same for each condition that asks it of the same values
Answers = Mapping[Key, bool]


@dataclass(frozen=True)
class Branch:
    """One side of a condition that one execution of its function tests once.

    around: the conditions around it, by their frames, and the sides of them that it stands on.
    """

    frame: Frame
    stmt: ast.If
    side: bool
    around: tuple[tuple[tuple[int, ast.AST], object], ...]

    @property
    def sides(self) -> Sides:
        """All conditions whose sides are known there."""
        return {**dict(self.around), (self.frame.uid, self.stmt): self.side}

    def holds(self, site: Site) -> bool:
        """Whether a statement is only executed on this side."""
        return site.sides().get((self.frame.uid, self.stmt)) is self.side

    @property
    def first(self) -> ast.stmt:
        """The first statement of the branch."""
        return (self.stmt.body if self.side else self.stmt.orelse)[0]


def untrained_branches(facts: Facts, steps: Iterable[TrainStep]) -> list[Branch]:
    """The outermost branches around runs and pipelines that train nothing, where the condition decides that."""
    trained = {step.result.uid for step in (*steps, *facts.train_steps)}
    training = facts.runs_of((*steps, *facts.train_steps))
    if not training:
        return []
    modes = _Modes(facts, frozenset(trained), tuple(training))
    sites = [*(run.site for run in facts.runs), *(made.site for made in facts.inputs if made.site is not None)]
    found = (modes.outermost(site) for site in sites)
    return list(dict.fromkeys(branch for branch in found if branch is not None))


@dataclass(frozen=True)
class _Modes:
    """The conditions of a script, and what trains.

    training: the runs that compute what is in trained. known: whether something that is fetched trains, once looked up.
    """

    facts: Facts
    trained: frozenset[int]
    training: tuple[RunCall, ...]
    known: dict[tuple[int, ...], bool] = field(default_factory=dict, compare=False)

    def outermost(self, site: Site) -> Branch | None:
        """The outermost branch around a statement in which nothing trains, of those where a line can be inserted."""
        around = _branches(site)
        for number, branch in enumerate(around, 1):
            if not self._trains(around[:number]) and not _is_elif(self.facts, branch):
                return branch
        return None

    def _trains(self, known: list[Branch]) -> bool:
        """Whether a training run may be made where these sides are taken."""
        answers = dict(answer for one in known for answer in self._answers(one.stmt.test, one.frame, one.side))
        sides = known[-1].sides
        return any(self._may_train(run, answers, sides) for run in self.training)

    def _may_train(self, run: RunCall, answers: Answers, sides: Sides) -> bool:
        if run.site.leaves_out(sides):
            return False
        inner: ast.stmt | None = None
        for one in run.site.chain():
            if isinstance(one.stmt, ast.If) and inner is not None:
                taken = self._truth(one.stmt.test, one.frame, answers)
                if taken is not None and taken is not (inner in one.stmt.body):
                    return False
            inner = one.stmt
        fetched = [part for value in run.fetches for part in self._chosen(value, answers)]
        key = tuple(part.uid for part in fetched)
        if key not in self.known:
            self.known[key] = not self.trained.isdisjoint(built_from(fetched))
        return self.known[key]

    def _chosen(self, value: Value, answers: Answers) -> Iterator[Value]:
        """The tensors that a fetch can give, if conditions have these known answers."""
        if isinstance(value, (Sequence, Dict)):
            for part in value.parts():
                yield from self._chosen(part, answers)
            return
        taken = None
        if isinstance(value, Tensor) and _is_choice(value) and value.site is not None:
            assert isinstance(value.node, (ast.If, ast.IfExp))
            taken = self._truth(value.node.test, value.site.frame, answers)
        if taken is None:
            yield value
        else:
            yield from self._chosen(value.inputs[0 if taken else 1], answers)

    def _truth(self, test: ast.expr, frame: Frame, answers: Answers) -> bool | None:
        """The answer to a condition that follows from others; None where it does not."""
        key, asked = self._question(test, frame)
        if key is None:
            return None
        if key in answers:
            return answers[key] is asked
        if _is_equality(key) and any(answer and _is_other_value(key, known) for known, answer in answers.items()):
            return not asked
        return None

    def _answers(self, test: ast.expr, frame: Frame, side: bool) -> Iterator[tuple[Key, bool]]:
        """The conditions whose outcome follows from `test` being `side`, each with its outcome."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is side:
            for part in test.values:
                yield from self._answers(part, frame, side)
        key, asked = self._question(test, frame)
        if key is not None:
            yield key, asked is side

    def _question(self, test: ast.expr, frame: Frame) -> tuple[Key | None, bool]:
        """An identity for the tested value, and True if the test holds when it is true; None if not followed."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            key, asked = self._question(test.operand, frame)
            return key, not asked
        if not isinstance(test, ast.Compare):
            return self._read(test, frame), True
        if len(test.ops) != 1:
            return None, True
        kind = type(test.ops[0])
        left, right = self._read(test.left, frame), self._read(test.comparators[0], frame)
        if left is None or right is None:
            return None, True
        return ("compare", _NEGATIONS.get(kind, kind), left, right), kind not in _NEGATIONS

    def _read(self, node: ast.expr, frame: Frame) -> Key | None:
        """An identity for the value that a name, attribute or constant has in a frame; None if there are several."""
        if isinstance(node, ast.Constant):
            return "constant", type(node.value), node.value
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return None
        reads = [a for a in self.facts.accesses_at(node) if not a.write and a.site.frame is frame]
        keys = {_value_key(access.value) for access in reads}
        return keys.pop() if len(keys) == 1 else None


def _value_key(value: Value) -> Key:
    """The flag that a value is, as each read of a flag makes a number of its own; else the value itself."""
    if isinstance(value, Number) and len(value.origins) == 1 and value.origins == value.linear:
        (origin,) = value.origins
        if origin.key[0] == "flag":
            return origin.key
    return "value", value.uid


def _branches(site: Site) -> list[Branch]:
    """The branches around a statement, outermost first."""
    frames = {one.frame.uid: one.frame for one in site.chain()}
    sides = tuple(reversed(site.sides().items()))
    found = enumerate(sides)
    return [
        Branch(frames[uid], stmt, side is True, sides[:i])
        for i, ((uid, stmt), side) in found
        if isinstance(stmt, ast.If)
    ]


def _is_elif(facts: Facts, branch: Branch) -> bool:
    """Whether a branch begins with `elif`, so that no line can stand in front of its first statement."""
    first = branch.first
    return not branch.side and isinstance(first, ast.If) and first.col_offset == branch.stmt.col_offset


def _is_choice(value: Tensor) -> bool:
    """Whether a tensor is one of two among which a condition chooses: the one of its body comes first."""
    both = len(value.inputs) == 2 and all(isinstance(v, Tensor) and not isinstance(v, Input) for v in value.inputs)
    return value.op == "join" and both and isinstance(value.node, (ast.If, ast.IfExp))


def _is_equality(key: Key) -> bool:
    return key[0] == "compare" and key[1] is ast.Eq


def _is_other_value(key: Key, known: Key) -> bool:
    """Whether the second says that something equals a constant, and the first that it equals another one."""
    if not _is_equality(known) or key[2] != known[2]:
        return False
    constants = [one[3] for one in (key, known) if isinstance(one[3], tuple) and one[3][0] == "constant"]
    return len(constants) == 2 and constants[0] != constants[1]


def runs_in(facts: Facts, branches: Iterable[Branch]) -> frozenset[ast.AST]:
    """The calls of the runs that are only made in some of the branches."""
    held = tuple(branches)
    apart: dict[ast.AST, bool] = {}
    for run in facts.runs if held else ():
        apart[run.call] = apart.get(run.call, True) and any(branch.holds(run.site) for branch in held)
    return frozenset(call for call, inside in apart.items() if inside)


def one_tower(
    branches: Iterable[Branch], plan: Plan, count: GpuCount, text: SourceText
) -> tuple[list[Branch], list[Insert]]:
    """Of the branches, those at whose beginning the number of GPUs can be set to one, and the lines that do it.

    That is too late where the number was read before.
    """
    if count.module_is_shared or count.one_gpu:
        return [], []
    facts = count.facts
    reads = _Reads(plan, count, text)
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
        line = f"{name} = 1  # nothing trains here: one tower takes the script's batches"
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
        return all(site.leaves_out(sides) for site in before)

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
        places = self._places
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
