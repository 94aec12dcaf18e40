"""The ledger says only what was measured, and a line only where it applies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from converter.conversion import convert
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.report.verification import render_text
from converter.rule import all_rules
from converter.source import read
from converter.source.header import Header
from converter.verify.checks.training import another_rate
from converter.verify.data import ALL_STEPS, CheckResult, ConversionOrigin, LedgerLine, Report
from converter.verify.ledger import _same, ledger, of_checks, of_later_steps, of_origin
from converter.verify.origin import origin_of, repeat
from tests import goldens
from tests.rules.test_rules import FILE
from tests.verify.test_report import MOVING, VARIABLE, facts, step, verdict

ROOT = Path(__file__).resolve().parent.parent.parent
HEADER = Header("0.1.0", "train.py", "0" * 64, Options())


def lines(
    mine: Any = None,
    theirs: Any = None,
    one: Any = None,
    rate: str = "none",
    **changes: Any,
) -> dict[str, list[LedgerLine]]:
    """The ledger of a run like test_report's, by fate."""
    mine, theirs, one = mine or facts(), theirs or facts(), one or step()
    report = verdict(mine=mine, theirs=theirs, one=one, **changes)
    replayed = {"steps": [one], "not_held": changes.get("not_held", {})}
    found: dict[str, list[LedgerLine]] = {"same": [], "differs": [], "wrong": [], "unchecked": []}
    for entry in ledger(report, mine, theirs, replayed, rate):
        found[entry.fate].append(entry)
    return found


def of(entries: list[LedgerLine], what: str) -> LedgerLine:
    (found,) = (entry for entry in entries if entry.what == what)
    return found


def test_what_is_the_same_has_its_measured_error() -> None:
    same = lines()["same"]
    assert [entry.what for entry in same] == [
        "gradients",
        "loss",
        "update",
        "weights",
        "names",
        "initial values",
        "data",
        "checkpoints",
        "placement",
    ]
    assert (of(same, "gradients").figure, of(same, "gradients").tolerance) == (1e-7, 1e-4)
    assert of(same, "weights").figure == 1e-6
    assert of(same, "names").figure is None


def test_the_worst_of_a_topic_counts() -> None:
    uneven = {"gradients": {"w:0": 1e-6}, "loss": None, "finite": True, "matches": [], "kind": "mean"}
    few = {**uneven, "gradients": {"w:0": 3e-6}}
    first = {"restored": {"variables": 2, "wrong": []}, "uneven": {"7": uneven, "1": few}}
    entry = of(lines(first=first)["same"], "any size of batch")
    assert entry.figure == 3e-6
    assert "7 examples" in entry.detail and "1 example " in entry.detail


def test_nothing_differs_unless_it_was_measured() -> None:
    entries = lines(mine=facts(held={}), one=step(rows=4), gpus=1, devices={"cpu:1": [1, 1]})
    assert entries["differs"] == []


@pytest.mark.parametrize(
    ("changes", "what", "words", "figure"),
    [
        ({}, "one step", "takes 8 examples, the original's 4: an epoch has 0.5 of the steps", 2.0),
        ({"steps": [step(), step(rows=3)]}, "one step", "takes 8 examples, the original's 4", 2.0),
        ({"steps": [step(rows=3), step()]}, "one step", "takes 8 examples, the original's 4", 2.0),
        ({"mine": facts(schedules=["global_step:0"])}, "schedule", "global_step:0", 2.0),
        ({"one": step(pace=4.0), "rate": "linear"}, "learning rate", "goes 4 times as far", 4.0),
        (
            {"one": step(rates={"theirs": 0.05, "own": 0.1, "later": 0.05, "meant": True})},
            "learning rate",
            "counts batches, 2 of which are one step: in step 1 the rate is 0.05, the original's 0.1, and 0.05 after",
            0.5,
        ),
        ({"one": step(kind="other", apart=0.25)}, "loss", "not a mean over the examples: the gradient", 0.25),
        ({"one": step(kind="sum", apart=0.5)}, "loss", "a sum over examples", 0.5),
        (
            {"one": step(kind="other", apart=0.25, by_feed={"norm/moving_mean:0": [0.0, 0.3]})},
            "loss",
            "statistics of its own examples: the gradient on the whole batch is 25%",
            0.25,
        ),
        (
            {"one": step(by_feed={"norm/moving_mean:0": [1e-7, 0.3], "w:0": [0.0, 0.9]})},
            "moving averages",
            "norm/moving_mean:0 follow the first tower's examples: with those of all towers they would be 30%",
            0.3,
        ),
        (
            {"mine": facts(drawn={"RandomUniform": 1}), "theirs": facts(drawn={"RandomUniform": 2})},
            "RandomUniform",
            "2 operations of a step draw numbers, 1 in the original",
            2.0,
        ),
    ],
)
def test_what_differs_by_design(changes: dict[str, Any], what: str, words: str, figure: float) -> None:
    entry = of(lines(**changes)["differs"], what)
    assert words in entry.detail
    assert entry.figure == figure


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"mine": facts(schedules=["global_step:0"]), "batch": "total", "one": step(rows=4)}, "schedule"),
        ({"one": step(rows=4), "batch": "total"}, "one step"),
        ({"one": step(pace=4.0)}, "learning rate"),
        ({"one": step(rates={"theirs": 0.2, "own": 0.1, "later": 0.1, "meant": False})}, "learning rate"),
        ({"one": step(kind="mean", apart=1e-7)}, "loss"),
        ({"one": step(kind="other", apart=0.2, reference="whole")}, "loss"),
        ({"one": step(by_feed={"norm/moving_mean:0": [0.0, 0.0]})}, "moving averages"),
        ({"one": step(by_feed={"norm/moving_mean:0": [0.2, 0.0]})}, "moving averages"),
        ({"one": step(by_feed={"w/Adam:0": [0.0, 0.2]})}, "moving averages"),
    ],
)
def test_what_does_not_differ_is_not_said_to(changes: dict[str, Any], what: str) -> None:
    assert what not in [entry.what for entry in lines(**changes)["differs"]]


def test_what_is_wrong_is_no_difference_by_design() -> None:
    found = lines(one=step(gradients={"w:0": 1.0}, matches=[["summed", 0.0]]))
    assert of(found["wrong"], "gradients").figure == 1.0
    assert "gradients" not in [entry.what for entry in found["same"]]


def test_what_passed_of_a_topic_that_failed_is_named_by_itself() -> None:
    checks = (
        CheckResult("gradients", "failed", "W:0"),
        CheckResult("sparse gradients", "passed", "rows are alike"),
        CheckResult("data", "passed", "x"),
        CheckResult("data", "failed", "y"),
        CheckResult("savers", "passed", "one"),
        CheckResult("summaries", "passed", "two"),
    )
    same = {entry.what: entry.detail for entry in _same(checks)}
    assert same == {"sparse gradients": "rows are alike", "savers, summaries, prints": "one; two"}


def test_what_was_not_checked() -> None:
    found = lines(one=step(loss=None, alone=["rate:0"]))["unchecked"]
    assert of(found, "loss").detail == "no loss that both scripts have as a scalar"
    assert "rate:0" in of(found, "inputs").detail
    assert "cpu:1, cpu:2" in of(found, "GPUs").detail


def test_variables_left_out_of_the_weights_are_named() -> None:
    mine = facts(variables=[VARIABLE, {**VARIABLE, "name": "b:0"}, MOVING])
    one = step(gradients={"w:0": 0.0, "b:0": 0.0})
    found = lines(mine=mine, theirs=mine, one=one, trajectory={"w:0": 0.0, "b:0": None})
    assert "b:0" in of(found["unchecked"], "weights").detail


def test_operations_that_could_not_be_held() -> None:
    replayed = {"steps": [step()], "not_held": {"random_uniform": 2}}
    entries = ledger(verdict(), facts(), facts(), replayed, "none")
    assert any(e.what == "randomness" and "2 random_uniform" in e.detail for e in entries)


def test_other_train_ops_than_the_first_take_no_uneven_batch() -> None:
    kinds = [step(triggered=[[0], [0]]), step(triggered=[[1], [1]])]
    for taken, named in ((kinds, True), (kinds[:1] * 2, False)):
        replayed = {"steps": taken, "first": {"uneven": {"7": {}}}}
        entries = ledger(verdict(), facts(), facts(), replayed, "none")
        assert any(e.what == "uneven batch" and "of 2 kinds of steps" in e.detail for e in entries) is named


def warned(code: str) -> Diagnostic:
    return Diagnostic(code, "train.py", 7, 1, "take care", severity="warning")


@pytest.mark.parametrize(
    ("origin", "fate", "words"),
    [
        (ConversionOrigin(), "unchecked", "no header"),
        (ConversionOrigin(HEADER, same_source=False), "unchecked", "another text than this original"),
        (ConversionOrigin(HEADER, True, rewritten=False), "unchecked", "not what this version writes"),
        (ConversionOrigin(HEADER, True, True, findings=(warned("TMG302"),)), "differs", "line 7: take care"),
        (ConversionOrigin(HEADER, True, True, findings=(warned("TMG322"),)), "differs", "line 7: take care"),
        (ConversionOrigin(HEADER, True, True, findings=(warned("TMG303"),)), "unchecked", "line 7: take care"),
    ],
)
def test_what_the_conversion_says_of_itself(origin: ConversionOrigin, fate: str, words: str) -> None:
    (entry,) = of_origin(origin)
    assert entry.fate == fate
    assert words in entry.detail


def test_a_conversion_that_is_what_it_says_adds_nothing() -> None:
    assert list(of_origin(ConversionOrigin(HEADER, True, True))) == []


def test_the_origin_of_a_golden_is_known() -> None:
    folder = goldens.FIXTURES / "layers_cnn"
    origin = origin_of(repeat(folder / "single.py", folder / "multi.py", {}))
    assert (origin.same_source, origin.rewritten) == (True, True)
    assert ("TMG110",) in [codes for _, codes in origin.files[0].trace]


def test_the_origin_of_an_edited_conversion_is_not(tmp_path: Path) -> None:
    folder = goldens.FIXTURES / "layers_cnn"
    text = (folder / "multi.py").read_text()
    (tmp_path / "multi.py").write_text(text.replace("weight)\n", "weight * 2)\n", 1))
    (tmp_path / "other.py").write_text((folder / "single.py").read_text() + "\n")
    edited = origin_of(repeat(folder / "single.py", tmp_path / "multi.py", {}))
    assert (edited.same_source, edited.rewritten, edited.files) == (True, False, ())
    assert origin_of(repeat(tmp_path / "other.py", folder / "multi.py", {})).same_source is False
    assert origin_of(repeat(folder / "multi.py", folder / "single.py", {})) == ConversionOrigin()


def test_a_report_ends_with_the_ledger() -> None:
    report = verdict(one=step(loss=None, kind="sum", apart=0.5))
    entries = ledger(report, facts(), facts(), {"steps": [step(kind="sum", apart=0.5)]}, "none")
    text = render_text(Report(**{**vars(report), "ledger": entries}))
    shown = text[text.index("\nledger\n") :]
    assert "the same           gradients 1.0e-07, update 0, weights 1.0e-06 (largest errors)\n" in shown
    assert "                   names, initial values, data, checkpoints, placement\n" in shown
    assert "differs by design  one step: takes 8 examples" in shown
    assert "                   loss: it is a sum over examples" in shown
    assert "                   loss: no loss that both" in shown
    assert text.endswith(shown)


def test_a_report_without_figures_has_only_what_failed() -> None:
    report = verdict(theirs=facts(variables=[MOVING]))
    assert [entry.what for entry in of_checks(report.checks) if entry.fate == "wrong"] == ["variables"]


def test_the_origin_of_a_project_is_known(tmp_path: Path) -> None:
    (rule,) = (rule for rule in all_rules() if rule.code == "TMG115")
    names = FILE.findall(rule.before)
    for name, text in zip(names, FILE.split(rule.before)[2::2], strict=True):
        (tmp_path / name).write_text(text)
    script = tmp_path / names[-1]
    done = convert(read(str(script)), Options(), several=True)
    assert done.text is not None and done.parts
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / script.name).write_text(done.text)
    assert not origin_of(repeat(script, tmp_path / "out" / script.name, {})).rewritten  # the other files are missing
    parts = {os.path.relpath(part.path, tmp_path): part.text.encode() for part in done.parts}
    origin = origin_of(repeat(script, tmp_path / "out" / script.name, parts))
    assert (origin.rewritten, origin.files[0].trace) == (True, done.trace)
    assert [file.name for file in origin.files] == [script.name, *(name for name in names if name in parts)]
    name = next(iter(parts))
    edited = {**parts, name: parts[name] + b"x = 1\n"}
    assert not origin_of(repeat(script, tmp_path / "out" / script.name, edited)).rewritten
    assert ("TMG115",) in [codes for _, codes in origin.files[0].trace]


@pytest.mark.parametrize(
    ("recorded", "late", "expected"),
    [
        ({"cut": "", "steps": 1}, False, ("same", "all steps", "takes 1, and each was compared")),
        ({"cut": "time", "steps": 1}, False, ("unchecked", "later steps", "the time for them was up (--timeout)")),
        ({"cut": "memory", "steps": 1}, False, ("unchecked", "later steps", "so many fill the memory")),
        ({"cut": "memory", "steps": 1}, False, ("unchecked", "later steps", "only those after the last step")),
        ({"cut": "asked", "steps": 1}, False, ("unchecked", "later steps", "more than 1000 are not compared")),
        ({"cut": "", "steps": 4}, True, ("unchecked", "later steps", "the first 1 were compared: the time")),
        ({"cut": "", "steps": 4}, False, ("unchecked", "later steps", "the first 1 were compared of 4")),
        ({"cut": "", "steps": 4}, True, ("unchecked", "later steps", "a model in another graph is trained next")),
        ({"cut": "", "steps": 4}, True, ("unchecked", "later steps", "where an epoch begins the train ops take turns")),
    ],
)
def test_how_far_all_steps_went(recorded: Any, late: bool, expected: tuple[str, str, str]) -> None:
    asides = [{"steps": None if "only" in expected[2] else 1}]
    other = "model" if "model" in expected[2] else "turn" if "turns" in expected[2] else ""
    replayed = {"late": late, "other": other, "asides": asides}
    (found,) = of_later_steps(1, {"unrun": [], **recorded}, replayed, ALL_STEPS)
    assert (found.fate, found.what) == expected[:2]
    assert expected[2] in found.detail


def test_how_far_the_steps_went_that_were_asked_for() -> None:
    recorded = {"cut": "", "steps": 1, "unrun": ["Adam_1"]}
    unrun, found = of_later_steps(1, recorded, {"late": False, "other": ""}, 3)
    assert found.fate == unrun.fate == "unchecked"
    assert found.detail == "the first 1 of the 3 asked for were compared (--steps N, or all)"
    assert unrun.detail == "Adam_1 never ran in the compared steps (--steps N, or all)"


@pytest.mark.parametrize(
    ("paces", "said", "why"),
    [
        ([2.0, 2.0], {"TMG341"}, "TMG341: 2 times the original's, as it is computed from the batch size"),
        ([2.0, 2.0], set(), ""),
        ([2.0, 1.9], {"TMG341"}, ""),
        ([4.0], {"TMG341"}, ""),
        ([0.5, 0.5], {"TMG341"}, "TMG341: 0.5 times the original's, as it is computed from the batch size"),
        ([2**0.5], {"TMG341"}, "TMG341: 1.41 times the original's, as it is computed from the batch size"),
        ([2.0, 0.5], {"TMG341"}, ""),
        ([], {"TMG341"}, ""),
    ],
)
def test_a_rate_that_grows_with_the_batch(paces: list[float], said: set[str], why: str) -> None:
    assert another_rate([step(pace=pace) for pace in paces], "none", 2, said) == why
