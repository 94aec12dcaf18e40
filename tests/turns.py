"""Which cases of a test `make test` and `make quick` run: variations of one thing that take long take turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

# What the marker says of how many cases one is run, and the marker of the others.
LEFT_OUT = {"one_in": "matrix", "quick_one_in": "left_by_quick"}


def leave_out(items: Iterable[pytest.Item], turn: int) -> None:
    """Of the cases of a test that is marked one_in(n) or quick_one_in(n), marks all but every n-th as left out.

    turn: which ones; n turns one after the other have all of them. Cases that are left out anyway do not count.
    """
    counted: Counter[tuple[str, str]] = Counter()
    for item in items:
        for name, left_out in LEFT_OUT.items():
            marker = item.get_closest_marker(name)
            if marker is None or item.get_closest_marker(left_out):
                continue
            test = (name, item.nodeid.split("[")[0])
            if (counted[test] - turn) % marker.args[0]:
                item.add_marker(left_out)
            counted[test] += 1
