"""Limits: how many iterations of a loop and how many executions of a call are followed.

A loop that builds a part of the graph in each turn is followed turn by turn. Of any other loop the second turn shows
what a turn leaves to the next; a third one, with the numbers open that turns change, shows what a condition keeps for
later turns. No further turn shows anything new. Where an outer loop runs such a loop again, one
turn is enough: loops inside each other would otherwise cost two to the power of their depth. So would functions that
call each other: a call that is executed again and again while nothing is built is followed only so many times.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from converter.analysis.values import Function, Mapping, Number, Sequence, Value
from converter.dataclass import dataclass

Where = tuple[str, str]  # the kind and the key of a place, in whichever frame or object

MOST_CALLS = 200  # executions of one call that are followed while nothing enters the graph
MOST_IN_REPEATS = 100  # the same inside of loops, of which three turns are followed
MOST_IN_CIRCLES = 50  # of all calls of one function, where functions call each other
FLAT = 2  # comprehensions inside each other beyond which one element tells of all that are not known


class Endless(Exception):
    """More statements were executed than a script of this length may take."""


@dataclass
class Repeats:
    """Loops that build nothing, and how deeply the current statement is repeated.

    deep: the loops around the current statement, through callers too, that are in their second turn or a later one.
    decided: conditions, so far, of which one side alone was followed.
    first: of the numbers that loops count by, for those around the current statement that are followed from their
        first turn on: whether this is the first one.
    idle: loops that built nothing when they last ran, with the places of the numbers that their turns changed.
    circles: functions that call themselves, or others that do.
    settled: functions, with how many of their calls have shown nothing, one after the other, and a result; -1 where one
        has shown something.
    """

    deep: int = 0
    idle: dict[ast.AST, frozenset[Where]] = field(default_factory=dict)
    settled: dict[ast.AST, tuple[int, Value | None]] = field(default_factory=dict)
    decided: int = 0
    first: dict[int, bool] = field(default_factory=dict)
    comprehended: int = 0  # the same of the comprehensions around the current expression
    _calls: dict[tuple[ast.AST | None, ast.AST], tuple[int, int]] = field(default_factory=dict)

    circles: set[ast.AST] = field(default_factory=set)

    def may_call(self, node: ast.AST, function: Function, stack: list[Function], clock: int) -> bool:
        """Whether one more execution of a call is followed; clock: goes on when something enters the graph."""
        if function in stack:
            self.circles.update(called.node for called in stack[stack.index(function) :])
        recursive = function.node in self.circles
        at = None if recursive else node, function.node
        since, count = self._calls.get(at, (clock, 0))
        self._calls[at] = since, count = (since, count + 1) if since == clock else (clock, 1)
        if recursive:
            return count <= MOST_IN_CIRCLES
        return count <= (MOST_IN_REPEATS if self.deep > 0 else MOST_CALLS)

    def told(self, iterable: Value, elements: list[Value]) -> list[Value]:
        """The elements that a comprehension is followed for: deep inside others, the first of an unknown number."""
        known = isinstance(iterable, (Sequence, Mapping)) and not getattr(iterable, "many", False)
        return elements if known or self.comprehended < FLAT else elements[:1]

    @contextmanager
    def turn(self, number: int, element: Value | None = None) -> Iterator[None]:
        """While a turn of a loop is executed; they are counted from 0. element: what the loop gives to that turn."""
        counted = element.elements[0] if isinstance(element, Sequence) and element.elements else element
        known = counted.turn if isinstance(counted, Number) else 0
        before, self.first = self.first, {**self.first, known: number == 0} if known else self.first
        self.deep += number > 0
        try:
            yield
        finally:
            self.first = before
            self.deep -= number > 0
