"""Results of checks that say one thing where they pass and another where they fail."""

from __future__ import annotations

from converter.verify.data import CheckResult


def check_that(name: str, good: object, right: str, wrong: str) -> CheckResult:
    """Passes where something is `good`; with what to say in each case."""
    return CheckResult(name, "passed" if good else "failed", right if good else wrong)


def check_within(name: str, error: float, tolerance: float, right: str, wrong: str) -> CheckResult:
    """Passes where a figure is a number and not larger than its tolerance; with what to say in each case."""
    good = error <= tolerance
    return CheckResult(name, "passed" if good else "failed", right if good else wrong, error, tolerance)
