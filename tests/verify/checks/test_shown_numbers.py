"""Printed numbers and the values that runs fetched: N times the value is a fault, the original's own text is none."""

from __future__ import annotations

import pytest

from converter.verify.checks.beyond_steps import _shows


@pytest.mark.parametrize(
    ("text", "wanted", "own", "other", "times"),
    [
        ("0.5210", "0.5210", 0.521, 0.521, 1.0),
        ("1.0420", "0.5210", 0.521, 0.521, 2.0),  # a sum for a mean
        ("0.2605", "0.5210", 0.521, 0.521, 0.5),
        ("0.1200", "0.1200", 0.12, 0.06, None),  # a learning rate, and an accuracy that is like it by chance
        ("0.1200", "0.3000", 0.521, 0.06, None),
    ],
)
def test_numbers_that_are_shown(text: str, wanted: str, own: float, other: float, times: float | None) -> None:
    assert _shows(text, wanted, ([[own]], [[other]]), 2) == times
