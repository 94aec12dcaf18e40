"""Savers of both scripts: those that one of both makes after the compared steps are not missed in the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from converter.verify.checks.beyond_steps import check_beside

STEPS = 3


def diary(*made: tuple[list[str], int]) -> dict[str, Any]:
    savers = {"savers": [keys for keys, _ in made], "savers made": [steps for _, steps in made]}
    return {**savers, "notes": {}, "steps": STEPS, "seeds": [], "graph seed": None, "shuffling": []}


def fate(mine: dict[str, Any], theirs: dict[str, Any]) -> tuple[str, str]:
    [found] = [check for check in check_beside(mine, theirs, STEPS, 2) if check.name == "savers"]
    return found.status, found.detail


FIRST, SECOND = (["w"], 0), (["w", "x"], 2)
AFTER = (["w"], STEPS)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (diary(FIRST), diary(FIRST)),
        (diary(FIRST), diary(FIRST, AFTER, AFTER)),
        (diary(FIRST, AFTER), diary(FIRST)),
        (diary(FIRST, SECOND), diary(FIRST, SECOND, AFTER)),
        (diary(FIRST, AFTER), diary(FIRST, AFTER)),
    ],
)
def test_savers_of_what_follows_the_training(mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert fate(mine, theirs)[0] == "passed"


@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        (diary(FIRST), diary(FIRST, FIRST), "makes 2 savers instead of 1"),
        (diary(FIRST, SECOND), diary(FIRST, AFTER, AFTER), "makes 1 savers instead of 2"),
        (diary(FIRST), diary((["x"], 0), AFTER), "does not write w and also writes x"),
        (diary(FIRST, AFTER), diary(FIRST, (["x"], STEPS)), "does not write w and also writes x"),
    ],
)
def test_savers_that_differ_in_the_compared_steps(mine: dict[str, Any], theirs: dict[str, Any], words: str) -> None:
    status, detail = fate(mine, theirs)
    assert status == "failed" and words in detail


@pytest.mark.parametrize(
    ("own", "other", "seen", "status"),
    [
        ([(4, 5)], [(2, 3)], 7, "passed"),  # after as many examples; the number counts the script's steps
        ([(4, 1)], [(2, 1)], 7, "passed"),  # it counts epochs
        ([], [(2, 3)], 4, "passed"),  # the original was not seen so far
        ([], [(2, 3)], 7, "failed"),
        ([(5, 6)], [(2, 3)], 7, "failed"),
        ([(4, 9)], [(2, 3)], 7, "failed"),
    ],
)
def test_files_at_the_end_of_epochs_with_fewer_steps(
    own: list[tuple[int, int]], other: list[tuple[int, int]], seen: int, status: str
) -> None:
    mine, theirs = saved(*own, seen=seen), saved(*other)
    [found] = [c for c in check_beside(mine, {**theirs, "shorter": True}, STEPS, 2) if c.name == "savers"]
    assert found.status == status
    assert ("1 of them after as many examples" in found.detail) is (status == "passed" and bool(own))
    [plain] = [c for c in check_beside(mine, theirs, STEPS, 2) if c.name == "savers"]
    assert plain.status == "failed"  # nothing counts by the batch size


def saved(*at: tuple[int, int | None], seen: int = 7) -> dict[str, Any]:
    notes = [{"steps": steps, "file": "m", "number": number, "keys": ["w"], "order": 0} for steps, number in at]
    return {**diary(FIRST), "steps": seen, "notes": {"saved": notes}}


# the conversion's epochs have two steps, the original's four or five
@pytest.mark.parametrize(
    ("mine", "theirs", "epoch", "words"),
    [
        (saved((4, 0)), saved((2, 0)), (2, 4), ""),
        (saved((4, None)), saved((2, None)), (2, 4), ""),
        (saved((4, 4)), saved((2, 2)), (2, 4), ""),
        (saved((5, 5)), saved((2, 2)), (2, 5), ""),
        (saved(seen=5), saved((2, 2)), (2, 5), ""),
        (saved((2, 0), (4, 1), (6, 2)), saved((1, 0), (2, 1)), (1, 2), ""),
        (saved((1, 1), (2, 2), (3, 3)), saved((1, 1), (2, 2)), (2, 4), ""),
        (saved((4, 0)), saved((2, 0)), None, "m is saved after step 2, not so"),
        (saved((4, 0)), saved((1, 0)), (2, 4), "m is saved after step 1, not so"),
        (saved((4, 0)), saved((1, 0), (2, 0)), (2, 4), "m is saved after step 1, not so"),
        (saved((4, 0)), saved((2, 1)), (2, 4), "has the step 1 instead of 0"),
        (saved((4, 4)), saved((2, 3)), (2, 4), "has the step 3 instead of 4"),
        (saved((4, 0)), saved((2, None)), (2, 4), "has the step None instead of 0"),
        (saved((5, 5)), saved((2, 2)), (2, 4), "m is saved after step 2, not so"),
        (saved((2, 0), (4, 1)), saved((2, 1)), (1, 2), "m is not saved after step 2"),
        (saved((1, 1), (2, 2), (3, 3)), saved((2, 2)), (2, 4), "m is not saved after step 1"),
    ],
)
def test_what_ends_an_epoch(
    mine: dict[str, Any], theirs: dict[str, Any], epoch: Sequence[int] | None, words: str
) -> None:
    [found] = [check for check in check_beside(mine, theirs, STEPS, 2, epoch=epoch) if check.name == "savers"]
    assert found.status == ("failed" if words else "passed") and words in found.detail


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (saved((1, 0), (2, 0), (3, 1), (4, 1)), ""),
        (saved((1, 0), (2, 0), (4, 1), (4, 1)), "m is saved after step 4, not so"),
        (saved((1, 0), (2, 0), (4, 1)), "m is not saved after step 6"),
        (saved((1, 0), (2, 0), (3, 0), (4, 1)), "has the step 0 instead of 1"),
    ],
)
def test_what_comes_behind_an_epochs_beginning(theirs: dict[str, Any], words: str) -> None:
    """After the first step of each epoch, and at its end; the conversion's epochs have two steps, the original's 5."""
    mine = saved((1, 0), (5, 0), (6, 1), (10, 1), seen=12)
    found = [check for check in check_beside(mine, theirs, 8, 2, epoch=(2, 5)) if check.name == "savers"]
    assert [check.status for check in found] == (["failed"] if words else ["passed"]) and words in found[0].detail


@pytest.mark.parametrize("theirs", [saved((2, 0)), saved((1, 0), (2, 0)), saved()])
def test_checkpoints_that_a_value_of_a_run_decides_on(theirs: dict[str, Any]) -> None:
    """The best checkpoint is another one in each run, and a different number of files is kept."""
    mine = {**saved((4, 0)), "by values": {"saved": "train.py:7"}}
    found = {check.status: check.detail for check in check_beside(mine, theirs, STEPS, 2) if check.name == "savers"}
    assert found["skipped"].startswith("train.py:7 decides by a value of a run what is saved") and "failed" not in found
    other = {**theirs, "savers": [["x"]]}
    assert "failed" in {check.status for check in check_beside(mine, other, STEPS, 2) if check.name == "savers"}
