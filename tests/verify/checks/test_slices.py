"""Variables in slices: taken for their whole where they fill it, in a report's facts and in the values of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from converter.verify.checks.slices import check_slices, join_slices, wholes_in

CHILD = Path(__file__).resolve().parents[3] / "converter/verify/child"


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the watched process, which knows its siblings as the package tmgprobe."""
    monkeypatch.syspath_prepend(str(CHILD))
    from tmgprobe.values import slices

    yield slices
    for name in [name for name in sys.modules if name.split(".")[0] == "tmgprobe"]:
        monkeypatch.delitem(sys.modules, name)


def row(name: str, shape: list[int]) -> dict[str, object]:
    return {"name": name, "shape": shape, "dtype": "float32", "trainable": True}


def info(offset: int, size: int, whole: str = "w:0", device: str = "cpu:1") -> dict[str, Any]:
    return {"whole": whole, "whole_shape": [4, 6], "offset": [0, offset], "shape": [4, size], "device": device}


def theirs(*slices: dict[str, Any], writes: tuple[int, ...] = (1, 1)) -> dict[str, Any]:
    names = [f"w/part_{number}:0" for number in range(len(slices))]
    return {
        "variables": [row("b:0", [6]), *(row(n, s["shape"]) for n, s in zip(names, slices, strict=True))],
        "slices": dict(zip(names, slices, strict=True)),
        "writes": dict(zip([n.partition(":")[0] for n in names], writes, strict=False)),
        "collections": {"variables": 1 + len(slices), "other": 3},
        "counted": {"variables": 2, "other": 3},
    }


MINE: dict[str, Any] = {"variables": [row("b:0", [6]), row("w:0", [4, 6])]}


def test_slices_become_the_whole() -> None:
    facts = theirs(info(0, 3), info(3, 3))
    wholes = wholes_in(MINE, facts)
    assert wholes == {"w:0": ["w/part_0:0", "w/part_1:0"]}
    joined = join_slices(facts, wholes)
    assert joined["variables"] == [row("b:0", [6]), row("w:0", [4, 6])]
    assert (joined["writes"], joined["collections"]) == ({"w": 1}, {"variables": 2, "other": 3})


@pytest.mark.parametrize(
    "slices",
    [
        (info(0, 3), info(3, 2)),  # a column is in no slice
        (info(0, 3), info(2, 4)),  # one is in two
        (info(0, 3),),
        (info(0, 3, "v:0"), info(3, 3, "v:0")),  # of a variable that the original does not have
    ],
)
def test_slices_that_do_not_fill_a_variable_of_the_original_stay_slices(slices: tuple[dict[str, Any], ...]) -> None:
    facts = theirs(*slices)
    assert wholes_in(MINE, facts) == {}
    assert join_slices(facts, {}) == facts


def test_an_original_with_slices_of_its_own_is_left_alone() -> None:
    facts = theirs(info(0, 3), info(3, 3))
    assert wholes_in({"variables": [*facts["variables"], row("w:0", [4, 6])]}, facts) == {}


def test_slices_that_are_not_written_alike_show() -> None:
    facts = theirs(info(0, 3), info(3, 3), writes=(1, 2))
    assert join_slices(facts, wholes_in(MINE, facts))["writes"] == {"w/part_0": 1, "w/part_1": 2}


@pytest.mark.parametrize(
    ("devices", "gpus", "status"),
    [(("cpu:1", "cpu:2"), 2, "passed"), (("cpu:1", "cpu:1"), 2, "failed"), (("cpu:1", "cpu:1"), 1, "passed")],
)
def test_slices_have_devices_of_their_own(devices: tuple[str, str], gpus: int, status: str) -> None:
    facts = theirs(info(0, 3, device=devices[0]), info(3, 3, device=devices[1]))
    wholes = wholes_in(MINE, facts)
    (check,) = check_slices(join_slices(facts, wholes), wholes, gpus)
    assert check.status == status
    assert check_slices(facts, {}, gpus) == []


def test_values_are_put_together_by_their_places(probe: Any) -> None:
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    parts = [(info(3, 3), whole[:, 3:]), (info(0, 3), whole[:, :3])]  # in any order
    assert np.array_equal(probe.join(parts), whole)
    assert np.isnan(probe.join(parts[:1])[:, :3]).all()  # what no slice gives is no number
    assert np.array_equal(probe.join([parts[0], (info(0, 3), None)])[:, :3], np.zeros([4, 3]))
    assert probe.join([(info(3, 3), None), (info(0, 3), None)]) is None
    named = probe.joined({"a": parts[0][1], "b": parts[1][1], "c": 7}, {"a": info(3, 3), "b": info(0, 3)}, {"w:0"})
    assert sorted(named) == ["c", "w:0"] and np.array_equal(named["w:0"], whole)


def test_sparse_values_stay_sparse(probe: Any) -> None:
    columns = [(info(0, 3), (np.ones([2, 3]), np.array([1, 3]))), (info(3, 3), (np.zeros([2, 3]), np.array([1, 3])))]
    values, indices = probe.join(columns)
    assert values.shape == (2, 6) and indices.tolist() == [1, 3]
    rows = [
        ({**info(0, 6), "offset": [begin, 0], "shape": [2, 6]}, (np.ones([1, 6]), np.array([1]))) for begin in (0, 2)
    ]
    values, indices = probe.join(rows)
    assert values.shape == (2, 6) and indices.tolist() == [1, 3]
    columns[1] = (columns[1][0], (np.zeros([2, 3]), np.array([0, 1])))  # other rows in each slice
    assert probe.join(columns).shape == (4, 6)
