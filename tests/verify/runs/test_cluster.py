"""The verdict on a conversion for a cluster, from figures as the processes give them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from converter.verify.judge import ComparisonSettings
from converter.verify.processes.answer import Stopped
from converter.verify.runs.cluster import judged

CHILD = Path(__file__).resolve().parent.parent.parent.parent / "converter/verify/child"
W = {"name": "w:0", "shape": [4, 3], "dtype": "float32", "trainable": True}
START = {"random": [], "seeds": [], "reads": [], "held": None, "start": [12, 12, 0.0, 1.0, -1.0, 1.0]}
STEP: dict[str, Any] = {
    "order": True,
    "triggered": [[0], [0]],
    "rows": 64,
    "own_rows": 32,
    "gradients": {"w:0": 1e-7},
    "finite": True,
    "reference": "shards",
    "kind": "mean",
    "matches": [],
    "sparse": {},
    "loss": [1.0, 1.0, "differentiated"],
    "update": {"w:0": 0.0},
    "counted": {},
    "rates": None,
    "between": [[], [], []],
}
FED = {"input": "x:0", "status": "same", "rows": 64, "left_out": 0}
REPLAYED: dict[str, Any] = {
    "steps": [STEP],
    "shares": [[32, 32]],
    "taken": [1, 1],
    "alike": True,
    "data": {"fed": [FED], "evaluated": [], "ended": False},
    "trajectory": {"w:0": 0.0},
    "spread": None,
    "walked": 1,
    "first": {"restored": {"variables": 1, "wrong": []}},
}
MINE: dict[str, Any] = {
    "variables": [W],
    "initial": {"w:0": START},
    "applies": 1,
    "races": False,
    "writes": {},
    "held": {},
}


def worker(place: int, written: tuple[str, ...] = (), **changes: Any) -> dict[str, Any]:
    facts = {**MINE, **changes}
    return {"facts": facts, "first": {"initial": {"w:0": START}}, "written": list(written)}


def report(workers: Any = None, mine: Any = None, **changes: Any) -> Any:
    found = workers or [worker(0, ("checkpoints",)), worker(1)]
    return judged({**MINE, **(mine or {})}, found, {**REPLAYED, **changes}, ComparisonSettings(2, "per-gpu", 1), (), "")


def failed(*args: Any, **changes: Any) -> list[str]:
    return [check.name for check in report(*args, **changes).checks if check.status == "failed"]


def test_what_is_right_passes() -> None:
    found = report()
    assert found.verdict == "passed"
    assert found.reason == "2 workers take the original's 1 step, with the mean of the gradients"
    assert {check.status for check in found.checks} == {"passed"}


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"steps": [{**STEP, "gradients": {"w:0": 0.5}}]}, "gradients"),
        ({"steps": [{**STEP, "rows": 32}]}, "batch"),
        ({"steps": [{**STEP, "update": {"w:0": 0.1}}]}, "update"),
        ({"steps": [{**STEP, "loss": [1.0, 2.0, "differentiated"]}]}, "loss"),
        ({"steps": [{**STEP, "triggered": [[0], [1]]}]}, "train op"),
        ({"steps": [{**STEP, "between": [["w:0"], [], []]}]}, "between the steps"),
        ({"trajectory": {"w:0": 0.1}}, "weights"),
        ({"shares": [[33, 31]]}, "workers"),
        ({"shares": [[64, 0]]}, "workers"),
        ({"taken": [1, 2]}, "workers"),
        ({"alike": False}, "workers"),
        ({"data": {"fed": [{**FED, "status": "differs", "fault": "twice", "step": 1}], "evaluated": []}}, "data"),
        ({"first": {"restored": {"variables": 1, "wrong": ["w:0"]}}}, "checkpoint of the chief, read by the original"),
    ],
)
def test_each_check_of_the_steps_can_fail(changes: dict[str, Any], name: str) -> None:
    assert failed(**changes) == [name]
    assert report(**changes).verdict == "failed"


@pytest.mark.parametrize(
    ("workers", "name"),
    [
        ([worker(0), worker(1, ("checkpoints",))], "files"),
        ([worker(0, variables=[{**W, "shape": [4, 2]}]), worker(1)], "variables"),
        ([worker(0, variables=[W, {**W, "name": "w_1:0"}]), worker(1)], "variables"),
    ],
)
def test_each_check_of_the_tasks_can_fail(workers: Any, name: str) -> None:
    assert failed(workers) == [name]


def test_no_files_are_not_called_the_same() -> None:
    assert [check.name for check in report([worker(0), worker(1)]).checks if check.status == "skipped"] == ["files"]


def test_figures_that_are_not_finite_are_not_compared() -> None:
    with pytest.raises(Stopped, match="not finite"):
        report(steps=[{**STEP, "diverged": True}])


@pytest.fixture
def original(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module that puts the workers' records together, as the processes import it."""
    monkeypatch.syspath_prepend(str(CHILD))
    from tmgprobe.cluster import original

    yield original
    for name in [name for name in sys.modules if name.split(".")[0] == "tmgprobe"]:
        monkeypatch.delitem(sys.modules, name)


def part(begin: int, end: int, weight: float, **more: Any) -> dict[str, Any]:
    import numpy as np

    arrays = {"x:0": np.arange(begin, end), "keep:0": np.float32(0.5), "cluster_weight:0": np.float32(weight), **more}
    inputs = [{"name": name, "shape": list(np.shape(value)), "sparse": None} for name, value in arrays.items()]
    applied = {0: {"w:0": np.ones(2), "b:0": None}}
    return {"arrays": arrays, "inputs": inputs, "applied": applied, "losses": [1.0]}


def test_rows_of_all_workers_make_the_batch(original: Any) -> None:
    parts = [part(0, 3, 1.2), part(3, 5, 0.8)]
    whole = original.joined(parts)
    assert whole["arrays"]["x:0"].tolist() == [0, 1, 2, 3, 4] and set(whole["arrays"]) == {"x:0", "keep:0"}
    assert {item["name"]: item["shape"] for item in whole["inputs"]} == {"x:0": [5], "keep:0": []}
    assert whole["applied"][0]["w:0"].tolist() == [1.0, 1.0] and whole["applied"][0]["b:0"] is None
    assert whole["losses"] == [1.0] and original.rows(parts) == [3, 2]


def test_all_workers_apply_the_same(original: Any) -> None:
    one, other = part(0, 3, 1.0)["applied"], {0: {"w:0": [1.0, 1.1], "b:0": None}}
    assert original.is_alike([one, one]) and not original.is_alike([one, other])
    assert not original.is_alike([one, {0: {"w:0": [1.0, 1.0], "b:0": [0.0]}}])


def test_parts_of_other_shapes_are_named(original: Any) -> None:
    import numpy as np

    parts = [part(0, 3, 1.0, **{"image:0": np.ones([1, size])}) for size in (4, 5)]
    assert (
        original.inputs_not_of_rows(parts) == ["image:0"]
        and original.inputs_not_of_rows([part(0, 3, 1.0), part(3, 5, 1.0)]) == []
    )


def test_sparse_rows_of_all_workers_make_the_batch(original: Any) -> None:
    import numpy as np

    names, parts = ["indices:0", "values:0", "shape:0"], []
    for begin, end, rows in ((0, 3, [[0, 4], [2, 1]]), (3, 5, [[1, 2]])):
        of_worker = [np.array(rows), np.ones(len(rows)), np.array([end - begin, 9])]
        parts.append(part(begin, end, 1.0, **dict(zip(names, of_worker, strict=True))))
        items = [{"name": name, "shape": [end - begin], "sparse": names, "source": False} for name in names]
        parts[-1]["inputs"] = [*parts[-1]["inputs"][:1], *items]
    whole = original.joined(parts)
    assert [whole["arrays"][name].tolist() for name in names] == [[[0, 4], [2, 1], [4, 2]], [1, 1, 1], [5, 9]]
    assert {item["name"]: item["shape"] for item in whole["inputs"]} == {"x:0": [5], **dict.fromkeys(names, [5])}
    assert original.rows(parts) == [3, 2] and original.inputs_not_of_rows(parts) == []


def test_a_worker_without_rows_adds_none(original: Any) -> None:
    parts = [part(0, 1, 2.0), part(0, 1, 0.0)]
    assert original.joined(parts)["arrays"]["x:0"].tolist() == [0] and original.rows(parts) == [1, 0]


def test_the_same_rows_in_all_workers_are_not_called_shared(original: Any) -> None:
    parts = [part(0, 3, 1.0), part(0, 3, 1.0)]
    assert original.joined(parts)["arrays"]["x:0"].tolist() == [0, 1, 2, 0, 1, 2]


def test_what_all_workers_get_whole_stays_whole(original: Any) -> None:
    import numpy as np

    parts = [part(0, 3, 1.0, **{"prior:0": np.arange(7)}), part(3, 6, 1.0, **{"prior:0": np.arange(7)})]
    assert original.joined(parts)["arrays"]["prior:0"].tolist() == list(range(7))
