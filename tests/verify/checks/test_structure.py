"""What the figures of a step say of its structure, without TensorFlow."""

from __future__ import annotations

import pytest

from converter.verify.checks.structure import check_batch, check_placement


@pytest.mark.parametrize(
    ("gpus", "devices", "passed"),
    [
        (1, {"cpu:1": [2, 4]}, True),
        (1, {"cpu:0": [2, 4]}, True),  # a script that makes no towers for one GPU
        (1, {"cpu:0": [1, 2], "cpu:1": [4, 8]}, True),  # a loss of the whole batch behind the tower
        (1, {"cpu:0": [0, 4], "cpu:1": [2, 0]}, False),  # gradients elsewhere than what they are taken of
        (1, {"cpu:0": [0, 2], "cpu:1": [2, 2]}, False),
        (1, {"cpu:0": [1, 0], "cpu:1": [2, 4]}, False),
        (1, {}, False),
        (2, {"cpu:1": [2, 4], "cpu:2": [2, 4]}, True),
        (2, {"cpu:0": [1, 2], "cpu:1": [2, 4], "cpu:2": [2, 4]}, True),
        (2, {"cpu:0": [0, 8], "cpu:1": [2, 0], "cpu:2": [2, 0]}, False),
        (2, {"cpu:1": [4, 8]}, False),
        (2, {}, False),
    ],
)
def test_placement(gpus: int, devices: dict[str, list[int]], passed: bool) -> None:
    assert (check_placement(devices, gpus).status == "passed") is passed


@pytest.mark.parametrize(
    ("rows", "own", "said", "passed"),
    [
        ((3, 8, 8), (4, 4, 4), ("TMG347",), True),  # the batch that ends the data comes first
        ((8, 3, 3), (4, 4, 4), ("TMG347",), True),  # last in one epoch, first in the next
        ((8, 8, 8), (2, 4, 4), ("TMG347",), True),  # the original's comes first
        ((8, 8, 8), (2, 2, 4), ("TMG347",), True),
        ((3, 3, 3), (4, 4, 4), ("TMG347",), False),
        ((3, 9, 8), (4, 4, 4), ("TMG347",), False),
        ((4, 4, 4), (4, 4, 4), ("TMG347",), False),
        ((3, 8, 8), (4, 4, 4), (), False),
        ((8, 3, 3), (4, 4, 4), (), False),
        ((8, 8, 8), (2, 4, 4), (), False),
        ((8, 3, 8), (4, 4, 4), (), True),
    ],
)
def test_the_batch_that_ends_shuffled_batches(
    rows: tuple[int, ...], own: tuple[int, ...], said: tuple[str, ...], passed: bool
) -> None:
    steps = [{"rows": count, "own_rows": wanted} for count, wanted in zip(rows, own, strict=True)]
    assert (check_batch(steps, 2, "per-gpu", said).status == "passed") is passed
