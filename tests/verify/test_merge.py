"""How fetched values are compared and put together, without TensorFlow."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from converter.verify.checks.fetches import check_fetches

np = pytest.importorskip("numpy")

CHILD = Path(__file__).resolve().parents[2] / "converter" / "verify" / "child"
sys.path.insert(0, str(CHILD))
try:
    from tmgprobe.graph import graphs
    from tmgprobe.reference import merge, region
    from tmgprobe.values import compare, summary
finally:
    sys.path.remove(str(CHILD))

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("found", "wanted", "error"),
    [
        (1.0, 1.0, 0.0),
        (1.1, 1.0, 0.1),
        ([1.0, 10.1], [1.0, 10.0], 0.01),  # relative to the largest
        ([1.0, 2.0], [[1.0, 2.0]], INF),
        ([NAN, 1.0], [NAN, 1.0], 0.0),
        ([NAN, 1.0], [1.0, 1.0], INF),
        ([INF, 1.0], [INF, 1.0], 0.0),
        ([INF, 1.0], [-INF, 1.0], INF),
        (NAN, NAN, 0.0),
        (3, 4, 0.25),
        ([True, False], [True, True], 1.0),
        (b"a", b"a", 0.0),
        (b"a", b"b", INF),
        ([], [], 0.0),
        (1e-9, 2e-9, 1e-3),  # a loss near zero is measured by what float32 holds of numbers of order one
    ],
)
def test_value_error(found: Any, wanted: Any, error: float) -> None:
    assert compare.value_error(np.array(found), np.array(wanted)) == pytest.approx(error)


@pytest.mark.parametrize(
    ("shapes", "sizes", "whole", "axis"),
    [
        ([(2, 3), (1, 3)], [2, 1], (3, 3), 0),
        ([(5, 2), (5, 1)], [2, 1], (5, 3), 1),
        ([(4, 3), (2, 3)], [2, 1], None, 0),  # two rows for each example
        ([(4, 3), (2, 3)], [2, 1], (6, 3), 0),
        ([(7,), (7,)], [2, 2], (7,), None),  # the same on every shard
        ([(2, 3), (1, 4)], [2, 1], (3, 3), None),
        ([(), ()], [2, 1], (), None),
        ([(2, 2), (1, 1)], [2, 1], (3, 3), None),  # between the examples
    ],
)
def test_rows(shapes: list[tuple[int, ...]], sizes: list[int], whole: tuple[int, ...] | None, axis: int | None) -> None:
    pieces = [np.full(shape, number) for number, shape in enumerate(shapes)]
    joined = merge.rows(pieces, sizes, None if whole is None else np.zeros(whole))
    if axis is None:
        assert joined is None
    else:
        assert np.array_equal(joined, np.concatenate(pieces, axis))


@pytest.mark.parametrize(
    ("runs", "found"),
    [
        ([{"whole": 0.0, "means": 0.0}, {"whole": 0.0, "means": 0.5}], 0.0),
        ([{"whole": 0.0, "means": 0.5}, {"whole": 0.5, "means": 0.0}], 0.5),  # another way in the next step
        ([{"whole": 0.0, "means": 0.0}, {"whole": 0.0, "means": 0.5}, {"whole": 0.5, "means": 0.0}], 0.5),
        ([{"whole": 0.5, "means": 0.4}, {"whole": 0.5, "means": 0.0}], 0.0),  # nothing has fitted before
        ([{"whole": 0.0}, {"means": 0.0}], 0.0),  # the way of before cannot be had
    ],
)
def test_one_way_holds_for_all_runs_of_a_value(runs: list[dict[str, float]], found: float) -> None:
    ways: dict[str, set[str]] = {}
    errors = [
        region.nearest(ways, "loss", [(error, how) for how, error in run.items()], merge.CLOSE)[0] for run in runs
    ]
    assert errors[-1] == found


def test_a_plan_leaves_one_way() -> None:
    spans = [["train.py", 4, 9, True], ["train.py", 6, 6, False]]
    planned = region.PlannedOperations(spans, False, False, None, {})
    stacks = [("train.py", 5), ("net.py", 1)], [("train.py", 6)], [("train.py", 10)]
    assert [planned._holds(stack) for stack in stacks] == [True, False, False]
    assert [way.how for way in region.ways(planned, set(), True)] == ["planned"]
    assert [way.how for way in region.ways(None, set(), False)] == ["whole", "rows", "loss", "means", "first tower"]


def test_summaries_of_shards() -> None:
    drawn = [np.array([4.0, -1.0, 2.0, 0.5]), np.array([2.0, -3.0, 1.0, 2.0])]
    assert summary.joined(drawn, [4, 2], None).tolist() == [6.0, -3.0, 2.0, 1.0]
    assert summary.joined([np.array(2.0), np.array(5.0)], [2, 1], merge._mean) == pytest.approx(3.0)
    assert summary.joined([np.array(2.0), np.array(2.0)], [2, 1], merge._sum) == 2.0  # not of the batch


@pytest.mark.parametrize(
    ("original", "found", "given"),
    [
        ("x/image/0 x/image/1", "x/image/0 x/image/1 x/image/2", "x/image/0 x/image/1 x/image/2"),
        ("x/image", "x/image/0 x/image/1", "x/image/0 x/image/1"),
        ("x/image/0 x/image/1", "x/image/0", "x/image/0 x/image/1"),  # fewer are not expected
        ("x/image/0", "x/image/0 y/image/0", "x/image/0"),
        ("loss", "loss loss/0", "loss"),
        ("loss x/audio/0", "loss x/audio/0 x/audio/1", "loss x/audio/0 x/audio/1"),
    ],
)
def test_images_of_a_larger_batch(original: str, found: str, given: str) -> None:
    values = {tag: np.array([4, 4, 3]) for tag in original.split()}
    assert sorted(summary.with_more_shown(values, found.split())) == given.split()


class Operation:
    """An operation of a graph, as far as `graphs` asks."""

    control_inputs: tuple[()] = ()

    def __init__(self, kind: str, *inputs: Operation, tag: str = "") -> None:
        self.type, self.op, self.tag = kind, self, tag.encode()
        self.inputs = inputs

    def get_attr(self, name: str) -> Any:
        return SimpleNamespace(string_val=[self.tag])


TEXT = SimpleNamespace(compat=SimpleNamespace(as_str=bytes.decode))


def test_summaries_of_what_waits_in_a_queue() -> None:
    queue, loss = Operation("FIFOQueueV2"), Operation("Mean", Operation("QueueDequeueManyV2", Operation("FIFOQueueV2")))
    full = Operation("Mul", Operation("Cast", Operation("QueueSizeV2", queue)), Operation("Const"))
    written = [
        Operation("ScalarSummary", Operation("Const", tag=tag), value)
        for tag, value in (("tower_0/batch/full", full), ("loss", loss))
    ]
    assert graphs.counts_waiting(full) and not graphs.counts_waiting(loss)
    assert merge.waiting(TEXT, Operation("MergeSummary", *written)) == {"batch/full"}
    assert merge.waiting(TEXT, Operation("MergeSummary", written[1])) == set()


@pytest.mark.parametrize(
    ("original", "found", "given"),
    [
        ("loss", "loss", "loss"),
        ("loss_1", "loss", "loss"),
        ("batch/fraction_of_32_full loss", "batch/fraction_of_64_full loss", "batch/fraction_of_64_full loss"),
        ("b/fraction_over_6_of_2_full", "b/fraction_over_12_of_4_full", "b/fraction_over_12_of_4_full"),
        ("b/fraction_over_6_of_2_full_1", "b/fraction_over_12_of_4_full", "b/fraction_over_12_of_4_full"),
        ("best_5_full", "best_10_full", "best_5_full"),
        ("top_5/value", "top_5/value loss", "top_5/value"),
    ],
)
def test_tags_with_other_numbers_behind_a_name(original: str, found: str, given: str) -> None:
    assert " ".join(sorted(merge._under_tags(dict.fromkeys(original.split()), found.split()))) == given


def test_what_waits_under_the_tags_of_a_larger_queue() -> None:
    mine = {"batch/fraction_of_32_full"}
    assert merge._those_under(mine, ["batch/fraction_of_64_full", "loss"]) == ["batch/fraction_of_64_full"]
    assert merge._those_under(mine, ["loss", "batch/fraction_of_64_empty"]) == []


def row(**facts: Any) -> dict[str, Any]:
    return {"name": "accuracy:0", "status": "same", "how": ["whole"], "error": 0.0, **facts}


DIFFERS = {"status": "differs", "part": "", "error": 0.5, "words": "is 0.5 instead of 1", "fault": None}


@pytest.mark.parametrize(
    ("rows", "status", "words"),
    [
        ([row(), row(how=["rows"])], "passed", "2 values equal to the original's: 1 on the whole batch, 1 made of"),
        ([row(), row(status="unsteady")], "passed", "; 1 change in the original too"),
        ([row(status="not apart")], "skipped", "1 are computed after the update"),
        ([row(), row(status="shown")], "passed", "; 1 are only shown: the first tower's, or the mean of the towers'"),
        ([row(status="waiting")], "skipped", "1 count what waits in a queue"),
        ([row(waiting=["batch/full"])], "passed", "; not compared, as threads fill queues at their own pace: batch/fu"),
        ([row(**DIFFERS)], "failed", "accuracy:0 is 0.5 instead of 1 (step 1)"),
        ([row(**{**DIFFERS, "fault": "tower 1"})], "failed", "instead of 1: the value of tower 1 only"),
        ([row(**{**DIFFERS, "fault": "divided"})], "failed", "a mean where there should be a sum"),
        ([row(**{**DIFFERS, "part": "loss"})], "failed", "the summary 'loss' is 0.5"),
        (
            [row(**{**DIFFERS, "fault": "another way", "how": ["means", "whole"]})],
            "failed",
            "in its other runs it is the original's with the mean of the shards' losses, in this one on the",
        ),
        ([row(), row(status="lost")], "failed", "accuracy:0 has a value in the original, and none in the conversion"),
        ([row(status="other tags", missing=[], added=["x"])], "failed", "the summaries also have x"),
    ],
)
def test_verdicts(rows: list[dict[str, Any]], status: str, words: str) -> None:
    (check,) = check_fetches([{"fetches": rows}], [], "none")
    assert check.status == status and words in check.detail


def test_runs_between_the_steps() -> None:
    (check,) = check_fetches([], [{"steps": 0, "rows": [row(**DIFFERS)]}], "none")
    assert check.detail.endswith("(a run before the first step)")
    (check,) = check_fetches([], [{"steps": 2, "rows": [row(**DIFFERS)]}], "linear")
    assert check.status == "skipped" and "another one on purpose (--scale-lr linear)" in check.detail
    assert check_fetches([{"fetches": []}], [], "none") == []


@pytest.mark.parametrize(
    ("steps", "epoch", "free", "status"),
    [
        (6, [3, 6], True, "skipped"),  # the second epoch's begin in the conversion, the first one's in the original
        (6, [3, 6], False, "failed"),  # examples go into it
        (3, [3, 6], True, "failed"),
        (6, [6, 6], True, "failed"),
        (0, [3, 6], True, "failed"),
        (6, None, True, "failed"),
    ],
)
def test_what_is_set_as_another_epoch_begins(steps: int, epoch: list[int] | None, free: bool, status: str) -> None:
    (check,) = check_fetches([], [{"steps": steps, "rows": [row(**DIFFERS, free=free)]}], "none", None, epoch)
    assert check.status == status and (status == "failed" or "another number in each script" in check.detail)


@pytest.mark.parametrize(
    ("first", "status", "words"),
    [
        ({"turned": {"fetches": [row()]}}, "passed", "2 values equal"),
        ({"turned": {}}, "passed", "; compared with the examples in the script's own order only"),
        ({"turned": {"fetches": [row(**DIFFERS)]}}, "failed", "(step 1, its examples in another order)"),
        ({"uneven": {"15": {"fetches": [row(**DIFFERS)]}}}, "failed", "(step 1, with 15 of its examples)"),
        ({"uneven": {"15": {"skipped": "static shape"}}}, "passed", "1 value equal"),
    ],
)
def test_other_batches_of_the_first_step(first: dict[str, Any], status: str, words: str) -> None:
    (check,) = check_fetches([{"fetches": [row()]}], [], "none", first)
    assert check.status == status and words in check.detail
