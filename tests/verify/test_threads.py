"""What other threads than the main one save and write belongs to no step, and is not compared as if it did."""

from __future__ import annotations

from typing import Any

import pytest

from converter.verify.checks.beside import check_beside
from converter.verify.data import Check


def diary(*notes: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    held: dict[str, list[dict[str, Any]]] = {}
    for order, (kind, what) in enumerate(notes):
        held.setdefault(kind, []).append({"steps": 0, "order": order, **what})
    return {"notes": held, "steps": 3, "savers": [], "seeds": [], "graph seed": None, "shuffling": []}


def of(checks: list[Check], name: str) -> list[tuple[str, str]]:
    return [(check.status, check.detail) for check in checks if check.name == name]


SAVED = ("saved", {"file": "model.ckpt", "number": 0, "keys": ["w"]})
LATER = ("saved", {"file": "model.ckpt", "number": 8, "keys": ["w"]})


def test_files_of_the_main_thread_are_compared() -> None:
    [(status, detail)] = of(check_beside(diary(SAVED), diary(LATER), 3, 2), "savers")
    assert status == "failed" and "has the step 8 instead of 0" in detail


@pytest.mark.parametrize("kind", ["saved", "summary", "printed"])
def test_what_other_threads_do_is_named_and_left_open(kind: str) -> None:
    elsewhere = ("elsewhere", {"kind": kind})
    for mine, theirs in ((diary(elsewhere), diary()), (diary(), diary(elsewhere))):
        checks = check_beside(mine, theirs, 3, 2)
        assert all(check.status != "failed" for check in checks)
        assert any("other threads" in detail for _, detail in of(checks, "beside the steps"))


def test_runs_in_other_threads_leave_nothing_open() -> None:
    checks = check_beside(diary(("elsewhere", {"kind": "run"})), diary(), 3, 2)
    assert not any("other threads" in check.detail for check in checks)
