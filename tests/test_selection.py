"""`make test` and `make quick` run the same part of each test whenever they run; the matrix runs every case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from tests.selection import leave_out

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


def cases_without(*left_out: str) -> Sequence[str]:
    marks = {**dict.fromkeys(MARKED, [pytest.mark.one_in(3)]), **dict.fromkeys(WHOLE, [pytest.mark.quick_whole])}
    cases = [Case(name, *marks.get(name, ())) for name in ALL]
    cases.insert(1, Case("test_marked[of the matrix]", pytest.mark.one_in(3), pytest.mark.matrix))
    leave_out(cast("list[pytest.Item]", cases))
    return [case.nodeid for case in cases if not any(case.get_closest_marker(name) for name in left_out)]


def test_make_test_runs_the_first_of_three_cases_of_a_marked_test() -> None:
    assert cases_without("matrix") == [MARKED[0], MARKED[3], *ALL[4:]]


def test_make_quick_runs_a_fourth_of_many_cases() -> None:
    quick = cases_without("matrix", "left_by_quick")
    assert [name for name in quick if name in MANY] == MANY[::4]
    assert {*FEW, *WHOLE, "test_one"} < set(quick)
    assert set(quick) & set(MARKED)  # of what `make test` leaves of them


def test_make_test_runs_the_first_of_two_tests_of_a_marked_module() -> None:
    half = [pytest.mark.one_test_in(2)]
    cases = [Case(f"long.py::test_{name}", *half) for name in "abc"] + [Case(f"short.py::test_{name}") for name in "ab"]
    cases.insert(1, Case("long.py::test_of_the_matrix", *half, pytest.mark.matrix))
    leave_out(cast("list[pytest.Item]", cases))
    left = [case.nodeid for case in cases if not case.get_closest_marker("matrix")]
    assert left == ["long.py::test_a", "long.py::test_c", "short.py::test_a", "short.py::test_b"]


def test_the_matrix_runs_every_case() -> None:
    assert {*ALL} < set(cases_without())


def test_what_quick_leaves_out_is_in_make_test() -> None:
    assert set(cases_without("matrix")) > set(cases_without("matrix", "left_by_quick")) > set(FEW)
