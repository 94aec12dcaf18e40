"""The turns of `make test` together run every case, and each of them runs a part of each test."""

from __future__ import annotations

from typing import cast

import pytest

from tests.turns import leave_to_the_matrix

NAMES = [f"test_a[{case}]" for case in range(7)] + ["test_b[x]", "test_b[y]", "test_c"]


class Case:
    """As much of a test's case as is asked for."""

    def __init__(self, name: str, *marks: pytest.MarkDecorator) -> None:
        self.nodeid, self.marks = name, [one.mark for one in marks]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((mark for mark in self.marks if mark.name == name), None)

    def add_marker(self, mark: pytest.MarkDecorator) -> None:
        self.marks.append(mark.mark)


def run_in(turn: int) -> list[str]:
    cases = [Case(name, pytest.mark.one_in(3)) for name in NAMES[:-1]] + [Case(NAMES[-1])]
    cases.insert(1, Case("test_a[always in the matrix]", pytest.mark.one_in(3), pytest.mark.matrix))
    leave_to_the_matrix(cast("list[pytest.Item]", cases), turn)
    return [case.nodeid for case in cases if not case.get_closest_marker("matrix")]


def test_three_turns_have_all_cases_and_none_twice() -> None:
    turns = [[name for name in run_in(turn) if name != "test_c"] for turn in (4, 5, 6)]
    assert sorted(sum(turns, [])) == NAMES[:-1]


def test_a_turn_has_every_third_case_of_each_test() -> None:
    assert run_in(0) == ["test_a[0]", "test_a[3]", "test_a[6]", "test_b[x]", "test_c"]
    assert run_in(1) == ["test_a[1]", "test_a[4]", "test_b[y]", "test_c"]
    assert run_in(3) == run_in(0)
