"""The turns of `make test` and of `make quick` together run every case, and each of them runs a part of each test."""

from __future__ import annotations

from typing import cast

import pytest

from tests.turns import LEFT_OUT, leave_out

NAMES = [f"test_a[{case}]" for case in range(7)] + ["test_b[x]", "test_b[y]", "test_c"]


class Case:
    """As much of a test's case as is asked for."""

    def __init__(self, name: str, *marks: pytest.MarkDecorator) -> None:
        self.nodeid, self.marks = name, [one.mark for one in marks]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((mark for mark in self.marks if mark.name == name), None)

    def add_marker(self, name: str) -> None:
        self.marks.append(getattr(pytest.mark, name).mark)


def run_in(turn: int, marker: str = "one_in") -> list[str]:
    left_out = LEFT_OUT[marker]
    one_in = getattr(pytest.mark, marker)(3)
    cases = [Case(name, one_in) for name in NAMES[:-1]] + [Case(NAMES[-1])]
    cases.insert(1, Case("test_a[always left out]", one_in, getattr(pytest.mark, left_out)))
    leave_out(cast("list[pytest.Item]", cases), turn)
    return [case.nodeid for case in cases if not case.get_closest_marker(left_out)]


@pytest.mark.parametrize("marker", LEFT_OUT)
def test_three_turns_have_all_cases_and_none_twice(marker: str) -> None:
    turns = [[name for name in run_in(turn, marker) if name != "test_c"] for turn in (4, 5, 6)]
    assert sorted(sum(turns, [])) == NAMES[:-1]


def test_a_turn_has_every_third_case_of_each_test() -> None:
    assert run_in(0) == ["test_a[0]", "test_a[3]", "test_a[6]", "test_b[x]", "test_c"]
    assert run_in(1) == ["test_a[1]", "test_a[4]", "test_b[y]", "test_c"]
    assert run_in(3) == run_in(0)


def test_quick_leaves_out_none_of_make_test() -> None:
    case = Case("test_a[1]", pytest.mark.quick_one_in(3))
    leave_out(cast("list[pytest.Item]", [Case("test_a[0]", pytest.mark.quick_one_in(3)), case]), 0)
    assert [mark.name for mark in case.marks] == ["quick_one_in", "left_by_quick"]
