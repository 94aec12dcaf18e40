"""The figures, without TensorFlow: what two arrays are apart, how a batch is shared, which input is which."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

np = pytest.importorskip("numpy")

CHILD = Path(__file__).resolve().parents[2] / "converter" / "verify" / "child"
sys.path.insert(0, str(CHILD))
try:
    from tmgprobe.reference import course, faults
    from tmgprobe.roles import record
    from tmgprobe.session import diary
    from tmgprobe.values import compare, inputs
finally:
    sys.path.remove(str(CHILD))


@pytest.mark.parametrize(
    ("total", "parts", "upper", "sizes"),
    [
        (10, 3, True, [4, 3, 3]),
        (10, 3, False, [3, 3, 4]),
        (6, 3, True, [2, 2, 2]),
        (2, 5, True, [1, 0, 1, 0, 0]),
        (0, 2, True, [0, 0]),
        (7, 1, True, [7]),
    ],
)
def test_bounds(total: int, parts: int, upper: bool, sizes: list[int]) -> None:
    bounds = compare.bounds(total, parts, upper)
    assert sorted(end - begin for begin, end in bounds) == sorted(sizes)
    assert [begin for begin, _ in bounds[1:]] == [end for _, end in bounds[:-1]]
    assert (bounds[0][0], bounds[-1][1]) == (0, total)


@pytest.mark.parametrize(
    ("found", "wanted", "error"),
    [
        ({"w": [1.0, 2.0]}, {"w": [1.0, 2.0]}, {"w": 0.0}),
        ({"w": [1.0, 2.2]}, {"w": [1.0, 2.0]}, {"w": 0.1}),
        ({"w": [2.0, 4.0]}, {"w": [1.0, 2.0]}, {"w": 1.0}),
        # a gradient that is only rounding is measured by the others
        ({"w": [1.0], "b": [2e-9]}, {"w": [1.0], "b": [1e-9]}, {"w": 0.0, "b": 1e-7}),
        ({"w": [float("nan")]}, {"w": [1.0]}, {"w": float("inf")}),
        ({"w": [1.0]}, {"w": [1.0, 1.0]}, {"w": float("inf")}),
        ({}, {"w": [1.0]}, {"w": float("inf")}),
        ({"w": None}, {"w": None}, {"w": 0.0}),
        ({"w": None}, {"w": [1.0]}, {"w": float("inf")}),
        ({"w": [0.0]}, {"w": [0.0]}, {"w": 0.0}),
        ({"w": [1e-9]}, {"w": [0.0]}, {"w": float("inf")}),
    ],
)
def test_gradient_errors(found: dict[str, Any], wanted: dict[str, Any], error: dict[str, float]) -> None:
    def arrays(values: dict[str, Any]) -> dict[str, Any]:
        return {name: None if value is None else np.array(value) for name, value in values.items()}

    assert compare.gradient_errors(arrays(found), arrays(wanted)) == pytest.approx(error)


@pytest.mark.parametrize(
    ("found", "wanted", "before", "error"),
    [
        (1.1, 1.1, 1.0, 0.0),
        (1.2, 1.1, 1.0, 1.0),
        (1.1 + 1e-7, 1.1, 1.0, 0.0),  # one unit in the last place
        (1.0, 1.0, 1.0, 0.0),
        (1.1, 1.0, 1.0, float("inf")),  # moved, and should not
        (float("nan"), 1.1, 1.0, float("inf")),
        (float("inf"), float("inf"), 1.0, 0.0),
    ],
)
def test_movement_error(found: float, wanted: float, before: float, error: float) -> None:
    values = [np.array([value], np.float32) for value in (found, wanted, before)]
    assert compare.movement_error(*values) == pytest.approx(error, rel=1e-4)


def test_movement_error_of_counters_and_texts() -> None:
    assert compare.movement_error(np.int64(3), np.int64(2), np.int64(1)) == pytest.approx(1.0, rel=1e-4)
    assert compare.movement_error(np.array([b"a"]), np.array([b"b"]), np.array([b"a"])) == float("inf")
    assert compare.movement_error(np.zeros([2]), np.zeros([3]), np.zeros([3])) == float("inf")


def test_sparse_gradients_are_added_up_and_joined() -> None:
    one = (np.array([[1.0], [2.0]], np.float32), np.array([0, 0]))
    two = (np.array([[4.0]], np.float32), np.array([2]))
    joined = compare.mean([one, two], [0.5, 0.25])
    assert compare.dense(joined, [3, 1]).tolist() == [[1.5], [0.0], [1.0]]
    assert compare.mean([None, None], [1, 1]) is None


def test_proportional() -> None:
    weights = np.array([1.0, -2.0, 3.0])
    assert compare.proportional(0.1 * weights, weights) == pytest.approx(0.1)
    assert compare.proportional(np.array([1.0, 1.0, 1.0]), weights) is None
    assert compare.proportional(np.zeros(3), weights) is None
    assert compare.proportional(weights, np.zeros(3)) is None


def item(
    name: str, shape: list[int], sliced: int | None = None, source: bool = False, static: list[int | None] | None = None
) -> dict[str, Any]:
    return {"name": name, "shape": shape, "static": static, "sliced": sliced, "source": source}


@pytest.mark.parametrize(
    ("own", "recorded", "gpus", "total", "axes"),
    [
        # the batch axis is the one that grew with the number of towers
        ([item("x", [4, 3]), item("k", [])], [item("x", [8, 3], 0), item("k", [])], 2, False, [0, None]),
        ([item("x", [7, 4, 2])], [item("x", [7, 8, 2])], 2, False, [1]),
        ([item("x", [4, 9])], [item("x", [8, 7])], 2, False, [0]),  # padded to another length
        (
            [item("x", [4]), item("table", [50, 2])],
            [item("x", [8]), item("table", [50, 2])],
            2,
            False,
            [0, None],
        ),
        # nothing grew: the axis that the towers cut
        ([item("x", [6, 8, 2])], [item("x", [6, 8, 2], 1)], 2, True, [1]),
        # what goes whole into a loss on merged results is of unknown length, and as long as what is cut
        (
            [
                item("x", [8, 2]),
                item("y", [8], static=[None]),
                item("z", [8], static=[8]),
                item("k", [3], static=[None]),
            ],
            [item("x", [8, 2], 0), item("y", [8]), item("z", [8]), item("k", [3])],
            2,
            True,
            [0, 0, None, None],
        ),
        # nothing tells: the size that most inputs begin with
        (
            [item("x", [8, 2]), item("y", [8]), item("z", [5])],
            [item("x", [8, 2]), item("y", [8]), item("z", [5])],
            1,
            False,
            [0, 0, None],
        ),
        ([item("k", [])], [item("k", [])], 2, False, [None]),
    ],
)
def test_batch_axes(own: list[Any], recorded: list[Any], gpus: int, total: bool, axes: list[int | None]) -> None:
    pairs, alone = inputs.match(own, recorded, gpus, total)
    assert [pair["axis"] for pair in pairs] == axes
    assert alone == []


def test_inputs_that_only_the_original_has() -> None:
    assert inputs.match([item("x", [4])], [item("y", [8])], 2, False) == ([], ["x"])


def test_towers_that_read_for_themselves() -> None:
    own = [item("next:0", [2], source=True), item("next:1", [2, 3], source=True)]
    recorded = [item(f"next{tower}:{part}", [2] + [3] * part, source=True) for tower in range(2) for part in range(2)]
    pairs, _ = inputs.match(own, recorded, 2, False)
    assert [pair["parts"] for pair in pairs] == [["next0:0", "next1:0"], ["next0:1", "next1:1"]]
    arrays = {part["name"]: np.full(part["shape"], index) for index, part in enumerate(recorded)}
    assert inputs.rows(pairs, arrays) == 4
    feeds = inputs.shards(pairs, arrays, 2)
    assert [size for _, size in feeds] == [2, 2]
    assert [feed["next:0"].tolist() for feed, _ in feeds] == [[0, 0], [2, 2]]
    assert inputs.whole(pairs, arrays)["next:0"].tolist() == [0, 0, 2, 2]
    assert inputs.cut_rows(pairs, arrays, 3) is None
    turned = inputs.turned(pairs, arrays, 2)
    assert [turned[name].tolist() for name in ("next0:0", "next1:0")] == [[2, 2], [0, 0]]


@pytest.mark.parametrize(("fed", "axis"), [(np.array(float("nan")), None), (np.zeros(3), 0), (np.zeros((3, 2)), 0)])
def test_a_number_that_is_fed_for_rows_is_not_cut(fed: Any, axis: int | None) -> None:
    """`None` for the labels of an evaluation, in a placeholder without a shape."""
    pairs, _ = inputs.match([item("x", [4]), item("y", [4])], [item("x", [8], 0), item("y", [8], 0)], 2, False)
    arrays = {"x": np.arange(3), "y": fed}
    found = inputs.with_axes(pairs, {"x": 0, "y": 0}, arrays)
    assert [pair["axis"] for pair in found] == [0, axis]
    assert [len(feed["x"]) for feed, _ in inputs.shards(found, arrays, 2)] == [2, 1]


def test_the_first_tower_s_examples_behind_the_others() -> None:
    own, recorded = ([item("x", [size]), item("boxes", [2 * size]), item("k", [])] for size in (2, 5))
    pairs = [
        dict(pair, axis=axis) for pair, axis in zip(inputs.match(own, recorded, 2, False)[0], (0, 0, None), strict=True)
    ]
    found = inputs.turned(pairs, {"x": np.arange(5), "boxes": np.arange(10), "k": np.array(0.5)}, 2)
    assert found["x"].tolist() == [3, 4, 0, 1, 2] and found["k"] == 0.5
    assert found["boxes"].tolist() == [6, 7, 8, 9, 0, 1, 2, 3, 4, 5]


def test_shards_leave_out_the_empty_ones() -> None:
    pairs, _ = inputs.match([item("x", [1]), item("k", [])], [item("x", [2]), item("k", [])], 2, False)
    arrays = {"x": np.array([5, 6]), "k": np.array(0.5)}
    few = inputs.cut_rows(pairs, arrays, 1)
    assert [(feed["x"].tolist(), size) for feed, size in inputs.shards(pairs, few, 3)] == [([5], 1)]


def test_a_batch_without_examples_is_one_shard() -> None:
    pairs, _ = inputs.match([item("x", [1])], [item("x", [2])], 2, False)
    ((feed, size),) = inputs.shards(pairs, {"x": np.zeros((0,))}, 2)
    assert feed["x"].shape == (0,) and size == 1


def test_sparse_batches_are_cut_by_their_rows() -> None:
    names = ["t/indices", "t/values", "t/shape"]
    own = [{**item(name, [2], 0), "sparse": names} for name in names]
    recorded = [{**item(name, [4], 0), "sparse": names} for name in names]
    pairs, _ = inputs.match([*own, item("x", [2])], [*recorded, item("x", [4])], 2, False)
    assert [pair["axis"] for pair in pairs] == [0, 0, 0, 0]
    places = np.array([[0, 0], [0, 1], [1, 0], [3, 2]])  # the third row is empty
    arrays = dict(zip(names, (places, np.array([5, 6, 7, 8]), np.array([4, 3])), strict=True), x=np.arange(4))
    assert inputs.rows(pairs, arrays) == 4
    (one, _), (two, _) = inputs.shards(pairs, arrays, 2)
    assert [one[name].tolist() for name in names] == [[[0, 0], [0, 1], [1, 0]], [5, 6, 7], [2, 3]]
    assert [two[name].tolist() for name in names] == [[[1, 2]], [8], [2, 3]]
    few = inputs.cut_rows(pairs, arrays, 3)
    assert few["t/shape"].tolist() == [3, 3] and few["t/values"].tolist() == [5, 6, 7] and inputs.rows(pairs, few) == 3
    assert inputs.whole(pairs, arrays)["t/indices"].tolist() == places.tolist()
    assert inputs.turned(pairs, arrays, 2) is None


def test_static_shapes() -> None:
    assert inputs.fits({"x": np.zeros([4, 3])}, {"x": [None, 3]})
    assert inputs.fits({"x": np.zeros([4, 3])}, {"x": None})
    assert not inputs.fits({"x": np.zeros([4, 3])}, {"x": [8, 3]})
    assert not inputs.fits({"x": np.zeros([4])}, {"x": [4, 1]})


@pytest.mark.parametrize(
    ("count", "gpus", "sizes"),
    [(128, 2, [127, 1]), (12, 3, [11, 2]), (10, 3, [8, 2]), (2, 2, [1]), (64, 1, []), (4, 8, []), (1, 2, [])],
)
def test_uneven_sizes(count: int, gpus: int, sizes: list[int]) -> None:
    assert record.uneven_sizes(count, gpus) == sizes


class Parts:
    """An original whose gradients are 1 in exact arithmetic, and what it computes over parts of its batch."""

    kept = {"before": {}}

    def __init__(self, *computed: float | None) -> None:
        self.computed = iter(computed)

    def in_parts(self, weights: object, count: int) -> tuple[Any, Any]:
        value = next(self.computed)
        return (None, None) if value is None else (value, {})

    def applied(self, weights: object, raw: float, feed: object) -> float:
        return raw

    def dense(self, raw: float) -> dict[tuple[int, str], Any]:
        return {(0, "w"): np.array([raw])}


@pytest.mark.parametrize(
    ("parts", "whole", "mine", "excused"),
    [
        ((1.0, 1.0001), 1.0008, 0.9992, True),  # the whole batch's own sum is off, the towers' no more than that
        ((1.0, 1.0001), 1.0008, 0.9980, False),  # the towers' is off further
        ((1.0, 1.0001), 1.0, 1.0008, False),  # the whole batch's is as exact as those of the parts
        ((1.0040, 1.0150), 1.0, 1.0002, False),  # each part's own statistics count: smaller parts lead further away
        ((None, None), 1.0008, 0.9992, False),  # it cannot be measured
    ],
)
def test_sums_over_a_whole_batch_are_less_exact(
    parts: tuple[float, float], whole: float, mine: float, excused: bool
) -> None:
    key = (0, "w")
    found = faults.less_exact(Parts(*parts), {key: 4e-4}, {key: np.array([mine])}, {key: np.array([whole])})
    assert found == ([key] if excused else [])
    assert faults.less_exact(Parts(*parts), {key: 1e-5}, {key: np.array([mine])}, {key: np.array([whole])}) == []


@pytest.mark.parametrize(
    ("last", "differs"), [([], False), ([{"order": False}], False), ([{"order": True, "slack": {}}], True)]
)
def test_weights_after_steps_of_the_same_train_op(last: list[dict[str, Any]], differs: bool) -> None:
    one, two, far = ({"w:0": np.array([float(number)])} for number in (1, 2, 4))
    steps = [{"before": one, "after": two}, {"before": two, "after": far}]
    figures = [{"order": True, "slack": {}}, *last]
    replay = SimpleNamespace(recording={"steps": steps}, figures=figures, weights=two)
    assert (course.trajectory(replay)["w:0"] > 0) is differs


class Seeded:
    """A graph that has a seed, and its own session."""

    def __init__(self, seed: int | None) -> None:
        self.seed, self.graph = seed, self

    def get_operations(self) -> list[object]:
        return []


def test_the_seed_of_a_graph_is_that_of_its_first_step() -> None:
    one, two, notes = Seeded(None), Seeded(7), diary.Diary()
    notes.fetched(one, None, None, False)
    notes.fetched(one, None, None, True)
    one.seed = 7  # set for the next graph, when this one has trained
    notes.fetched(one, None, None, True)
    notes.fetched(two, None, None, True)
    assert [notes.facts(graph)["graph seed"] for graph in (one, two, Seeded(5))] == [None, 7, 5]
