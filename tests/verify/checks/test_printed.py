"""Lines that two runs print are the same but for blanks and the rounding of numbers."""

from __future__ import annotations

import pytest

from converter.verify.checks.untrained import same_line, unlike_lines


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", ""),
        ("loss 0.5", "loss  0.5"),
        ("loss 0.50000", "loss 0.50001"),
        ("[1.0 2.0 1e-9]", "[1.0 2.0 3e-9]"),
        ("1e3 rows", "1000.0 rows"),
        ("nan", "nan"),
        ("-inf", "-inf"),
        ("class 3 of 10", "class 3 of 10"),
        ("w: -0.25", "w: -0.2500001"),
    ],
)
def test_same(one: str, other: str) -> None:
    assert same_line(one, other) and same_line(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", "a"),
        ("loss 0.5", "loss 0.6"),
        ("loss 0.5", "Loss 0.5"),
        ("class 3", "class 4"),
        ("1000000 rows", "1000001 rows"),  # whole numbers are counts
        ("0.5", "nan"),
        ("inf", "-inf"),
        ("0.5 0.5", "0.5"),
        ("-0.25", "0.25"),
        ("1.001", "1.002"),
    ],
)
def test_unlike(one: str, other: str) -> None:
    assert not same_line(one, other) and not same_line(other, one)


def test_lines_that_are_missing_differ() -> None:
    assert unlike_lines("a\nb 1.0\n", "a\nb 1.00001\n") == {}
    assert unlike_lines("a\nb\n", "a\n") == {2: ("b", "")}
    assert unlike_lines("a\n", "a\nb\n") == {2: ("", "b")}
