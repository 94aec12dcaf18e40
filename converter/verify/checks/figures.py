"""Figures of the runs as JSON gives them, and what several checks ask of them and say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from converter.verify.data import CheckResult

Facts = Mapping[str, Any]


def number(value: Any) -> float:
    """A figure from JSON, where infinity and NaN are strings."""
    return float(value)


def finite(value: Any) -> bool:
    """Whether a figure is neither infinite nor NaN."""
    return number(value) - number(value) == 0


def worst_of(values: Mapping[str, Any]) -> tuple[str, float]:
    """The largest figure and whose it is; NaN counts as the largest."""
    return max(
        ((name, number(value)) for name, value in values.items() if value is not None),
        key=lambda pair: (pair[1] != pair[1], pair[1]),
        default=("", 0.0),
    )


def listing(names: Iterable[str], limit: int = 3) -> str:
    """The first names, and how many more there are."""
    names = list(names)
    rest = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + rest


def writes_of(facts: Facts, variable: str) -> int:
    """How often a variable is written in one step."""
    return int(facts["writes"].get(variable.split(":")[0], 0))


def check_that(name: str, good: object, right: str, wrong: str) -> CheckResult:
    """Passes where something is `good`; with what to say in each case."""
    return CheckResult(name, "passed" if good else "failed", right if good else wrong)


def check_within(name: str, error: float, tolerance: float, right: str, wrong: str) -> CheckResult:
    """Passes where a figure is a number and not larger than its tolerance; with what to say in each case."""
    good = error <= tolerance
    return CheckResult(name, "passed" if good else "failed", right if good else wrong, error, tolerance)
