"""Which cases of a test `make test` runs: variations of one thing that take long take turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest


def leave_to_the_matrix(items: Iterable[pytest.Item], turn: int) -> None:
    """Of the cases of a test that is marked one_in(n), marks all but every n-th as part of the matrix.

    turn: which ones; n turns one after the other have all of them. Cases that are part of the matrix do not count.
    """
    counted: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("one_in")
        if marker is None or item.get_closest_marker("matrix"):
            continue
        test = item.nodeid.split("[")[0]
        if (counted[test] - turn) % marker.args[0]:
            item.add_marker(pytest.mark.matrix)
        counted[test] += 1
