"""What the figures of a step say of its structure, without TensorFlow."""

from __future__ import annotations

import pytest

from converter.verify.checks.structure import check_placement


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
