"""Summaries of both scripts: tags may differ in the numbers behind names that were taken, and in nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from converter.verify.checks.beside import check_beside

STEPS = 3


def diary(*tags: list[str]) -> dict[str, Any]:
    notes = [{"steps": steps, "tags": sorted(found), "number": steps} for steps, found in enumerate(tags)]
    plain = {"savers": [], "savers made": [], "seeds": [], "graph seed": None, "shuffling": []}
    return {**plain, "notes": {"summary": notes}, "steps": STEPS}


def fate(mine: dict[str, Any], theirs: dict[str, Any]) -> str:
    [found] = [check for check in check_beside(mine, theirs, STEPS, 2) if check.name == "summaries"]
    return found.detail if found.status == "failed" else found.status


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (["loss"], ["loss"]),
        (["loss_1", "conv/weight_1"], ["conv/weight", "loss"]),
        (["conv_1/weight"], ["conv/weight"]),
        (["loss", "loss_1"], ["loss_1", "loss_2"]),
        (["fake/image/0", "fake/image/1", "fake/image/2"], ["fake/image/0", "fake/image/1"]),  # of a larger batch
        (["fake/image/0", "fake/image/1"], ["fake/image"]),
        (["speech/audio/0", "speech/audio/1"], ["speech/audio/0"]),
    ],
)
def test_tags_of_one_summary(mine: list[str], theirs: list[str]) -> None:
    assert fate(diary(mine, mine), diary(theirs, theirs)) == "passed"


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (["loss"], ["cost"]),
        (["loss"], ["loss", "loss_1"]),
        (["layer1/weight"], ["layer2/weight"]),
        (["top_5"], ["accuracy"]),
        (["fake/image/0", "real/image/0"], ["fake/image/0"]),
        (["fake/image/0"], ["fake/image/0", "real/image/0"]),
        (["image/0", "image/1"], ["image/0"]),  # a scope of the script's
    ],
)
def test_tags_of_another_summary(mine: list[str], theirs: list[str]) -> None:
    assert "is written before the first step, not so in the original" in fate(diary(mine), diary(theirs))
