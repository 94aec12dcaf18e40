"""Which cases of a test `make test` and `make quick` run; what is too long for each run is left to the matrix.

`make test` runs the first of each n cases of a test that is marked one_in(n), all cases of the others; `make quick` the
first of each four cases of a test that has as many, unless it is marked quick_whole. The matrix runs all.
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
    cases_of: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("matrix"):
            cases_of[item.nodeid.split("[")[0]].append(item)
    for cases in cases_of.values():
        marker = cases[0].get_closest_marker("one_in")
        _mark_all_but_first(cases, marker.args[0] if marker else 1, "matrix")
        left = [case for case in cases if not case.get_closest_marker("matrix")]
        whole = len(left) < QUICK_ONE_IN or cases[0].get_closest_marker("quick_whole")
        _mark_all_but_first(left, 1 if whole else QUICK_ONE_IN, "left_by_quick")


def _mark_all_but_first(cases: Sequence[pytest.Item], of: int, name: str) -> None:
    """Marks all cases but the first of each `of`."""
    for number, case in enumerate(cases):
        if number % of:
            case.add_marker(name)
