"""Texts in which calls stand on lines of their own, and the way back to the places of the source."""

from __future__ import annotations

import pytest

from converter.source.separated import NamedCall, separated

SOURCE = "a = 1\n\tloss = f(g(x),  # both\n\t         g(y))\nb = 2\n"
CALLS = (NamedCall((2, 10), (2, 14), 2, "one"), NamedCall((3, 10), (3, 14), 2, "two"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_calls_stand_in_front_of_their_statement(end: str) -> None:
    made = separated(SOURCE.replace("\n", end), CALLS)
    wanted = "a = 1\n\tone = g(x)\n\ttwo = g(y)\n\tloss = f(one,  # both\n\t         two)\nb = 2\n"
    assert made.text == wanted.replace("\n", end)


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ((1, 1), (1, 1)),
        ((2, 8), (2, 11)),
        ((2, 2), (2, 11)),
        ((3, 8), (3, 11)),
        ((3, 10), (3, 13)),
        ((4, 2), (2, 2)),
        ((4, 11), (2, 11)),
        ((4, 14), (2, 15)),
        ((5, 14), (3, 15)),
        ((6, 1), (4, 1)),
        ((0, 0), (0, 0)),
    ],
)
def test_places(place: tuple[int, int], found: tuple[int, int]) -> None:
    assert separated(SOURCE, CALLS).place(*place) == found
