"""Batches that the towers cannot share evenly: an error is left open where no step of a whole run has one."""

from __future__ import annotations

from typing import Any

import pytest

from converter.verify.checks.training import check_uneven

ERROR = {"failed": "InvalidArgumentError: Number of ways to split should evenly divide the split dimension"}
OTHER = {"matches": [], "gradients": {"w": 0.2}, "loss": [1.0, 1.0], "finite": True}
NOT_FINITE = {"gradients": {"w": 0.0}, "loss": [float("nan"), 1.0], "finite": False}


@pytest.mark.parametrize(
    ("found", "sizes", "status"),
    [
        (ERROR, (16,), "skipped"),
        (ERROR, (8, 16), "skipped"),
        (ERROR, (), "failed"),  # no whole run
        (ERROR, (16, 15), "failed"),
        (ERROR, (16, 0), "failed"),
        (OTHER, (16,), "failed"),  # wrong without a word
        (NOT_FINITE, (16,), "failed"),
    ],
)
@pytest.mark.parametrize("size", ["15", "1"])
def test_sizes_that_no_run_has(found: dict[str, Any], sizes: tuple[int, ...], status: str, size: str) -> None:
    (check,) = check_uneven({size: found}, 2, "per-gpu", sizes)
    assert check.status == status
    assert ("no step of the whole run" in check.detail) is (status == "skipped")
