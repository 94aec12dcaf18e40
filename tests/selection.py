"""Which cases of a test `make test` and `make quick` run; what is too long for each run is left to the matrix.

`make test` runs the first of each n cases of a test that is marked one_in(n), all cases of the others; of a module that
is marked one_test_in(n) it runs the first of each n of these. `make quick` runs the first of each four cases of a test
that has as many, unless it is marked quick_whole. The matrix runs all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import pytest

QUICK_ONE_IN = 4


def leave_out(items: Iterable[pytest.Item]) -> None:
    """Marks cases that `make test` leaves to the matrix as part of it, and those of `make quick` as left_by_quick.

    Cases that are part of the matrix already do not count.
    """
    items = [*items]
    for cases in _groups(items, "["):
        _mark_all_but_first(cases, _of_each(cases, "one_in"), "matrix")
    for tests in _groups(items, "::"):
        _mark_all_but_first(tests, _of_each(tests, "one_test_in"), "matrix")
    for left in _groups(items, "["):
        whole = len(left) < QUICK_ONE_IN or left[0].get_closest_marker("quick_whole")
        _mark_all_but_first(left, 1 if whole else QUICK_ONE_IN, "left_by_quick")


def _groups(items: Sequence[pytest.Item], end: str) -> Iterable[Sequence[pytest.Item]]:
    """The items that `make test` runs, put together by their names up to `end`."""
    groups: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("matrix"):
            groups[item.nodeid.split(end)[0]].append(item)
    return groups.values()


def _of_each(items: Sequence[pytest.Item], mark: str) -> int:
    """How many items there are to each that is run: the argument of a mark of the first item, or 1."""
    marker = items[0].get_closest_marker(mark)
    return int(marker.args[0]) if marker else 1


def _mark_all_but_first(cases: Sequence[pytest.Item], of: int, name: str) -> None:
    """Marks all cases but the first of each `of`."""
    for number, case in enumerate(cases):
        if number % of:
            case.add_marker(name)
