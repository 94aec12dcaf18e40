"""The turns of `make test` and of `make quick` together run every case, and each of them runs a part of each test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from tests.turns import leave_out

MARKED = [f"test_marked[{case}]" for case in "abcd"]
MANY = [f"test_many[{case}]" for case in "abcdefg"]
FEW = [f"test_few[{case}]" for case in "abc"]
WHOLE = [f"test_whole[{case}]" for case in "abcdefg"]
ALL = [*MARKED, *MANY, *FEW, *WHOLE, "test_one"]


class Case:
    """As much of a test's case as is asked for."""

    def __init__(self, name: str, *marks: pytest.MarkDecorator) -> None:
        self.nodeid, self.marks = name, [one.mark for one in marks]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((mark for mark in self.marks if mark.name == name), None)

    def add_marker(self, name: str) -> None:
        self.marks.append(getattr(pytest.mark, name).mark)


def run_in(turn: int, *left_out: str) -> Sequence[str]:
    marks = {**dict.fromkeys(MARKED, [pytest.mark.one_in(3)]), **dict.fromkeys(WHOLE, [pytest.mark.quick_whole])}
    cases = [Case(name, *marks.get(name, ())) for name in ALL]
    cases.insert(1, Case("test_marked[of the matrix]", pytest.mark.one_in(3), pytest.mark.matrix))
    leave_out(cast("list[pytest.Item]", cases), turn)
    return [case.nodeid for case in cases if not any(case.get_closest_marker(name) for name in left_out)]


def test_make_test_runs_all_but_those_of_marked_tests_that_are_not_in_turn() -> None:
    first, second = run_in(6, "matrix"), run_in(7, "matrix")
    assert first == [MARKED[0], MARKED[3], *ALL[4:]]
    assert second == [MARKED[1], *ALL[4:]]


def test_make_quick_runs_a_fourth_of_many_cases() -> None:
    turns = [run_in(turn, "matrix", "left_by_quick") for turn in (4, 5, 6, 7)]
    assert [[name for name in turn if name in MANY] for turn in turns] == [MANY[first::4] for first in range(4)]
    for turn in turns:
        assert {*FEW, *WHOLE, "test_one"} < set(turn)
        assert set(turn) & set(MARKED)  # of what `make test` leaves of them


def test_what_quick_leaves_out_is_in_make_test() -> None:
    assert set(run_in(0, "matrix")) > set(run_in(0, "matrix", "left_by_quick")) > set(FEW)
