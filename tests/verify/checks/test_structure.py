"""What the figures of a step say of its structure, without TensorFlow."""

from __future__ import annotations

import pytest

from converter.verify.checks.structure import check_batch, check_collections, check_placement


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
    on_gpus = {_on_gpus(device): counts for device, counts in devices.items()}
    assert (check_placement(on_gpus, gpus, on_gpus=True).status == "passed") is passed


@pytest.mark.parametrize(
    ("devices", "passed"),
    [
        ({"cpu:0": [1, 0], "cpu:1": [2, 4]}, True),
        ({"cpu:0": [0, 2], "cpu:1": [2, 2]}, True),
        ({"cpu:1": [2, 4], "cpu:2": [1, 0]}, False),
        ({"cpu:0": [0, 4], "cpu:1": [2, 0]}, False),  # the tower itself is split
    ],
)
def test_what_the_original_places_on_the_cpu_stays_there(devices: dict[str, list[int]], passed: bool) -> None:
    assert (check_placement(devices, 1, on_host=True).status == "passed") is passed


def _on_gpus(device: str) -> str:
    """The device for the same tower on a machine with GPUs."""
    number = int(device.partition(":")[2])
    return f"gpu:{number - 1}" if number else device


@pytest.mark.parametrize(
    ("mine", "theirs", "asked", "fate"),
    [
        ({"losses": 1, "net/ends": 2}, {"losses": 1, "net/ends": 2}, [], "passed as many"),
        ({"net/ends": 2}, {"tower_0/net/ends": 2}, [], "skipped 'net/ends' is 'tower_0/net/ends' here"),
        ({"net/ends": 2}, {"tower_0/net/ends": 2, "tower_1/net/ends": 0}, [], "skipped"),
        ({"net/ends": 2}, {"tower_0/net/ends": 2}, ["net/ends"], "failed the collection 'net/ends' holds 0"),
        ({"net/ends": 2}, {"tower_0/net/ends": 1}, [], "failed the collection 'net/ends' holds 0"),
        ({"net/ends": 2}, {"tower_0/net/ends": 2, "net/ends": 0}, [], "failed the collection 'net/ends' holds 0"),
        ({"net/ends": 2}, {"tower_1/net/ends": 2}, [], "failed"),
        ({"net/ends": 2}, {"tower_0/net/ends": 2, "tower_1/net/ends": 2}, [], "failed the collection 'tower_1/net/"),
        ({"net/ends": 2}, {"net/ends": 2, "tower_0/net/ends": 2}, [], "failed the collection 'tower_0/net/ends'"),
        ({"losses": 1}, {"losses": 1, "tower_0/net/ends": 2}, [], "failed the collection 'tower_0/net/ends'"),
        ({"losses": 1}, {"losses": 2}, [], "failed the collection 'losses' holds 2 entries instead of 1"),
    ],
)
def test_collections(mine: dict[str, int], theirs: dict[str, int], asked: list[str], fate: str) -> None:
    found = check_collections({"collections": mine}, {"collections": theirs, "asked": asked})
    assert f"{found.status} {found.detail}".startswith(fate)


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


DISCRIMINATOR, GENERATOR = [[0], [0]], [[1], [1]]


@pytest.mark.parametrize(
    ("steps", "detail"),
    [
        ([(0, 8), (1, 8), (0, 3), (1, 3)], ""),  # both end an epoch
        ([(0, 8), (1, 4), (0, 8), (1, 4)], "step 2 takes 4 examples instead of 8 (2 x 4)"),  # fed half of its noise
        ([(0, 8), (1, 8), (0, 3), (1, 3), (0, 3)], "step 5 takes 3 examples instead of 8 (2 x 4)"),
    ],
)
def test_steps_of_each_train_op_are_counted_apart(steps: list[tuple[int, int]], detail: str) -> None:
    ops = {0: DISCRIMINATOR, 1: GENERATOR}
    figures = [{"triggered": ops[kind], "rows": rows, "own_rows": 4} for kind, rows in steps]
    found = check_batch(figures, 2, "per-gpu")
    assert (found.status, found.detail if detail else "") == ("failed" if detail else "passed", detail)


@pytest.mark.parametrize(
    ("steps", "said", "passed"),
    [
        ([(0, 8, 4), (1, 1, 1), (0, 8, 4), (1, 1, 1)], ("TMG379",), True),  # looks for the code of one picture
        ([(0, 8, 4), (1, 1, 1)], (), False),
        ([(0, 4, 4), (1, 1, 1)], ("TMG379",), False),  # no train op has a larger batch
        ([(0, 8, 4), (1, 1, 1), (1, 2, 1)], ("TMG379",), False),
    ],
)
def test_a_search_takes_what_it_takes_in_the_original(
    steps: list[tuple[int, int, int]], said: tuple[str, ...], passed: bool
) -> None:
    ops = {0: DISCRIMINATOR, 1: GENERATOR}
    figures = [{"triggered": ops[kind], "rows": rows, "own_rows": own} for kind, rows, own in steps]
    assert (check_batch(figures, 2, "per-gpu", said).status == "passed") is passed
