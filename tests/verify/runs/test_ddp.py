"""The verdict on a PyTorch conversion, from figures as the processes give them."""

from __future__ import annotations

from typing import Any

import pytest

from converter.verify.processes.answer import Stopped
from converter.verify.runs.ddp import judged

SHARE = {"missing": 0, "repeated": 1, "even": True, "again": False, "shuffled": True}
ROW = {"name": "fc.weight", "shape": [3, 2], "dtype": "float32", "error": 1e-7, "finite": True}
FACTS: dict[str, Any] = {
    "steps": 3,
    "taken": [3, 3],
    "rows": [ROW],
    "apart": 0.0,
    "gradients": 1e-7,
    "settings": [True, True],
    "own": {"size": 8, "shuffled": True, "examples": 101},
    "training": [[{"size": 8}], [{"size": 8}]],
    "shares": [SHARE, SHARE],
    "evaluations": [[[1, 20, 20, False]], [[1, 20, 20, False]], []],
    "saved": [[["net.pt", ["/a"]]], [["net.pt", ["/a"]]], []],
    "norm": False,
    "same_begin": True,
}


def report(batch: Any = "per-gpu", **changes: Any) -> Any:
    return judged({**FACTS, **changes}, 2, batch, (("PyTorch", "2"),), 0)


def failed(**changes: Any) -> list[str]:
    return [check.name for check in report(**changes).checks if check.status == "failed"]


def test_what_is_right_passes() -> None:
    found = report()
    assert (found.verdict, found.reason) == ("passed", "2 processes take the original's 3 steps on 2 batches at a time")
    assert {check.status for check in found.checks} == {"passed"}
    assert "1 are taken twice" in next(check.detail for check in found.checks if check.name == "shares")


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"rows": [{**ROW, "error": 0.1}]}, "weights"),
        ({"rows": [ROW, {**ROW, "name": "other", "error": None}]}, "parameters"),
        ({"gradients": 0.5}, "gradients"),
        ({"apart": 1e-3}, "processes"),
        ({"taken": [3, 2]}, "steps"),
        ({"settings": [True, False]}, "optimizer"),
        ({"shares": [None, None]}, "shares"),
        ({"shares": [{**SHARE, "missing": 2}]}, "shares"),
        ({"shares": [{**SHARE, "repeated": 2}]}, "shares"),
        ({"shares": [{**SHARE, "even": False}]}, "shares"),
        ({"shares": [SHARE, {**SHARE, "again": True}]}, "shuffling"),
        ({"shares": [{**SHARE, "shuffled": False}]}, "shuffling"),
        ({"training": [[{"size": 8}], [{"size": 4}]]}, "batch"),
        ({"evaluations": [[[1, 20, 20, False]], [[1, 10, 20, False]], []]}, "evaluation"),
        ({"evaluations": [[[1, 20, 20, False]], [[1, 20, 20, False]], [[1, 20, 20, False]]]}, "evaluation"),
        ({"saved": [[["net.pt", ["/a"]]], [["net.pt", ["/module.a"]]], []]}, "checkpoints"),
        ({"saved": [[["net.pt", ["/a"]]], [["net.pt", ["/a"]]], [["net.pt", ["/a"]]]]}, "checkpoints"),
    ],
)
def test_each_check_can_fail(changes: dict[str, Any], name: str) -> None:
    assert failed(**changes) == [name]
    assert report(**changes).verdict == "failed"


def test_what_is_not_seen_is_not_called_the_same() -> None:
    found = report(shares=[SHARE], evaluations=[[], [], []], saved=[[], [], []])
    skipped = [check.name for check in found.checks if check.status == "skipped"]
    assert (found.verdict, skipped) == ("passed", ["shuffling", "evaluation", "checkpoints"])
    assert {"shuffling", "evaluation"} <= {entry.what for entry in found.ledger if entry.fate == "unchecked"}


def test_batch_normalisation_with_the_total_batch_is_not_compared() -> None:
    halves = {"training": [[{"size": 4}], [{"size": 4}]]}
    assert report("total", **halves).verdict == "passed"
    with pytest.raises(Stopped, match="batch normalisation"):
        report("total", norm=True, **halves)
    assert "batch normalisation" in [entry.what for entry in report(norm=True).ledger if entry.fate == "differs"]


def test_figures_that_are_not_finite_are_not_compared() -> None:
    with pytest.raises(Stopped, match="not finite"):
        report(rows=[{**ROW, "finite": False}])
