"""Places are the same by what they are of, whatever frame or object stands beside them."""

from __future__ import annotations

import pytest

from converter.analysis.frames import Place
from converter.analysis.values import Host


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (Place("name", 1, "x"), True),
        (Place("name", 1, "x", holder=Host()), True),
        (Place("name", 2, "x"), False),
        (Place("attr", 1, "x"), False),
        (Place("name", 1, "y"), False),
    ],
)
def test_places(other: Place, same: bool) -> None:
    assert (Place("name", 1, "x") == other) is same
    assert (hash(Place("name", 1, "x")) == hash(other)) is same
