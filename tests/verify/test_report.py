"""From figures to a verdict, to text, to JSON, to an exit status: without running anything."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import converter.verify
from converter.cli.command_line import commands
from converter.report import data
from converter.report.verification import render_summary, render_text
from converter.verify import CheckResult, Report, VerifyError, VerifySettings
from converter.verify.checks.structure import check_between
from converter.verify.checks.training import check_gradients
from converter.verify.data import LedgerLine, LossRow, StepTrace
from converter.verify.judge import ComparisonSettings, judge

VARIABLE = {"name": "w:0", "shape": [2], "dtype": "float32", "trainable": True}
ZEROS = [2, 1, 0.0, 0.0, 0.0, 0.0]
INITIAL = {"w:0": {"random": [], "seeds": [], "reads": [], "held": ZEROS, "start": ZEROS}}
DIARY = {"notes": {}, "steps": 1, "savers": [], "seeds": [], "graph seed": None, "shuffling": []}
FED = {"input": "x:0", "status": "same", "rows": 8, "left_out": 0, "fault": "", "step": None}
DATA = {"fed": [FED], "evaluated": [], "ended": True}
STEP = {"name": "global_step:0", "shape": [], "dtype": "int64", "trainable": False}
MOVING = {"name": "norm/moving_mean:0", "shape": [2], "dtype": "float32", "trainable": False}


def facts(**changes: Any) -> dict[str, Any]:
    right = {
        "variables": [VARIABLE, MOVING],
        "applies": 1,
        "races": False,
        "triggered": [0],
        "held": {"random_uniform": 1},
        "writes": {"w": 1, "norm/moving_mean": 1},
        "collections": {"update_ops": 2, "while_context": 1},
        "slices": {},
        "initial": INITIAL,
    }
    return {**right, **changes}


def step(**changes: Any) -> dict[str, Any]:
    right = {
        "order": True,
        "triggered": [[0], [0]],
        "rows": 8,
        "own_rows": 4,
        "gradients": {"w:0": 1e-7},
        "finite": True,
        "sparse": {},
        "loss": [1.0, 1.0, "fetched"],
        "matches": [],
        "noise": [],
        "update": {"w:0": 0.0, "norm/moving_mean:0": 0.0},
        "counted": {},
        "reference": "shards",
        "kind": "mean",
        "alone": [],
    }
    return {**right, **changes}


NOT_FINITE = {"gradients": {"w:0": 1.0}, "loss": [0.0, 0.0, "towers"], "finite": False, "diverged": False}


def verdict(
    mine: Any = None,
    theirs: Any = None,
    one: Any = None,
    devices: Any = None,
    gpus: int = 2,
    trajectory: Any = None,
    first: Any = None,
    batch: Any = "per-gpu",
    spread: float | None = None,
    steps: Any = None,
) -> Report:
    restored = {"variables": 2, "wrong": []}
    devices = {"cpu:1": [3, 6], "cpu:2": [3, 6]} if devices is None else devices
    return judge(
        mine or facts(),
        theirs or facts(),
        {
            "first": {"restored": restored, "devices": devices, "initial": INITIAL},
            "diary": DIARY,
            "steps": 1,
            "skipped": 0,
            "error": None,
        },
        {
            "steps": steps or [one or step()],
            "first": first or {"restored": restored, "uneven": {}},
            "spread": spread,
            "trajectory": trajectory or {"w:0": 1e-6},
            "walked": 1,
            "data": DATA,
            "diary": DIARY,
            "error": None,
            "further": 0,
            "changed": [],
            "as_far": True,
        },
        ComparisonSettings(gpus, batch, 1),
    )


SEEDED = ["RandomUniform", 87654321, 5]


def test_seeds_of_the_original_and_seeds_of_each_tower_are_right() -> None:
    own, each = facts(seeded=[[*SEEDED, 1]]), facts(seeded=[[*SEEDED, 1], ["RandomUniform", 87654321, 6, 1]])
    for mine, theirs in ((own, facts(seeded=[[*SEEDED, 2]])), (facts(), each)):
        report = verdict(mine=mine, theirs=theirs)
        assert report.verdict == "passed"


def test_what_the_original_changes_too_may_change() -> None:
    changes: list[Any] = [step(), step(between=([], [], ["rate:0"]))]
    known: tuple[dict[str, list[int]] | None, ...] = ({}, {"rate:0": [1]}, None)
    assert [check_between(changes, each).status for each in known] == ["failed", "passed", "passed"]


@pytest.mark.parametrize(
    ("begins", "own", "passed"),
    [
        ({2, 4}, [5, 10], True),
        ({3, 4}, [5, 10], False),  # a step later
        ({1, 2, 3, 4}, [5, 10], False),  # each step
        ({2}, [5, 10], False),
        ({2}, [5], True),  # not at each epoch: values decide
        ({2, 3}, [5], False),
        (set(), [5], True),
        ({1, 3}, [5, 9], True),  # the original's epochs are not what it waits for
    ],
)
def test_what_the_original_changes_where_its_epochs_begin(begins: set[int], own: list[int], passed: bool) -> None:
    changes: list[Any] = [step(between=([], [], ["rate:0"] * (count in begins))) for count in range(5)]
    found = check_between(changes, {"rate:0": own, "epoch:0": [10]}, (2, 5))
    assert (found.status == "passed") is passed


def test_a_counter_of_steps_that_the_conversion_alone_has() -> None:
    counting = facts(
        variables=[VARIABLE, MOVING, STEP],
        counters={"global_step:0": ["variables", "global_step"]},
        writes={**facts()["writes"], "global_step": 1},
        collections={**facts()["collections"], "variables": 3, "global_step": 1},
    )
    own = facts(collections={**facts()["collections"], "variables": 2})
    report = verdict(mine=own, theirs=counting)
    assert report.verdict == "passed" and any(note.startswith("global_step:0 counts") for note in report.notes)
    # More than the counter: a further variable is still told.
    more = {**counting, "variables": [*counting["variables"], {**VARIABLE, "name": "w_1:0"}]}
    assert verdict(mine=own, theirs=more).reason.startswith("the towers do not share variables")


def test_averages_that_the_original_writes_several_times_in_one_run_race_in_it_too() -> None:
    twice = facts(writes={"w": 1, "norm/moving_mean": 2})
    done = verdict(mine=twice, theirs=twice, one=step(update={"w:0": 0.0, "norm/moving_mean:0": 0.5}))
    update = next(check for check in done.checks if check.name == "update")
    assert (update.status, update.figure) == ("passed", 0.0)
    assert "but norm/moving_mean:0, which the original writes several times in one run" in update.detail


def test_all_is_well() -> None:
    report = verdict()
    assert report.verdict == "passed"
    skipped = [check.name for check in report.checks if check.status == "skipped"]
    # nothing was evaluated, saved or printed, and no other batch was tried
    assert skipped == ["data of evaluations", "beside the steps", "uneven batch"]
    assert report.neutralised == (("random_uniform", 2),)


@pytest.mark.parametrize(
    ("changes", "check", "words"),
    [
        (
            {"theirs": facts(variables=[VARIABLE, MOVING, {**VARIABLE, "name": "w_1:0"}])},
            "variables",
            "do not share",
        ),
        (
            {"theirs": facts(variables=[VARIABLE, MOVING, {**VARIABLE, "name": "scale:0", "trainable": False}])},
            "variables",
            "the original lacks scale:0",
        ),
        (
            {"theirs": facts(variables=[VARIABLE, MOVING, {**MOVING, "name": "tower_1/norm/moving_mean:0"}])},
            "variables",
            "do not share",
        ),
        (
            {"theirs": facts(variables=[VARIABLE, MOVING, STEP], counters={})},
            "variables",
            "the original lacks global_step:0",
        ),
        (
            {"theirs": facts(variables=[MOVING])},
            "variables",
            "variables are missing: the conversion lacks w:0",
        ),
        (
            {"theirs": facts(variables=[{**VARIABLE, "dtype": "float64"}, MOVING])},
            "variables",
            "dtype float64",
        ),
        ({"theirs": facts(applies=2)}, "train op", "applies gradients 2 times"),
        (
            {"one": step(order=False, triggered=[[0], [1]])},
            "train op",
            "runs train op [1], the original's [0]",
        ),
        ({"one": step(rows=4)}, "batch", "4 examples instead of 8 (2 x 4)"),
        ({"steps": [step(), step(rows=3), step(rows=3)]}, "batch", "step 3 takes 3 examples instead of 8 (2 x 4)"),
        ({"steps": [step(), step(rows=9)]}, "batch", "step 2 takes 9 examples instead of 8 (2 x 4)"),
        ({"batch": "total"}, "batch", "8 examples instead of 4 (4 as in the original)"),
        (
            {"steps": [step(), step(between=([], [], ["count:0"]))]},
            "between the steps",
            "count:0 is changed between the steps 1 and 2, the original leaves it as it is",
        ),
        (
            {"theirs": facts(seeded=[["RandomUniform", 87654321, 5, 2]])},
            "draws of the towers",
            "2 operations RandomUniform draw the same numbers, as they have one seed (5)",
        ),
        ({"one": step(finite=False)}, "gradients", "not finite"),
        ({"one": step(gradients={"w:0": "nan"})}, "gradients", "they differ"),
        (
            {"one": step(gradients={"w:0": 1.0}, matches=[["summed", 1e-7]])},
            "gradients",
            "summed over the towers",
        ),
        ({"one": step(gradients={"w:0": 1.0}, matches=[["weight decay", 0.1]])}, "gradients", "weight decay"),
        (
            {"one": step(gradients={"w:0": 1.0}, matches=[["shard 1", 0.0]])},
            "gradients",
            "only tower 1's shard",
        ),
        (
            {
                "one": step(gradients={"w:0": 1.0}, matches=[["unweighted", 0.0]], kind="sum", rows=4),
                "batch": "total",
            },
            "gradients",
            "to be added, not averaged",
        ),
        ({"one": step(finite=False)}, "gradients", "not finite"),
        (
            {"one": step(sparse={"w:0": [False, True]})},
            "sparse gradients",
            "sparse gradient of w:0 became dense",
        ),
        (
            {"one": step(sparse={"w:0": [True, False]})},
            "sparse gradients",
            "dense gradient of w:0 became sparse",
        ),
        ({"one": step(loss=[1.1, 1.0, "fetched"])}, "loss", "1.1 instead of 1"),
        ({"one": step(loss=["nan", 1.0, "towers"])}, "loss", "nan instead of 1"),
        ({"one": step(update={"w:0": 0.5})}, "update", "w:0 gets another value"),
        ({"one": step(update={"w:0": 0.5}), "theirs": facts(writes={"w": 2})}, "update", "step runs 2 times"),
        (
            {
                "one": step(update={"norm/moving_mean:0": 0.5}),
                "theirs": facts(writes={"norm/moving_mean": 2}),
            },
            "update",
            "update ops of all towers run: norm/moving_mean:0 advances 2 times",
        ),
        (
            {
                "one": step(update={"w:0": 0.5, "norm/moving_mean:0": 0.5}),
                "mine": facts(writes={"w": 1, "norm/moving_mean": 2}),
                "theirs": facts(writes={"w": 1, "norm/moving_mean": 2}),
            },
            "update",
            "w:0 gets another value",
        ),
        (
            {
                "one": step(update={"norm/moving_mean:0": 0.5}),
                "mine": facts(writes={"norm/moving_mean": 2}),
                "theirs": facts(writes={"norm/moving_mean": 1}),
            },
            "update",
            "norm/moving_mean:0 gets another value",
        ),
        (
            {"one": step(update={"w:0": 1.0}, counted={"step:0": [2, 1]})},
            "update",
            "counted up by 2 instead of 1",
        ),
        ({"trajectory": {"w:0": 0.1}}, "weights", "w:0 differs after"),
        ({"trajectory": {"w:0": 0.1}, "spread": 1e-4}, "weights", "w:0 differs after"),
        ({"theirs": facts(writes={"w": 2, "norm/moving_mean": 1})}, "writes", "w is written 2 times"),
        ({"first": {"uneven": {"7": {"failed": "static shape"}}}}, "uneven batch", "fixed batch size"),
        ({"first": {"uneven": {"1": {"failed": "NaN"}}}}, "fewer examples than towers", "NaN"),
        ({"first": {"uneven": {"1": NOT_FINITE}}}, "fewer examples than towers", "a gradient is not finite"),
        (
            {"first": {"restored": {"error": "NotFoundError: x"}}},
            "checkpoint of the conversion, read by the original",
            "NotFoundError",
        ),
        (
            {"first": {"restored": {"wrong": ["w:0"]}}},
            "checkpoint of the conversion, read by the original",
            "w:0",
        ),
        ({"devices": {"cpu:1": [3, 6]}}, "placement", "all towers compute on one device (cpu:1)"),
        (
            {"devices": {"cpu:1": [3, 6], "cpu:2": [3, 6]}, "gpus": 3, "one": step(rows=12)},
            "placement",
            "cpu:3",
        ),
        ({"devices": {"cpu:1": [3, 12], "cpu:2": [3, 0]}}, "placement", "one device"),
        ({"theirs": facts(collections={"update_ops": 4})}, "collections", "holds 4 entries instead of 2"),
    ],
)
def test_each_check_can_fail(changes: dict[str, Any], check: str, words: str) -> None:
    report = verdict(**changes)
    assert report.verdict == "failed"
    found = [one for one in report.checks if one.name == check]
    assert [one.status for one in found] == ["failed"]
    assert words in found[0].detail


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"one": step(rows=None)}, "batch"),
        ({"one": step(loss=None)}, "loss"),
        ({"trajectory": {"w:0": 2e-3}, "spread": 5e-3}, "weights"),
        ({"one": step(loss=[1.1, 1.0, "towers"])}, "loss"),
        ({"first": {"uneven": {"7": {"skipped": "fixed"}}}}, "uneven batch"),
        ({"first": {"uneven": {"1": {**NOT_FINITE, "diverged": True}}}}, "fewer examples than towers"),
        ({"first": {"uneven": {}}}, "checkpoint of the conversion, read by the original"),
    ],
)
def test_what_cannot_be_compared_is_skipped(changes: dict[str, Any], check: str) -> None:
    assert [one.status for one in verdict(**changes).checks if one.name == check] == ["skipped"]


@pytest.mark.parametrize(
    "steps",
    [
        [step(), step(rows=3)],
        [step(), step(rows=3), step(), step(rows=3)],
        [step(), step(own_rows=1)],
    ],
)
def test_an_epoch_may_end_with_a_smaller_batch(steps: list[dict[str, Any]]) -> None:
    assert verdict(steps=steps).verdict == "passed"


def test_an_original_that_diverges() -> None:
    """What comes before is compared; its own numbers say nothing from there on."""
    lost = step(diverged=True, finite=False, gradients={"w:0": "inf"})
    report = verdict(steps=[step(), lost], trajectory={"w:0": "inf"})
    assert report.verdict == "passed"
    assert [one.detail for one in report.checks if one.name == "weights"] == [
        "the original's gradients are not finite in step 2"
    ]
    assert verdict(steps=[lost]).verdict == "not comparable"


def test_a_batch_without_examples() -> None:
    """No gradient is compared there, and none after it; the size of the batch is not the conversion's doing."""
    few = {key: step()[key] for key in ("order", "triggered", "own_rows")}
    empty = {**few, "rows": 0, "diverged": True, "empty": True}
    report = verdict(steps=[step(), empty])
    assert report.verdict == "passed"
    assert [one.detail for one in report.checks if one.name == "weights"] == [
        "the conversion is fed a batch without examples in step 2"
    ]
    alone = verdict(steps=[empty])
    assert (alone.verdict, alone.reason) == (
        "not comparable",
        "the conversion is fed a batch without examples: there is nothing to compare with",
    )


def test_text() -> None:
    text = render_text(verdict(one=step(gradients={"w:0": 1.0}, matches=[["summed", 0.0]])))
    assert text.startswith("FAILED  2 towers, batch per-gpu, 1 steps: the gradients are summed over the towers")
    assert "[1.0e+00 > 1e-04]" in text
    assert "w:0" in text
    assert "cpu:2" in text
    assert "2 random_uniform operations" in text


def test_json_holds_figures_that_it_has_no_number_for() -> None:
    content = json.loads(data.verification(verdict(one=step(gradients={"w:0": float("inf")}))))
    assert content["verdict"] == "failed"
    assert content["variables"][1]["gradient"] == "inf" or content["variables"][0]["gradient"] == "inf"


def test_json_holds_the_ledger_and_no_traces() -> None:
    trace = StepTrace((), (), (), ())
    entry = LedgerLine("same", "loss", "1", float("nan"), 1e-5)
    whole = replace(verdict(), ledger=(entry,), losses=(LossRow(1.0, float("inf")),), original=trace, command="again")
    content = json.loads(data.verification(whole))
    assert content["ledger"] == [{"fate": "same", "what": "loss", "detail": "1", "figure": "nan", "tolerance": 1e-5}]
    assert content["losses"] == [{"original": 1.0, "converted": "inf"}]
    assert content["command"] == "again"
    assert content.keys() & {"original", "converted", "origin"} == set()


CASES = [("passed", 0), ("failed", 3), ("not comparable", 3)]


def invoke(monkeypatch: pytest.MonkeyPatch, outcome: Any, *args: str) -> tuple[Any, list[VerifySettings]]:
    asked: list[VerifySettings] = []

    def fake(single: Path, multi: Path, settings: VerifySettings, *more: object) -> Report:
        asked.append(settings)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(converter.verify, "verify", fake)
    return CliRunner().invoke(commands.app, ["verify", "a.py", "b.py", *args]), asked


@pytest.mark.parametrize(("outcome", "status"), CASES)
def test_exit_status(monkeypatch: pytest.MonkeyPatch, outcome: Any, status: int) -> None:
    report = Report(outcome, "the reason", 2, "per-gpu", 3, (CheckResult("batch", "passed"),))
    result, _ = invoke(monkeypatch, report)
    assert result.exit_code == status
    assert "the reason" in result.output


def test_exit_status_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = invoke(monkeypatch, VerifyError("no such file"))
    assert (result.exit_code, result.output) == (2, "verify: no such file\n")
    result, _ = invoke(monkeypatch, RuntimeError("oh"))
    assert result.exit_code == 4
    assert "internal error" in result.output
    assert invoke(monkeypatch, verdict(), "--gpus", "0")[0].exit_code == 2


def test_options_reach_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    args = (
        "--gpus",
        "4",
        "--steps",
        "2",
        "--batch",
        "total",
        "--python",
        "py",
        "--timeout",
        "9",
        "--memory",
        "2.5",
        "--json",
        "--",
        "--lr=1",
    )
    result, asked = invoke(monkeypatch, verdict(), *args)
    assert asked == [VerifySettings(4, 2, "total", "py", ("--lr=1",), 9.0, 2.5)]
    assert json.loads(result.output)["verdict"] == "passed"


def test_quiet_prints_only_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    assert invoke(monkeypatch, verdict(), "-q")[0].output == ""
    failed = verdict(trajectory={"w:0": 1.0})
    assert invoke(monkeypatch, failed, "-q")[0].output.startswith("failed: w:0 differs after")


def test_the_verdict_and_what_failed_are_never_cut() -> None:
    long = "because " * 60 + "of this"
    failed = Report("failed", long, 2, "per-gpu", 3, checks=(CheckResult("loss", "failed", long),))
    lines = render_summary(failed).splitlines()
    assert lines[0].endswith("of this") and lines[1].startswith("FAILED") and lines[1].endswith("of this")


@pytest.mark.parametrize(
    ("used", "said"),
    [
        (["whole"], "on the whole batch"),
        (["once", "whole"], "on the rows that the shards give"),
        (["shards", "whole"], "the mean of the original's on the shards"),
    ],
)
def test_what_the_gradients_of_all_steps_equal(used: list[str], said: str) -> None:
    assert said in check_gradients([step(reference=name) for name in used], "per-gpu").detail
