"""Which cases of a test `make test` and `make quick` run: variations of one thing take turns.

`make test` runs every n-th case of a test that is marked one_in(n), all cases of the others; `make quick` every
fourth case of a test that has as many, unless it is marked quick_whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import pytest

QUICK_ONE_IN = 4


def leave_out(items: Iterable[pytest.Item], turn: int) -> None:
    """Marks cases that `make test` leaves to the matrix as part of it, and those of `make quick` as left_by_quick.

    turn: which ones; n turns one after the other run all of them. Cases that are part of the matrix do not count.
    """
    cases_of: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("matrix"):
            cases_of[item.nodeid.split("[")[0]].append(item)
    for cases in cases_of.values():
        marker = cases[0].get_closest_marker("one_in")
        _mark_all_but(cases, turn, marker.args[0] if marker else 1, "matrix")
        left = [case for case in cases if not case.get_closest_marker("matrix")]
        whole = len(left) < QUICK_ONE_IN or cases[0].get_closest_marker("quick_whole")
        _mark_all_but(left, turn, 1 if whole else QUICK_ONE_IN, "left_by_quick")


def _mark_all_but(cases: Sequence[pytest.Item], turn: int, one_in: int, name: str) -> None:
    for number, case in enumerate(cases):
        if (number - turn) % one_in:
            case.add_marker(name)
