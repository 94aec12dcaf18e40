"""Summaries of both scripts: tags may differ in the numbers behind names that were taken, and in nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from converter.verify.checks.beyond_steps import check_beside

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
        (["batch/fraction_of_32_full", "loss"], ["batch/fraction_of_64_full", "loss"]),  # of a queue for larger batches
        (["shuffle_batch/fraction_over_6_of_2_full"], ["shuffle_batch/fraction_over_12_of_4_full"]),
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
        (["batch/fraction_of_32_full"], ["batch/fraction_over_32_of_4_full"]),
        (["best_5_full"], ["best_10_full"]),
        (["fake/image/0", "real/image/0"], ["fake/image/0"]),
        (["fake/image/0"], ["fake/image/0", "real/image/0"]),
        (["image/0", "image/1"], ["image/0"]),  # a scope of the script's
    ],
)
def test_tags_of_another_summary(mine: list[str], theirs: list[str]) -> None:
    assert "is written before the first step, not so in the original" in fate(diary(mine), diary(theirs))


def evaluated(batches: int, written: int) -> dict[str, Any]:
    """A script that evaluates in so many batches after its first step, and writes so many summaries there."""
    found = diary(["loss"], *[["loss"]] * written)
    for note in found["notes"]["summary"]:
        note["steps"] = min(note["steps"], 1)
    found["notes"]["run"] = [{"steps": 1, "trains": False, "numbers": []}] * batches
    return found


@pytest.mark.parametrize(("own", "other"), [((3, 4), (2, 3)), ((3, 3), (2, 2)), ((5, 6), (3, 4)), ((2, 2), (1, 1))])
def test_summaries_of_batches_of_an_evaluation(own: tuple[int, int], other: tuple[int, int]) -> None:
    """Batches that are twice as large are half as many."""
    assert fate(evaluated(*own), evaluated(*other)) == "passed"


@pytest.mark.parametrize(
    ("own", "other"), [((3, 4), (2, 2)), ((3, 4), (3, 3)), ((3, 4), (1, 2)), ((3, 3), (2, 0)), ((1, 2), (1, 1))]
)
def test_summaries_that_an_evaluation_does_not_write(own: tuple[int, int], other: tuple[int, int]) -> None:
    assert fate(evaluated(*own), evaluated(*other)) == "loss is not written after step 1"


@pytest.mark.parametrize("reads", [(6, 18), (6, 6), (12, 6)])
def test_runs_that_read_the_data_beside_an_evaluation(reads: tuple[int, int]) -> None:
    """They give no number, and are as many as the examples that they read."""
    mine, theirs = evaluated(2, 2), evaluated(1, 1)
    for made, count in zip((mine, theirs), reads, strict=True):
        made["notes"]["run"] = [{**note, "numbers": [0.5]} for note in made["notes"]["run"]]
        made["notes"]["run"] += [{"steps": 1, "trains": False, "numbers": []}] * count
    assert fate(mine, theirs) == "passed"


def written(*steps: int, tags: str = "loss", numbers: int = -1) -> list[dict[str, Any]]:
    """Notes of a summary after so many steps, with their number, counted from 0."""
    return [{"steps": at, "tags": [tags], "number": at + numbers} for at in steps]


# an epoch has 27 batches of the original, and 13 steps of the conversion; the examples are drawn anew for each
@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        (written(1, 28, 55), written(1, 14, 27), ""),
        (written(27, 54, 81), written(13, 26), ""),
        (written(1, 28, 55), written(1, 15, 29), ""),  # what is left of an epoch counts as a batch
        (written(1, 28, 55) + written(20, 40, 60, tags="rate"), written(1, 14, 27) + written(20, tags="rate"), ""),
        (written(1, 28), written(1, 14, 27), ""),  # the original was not seen so far
        (written(1, 28, 55), written(1, 13, 25), "after step 13, not so in the original"),
        (written(1, 28, 55), written(1, 14, 30), "after step 30, not so in the original"),
        (written(1, 28, 55), written(2, 15, 28), "after step 2, not so in the original"),
        (written(1, 28, 55), written(1, 14, 27, numbers=0), "has the step 1 instead of 0"),
    ],
)
def test_what_is_written_once_in_an_epoch_that_the_examples_do_not_tell(
    mine: list[dict[str, Any]], theirs: list[dict[str, Any]], words: str
) -> None:
    plain = {"savers": [], "savers made": [], "seeds": [], "graph seed": None, "shuffling": []}
    own = {**plain, "notes": {"summary": mine}, "steps": 81 if len(mine) > 2 else 30}
    other = {**plain, "notes": {"summary": theirs}, "steps": 39, "shorter": True}
    [found] = [check for check in check_beside(own, other, 39, 2) if check.name == "summaries"]
    assert found.status == ("failed" if words else "passed") and words in found.detail
    [fixed] = [check for check in check_beside(own, {**other, "shorter": False}, 39, 2) if check.name == "summaries"]
    assert fixed.status == "failed"  # a script that does not count by the batch size
