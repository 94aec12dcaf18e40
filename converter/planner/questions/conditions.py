"""Conditions of the script: which of them follow from others, and the branches that they choose between."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from converter.analysis.facts import Facts
from converter.analysis.values import Frame, Number, Sides, Site, Value
from converter.dataclass import dataclass

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

    @property
    def is_elif(self) -> bool:
        """Whether it begins with `elif`, so that no line can stand in front of its first statement."""
        first = self.first
        return not self.side and isinstance(first, ast.If) and first.col_offset == self.stmt.col_offset


@dataclass(frozen=True)
class Conditions:
    """The conditions of a script."""

    facts: Facts

    def only_where(self, site: Site, branch: Branch) -> bool:
        """Whether a statement is only executed where a branch was taken: on its side, or under the same condition."""
        if branch.holds(site):
            return True
        return self.contradicts(site, dict(self.answers(branch.stmt.test, branch.frame, not branch.side)))

    def contradicts(self, site: Site, answers: Answers) -> bool:
        """Whether a statement stands on a side of a condition that is not taken with these answers."""
        inner: ast.stmt | None = None
        for one in site.chain():
            if isinstance(one.stmt, ast.If) and inner is not None:
                taken = self.truth(one.stmt.test, one.frame, answers)
                if taken is not None and taken is not (inner in one.stmt.body):
                    return True
            inner = one.stmt
        return False

    def truth(self, test: ast.expr, frame: Frame, answers: Answers) -> bool | None:
        """The answer to a condition that follows from others; None where it does not."""
        key, asked = self._question(test, frame)
        if key is None:
            return None
        if key in answers:
            return answers[key] is asked
        if _is_equality(key) and any(answer and _is_other_value(key, known) for known, answer in answers.items()):
            return not asked
        return None

    def answers(self, test: ast.expr, frame: Frame, side: bool) -> Iterator[tuple[Key, bool]]:
        """The conditions whose outcome follows from `test` being `side`, each with its outcome."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is side:
            for part in test.values:
                yield from self.answers(part, frame, side)
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


def branches_around(site: Site) -> list[Branch]:
    """The branches around a statement, outermost first."""
    frames = {one.frame.uid: one.frame for one in site.chain()}
    sides = tuple(reversed(site.sides().items()))
    found = enumerate(sides)
    return [
        Branch(frames[uid], stmt, side is True, sides[:i])
        for i, ((uid, stmt), side) in found
        if isinstance(stmt, ast.If)
    ]


def _is_equality(key: Key) -> bool:
    return key[0] == "compare" and key[1] is ast.Eq


def _is_other_value(key: Key, known: Key) -> bool:
    """Whether the second says that something equals a constant, and the first that it equals another one."""
    if not _is_equality(known) or key[2] != known[2]:
        return False
    constants = [one[3] for one in (key, known) if isinstance(one[3], tuple) and one[3][0] == "constant"]
    return len(constants) == 2 and constants[0] != constants[1]
