"""A conversion that computes its loss once has the gradient of the whole batch, and no other."""

from __future__ import annotations

import pytest

from converter.verify.checks.training import check_gradients


@pytest.mark.parametrize(
    ("reference", "kind", "once", "status"),
    [
        ("whole", "other", True, "passed"),
        ("shards", "other", True, "failed"),
        ("shards", "coupled sum", True, "failed"),
        ("shards", "sum", True, "failed"),
        ("shards", "mean", True, "passed"),
        ("shards", "unknown", True, "passed"),  # the original takes no such batch
        ("shards", "other", False, "passed"),
    ],
)
def test_what_counts(reference: str, kind: str, once: bool, status: str) -> None:
    step = {"reference": reference, "kind": kind, "finite": True, "gradients": {"w": 0.0}, "rows": 8, "matches": []}
    assert check_gradients([step], "total", once).status == status
