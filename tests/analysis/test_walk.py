"""The state of a walk: where and when values are made, and when a walk gives up."""

from __future__ import annotations

import ast

import pytest

from converter.analysis.flow.repeats import Endless
from converter.analysis.project import Project
from converter.analysis.python.run import evaluate
from converter.analysis.values import FREE, Number, Tensor
from converter.analysis.walk import Known, Walk, lines_of


def walk() -> Walk:
    return Walk("train.py", ast.parse("x = 1"), Project("."), Known(), evaluate)


def test_a_value_is_stamped_once_with_its_statement() -> None:
    state, value = walk(), Tensor(FREE)
    first, second = ast.parse("a = 1\nb = 2").body
    with state.at(first, None):
        state.stamp(value, first)
    with state.at(second, None):
        state.stamp(value, second)
    assert value.site is not None and value.site.stmt is first
    assert state.facts.tensors == [value]


def test_nothing_is_noted_outside_of_statements() -> None:
    state = walk()
    state.stamp(Number(1), state.facts.tree)
    assert (state.clock, state.facts.accesses) == (0, [])


def test_a_walk_that_executes_too_much_gives_up() -> None:
    state = walk()
    state.most = 2
    state.count()
    state.count()
    with pytest.raises(Endless):
        state.count()


@pytest.mark.parametrize(("text", "wanted"), [("", 0), ("x = 1", 1), ("x = 1\n\ny = (\n 2)\n\n", 4)])
def test_the_lines_of_a_file(text: str, wanted: int) -> None:
    assert lines_of(ast.parse(text)) == wanted
