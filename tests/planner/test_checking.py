"""What checks find, in the order of the script."""

from __future__ import annotations

from dataclasses import replace

from converter.diagnostics import Diagnostic
from converter.planner.checking import in_order

LOSS = Diagnostic("TMG302", "train.py", 7, 1, "statistics of the batch go into this loss", "", "warning")


def test_a_loss_of_several_steps_is_warned_of_once() -> None:
    """A step for each choice of the optimizer finds the same of its loss."""
    assert in_order("train.py", [LOSS, LOSS, LOSS]) == (LOSS,)


def test_findings_of_other_places_or_words_stay_by_line() -> None:
    others = [replace(LOSS, line=9), replace(LOSS, line=3), replace(LOSS, message="b"), replace(LOSS, path="a.py")]
    assert [d.line for d in in_order("train.py", [LOSS, *others])] == [3, 7, 7, 9, 7]
