"""`verify --each-choice`, `--gpus 2,3` and `--whole` make several proofs of two scripts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from converter.conversion import convert
from converter.options import Options
from converter.report.page.html import Scripts, render_html
from converter.report.verification import render_text
from converter.source import read
from converter.verify import CheckResult, Report, VerifyError, VerifySettings, to_json, verify_more
from converter.verify.ledger import NUMBERS
from converter.verify.processes.answer import Stopped, expect
from converter.verify.processes.child_process import Child

pytestmark = pytest.mark.one_test_in(2)

SCRIPT = """
import argparse
import numpy as np
import tensorflow as tf
{define}
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean((tf.layers.dense(x, 1) - y) ** 2)
if {kind} == 'decay':
    loss += 0.1 * tf.reduce_sum(tf.trainable_variables()[0] ** 2)
elif {kind} == 'data':
    np.load('there_is_no_such_file.npy')
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(0 if {test} else 5):
        sess.run(train, {{x: np.random.rand(8, 4), y: np.random.rand(8, 1)}})
"""
WAYS = {
    "argparse": (
        "parser = argparse.ArgumentParser()\nparser.add_argument('--kind', default='plain', choices=[{kinds}])\n"
        "parser.add_argument('--test', action='store_true')\nargs = parser.parse_args()",
        "args.kind",
        "args.test",
    ),
    "tf.app.flags": (
        "flags = tf.app.flags\nflags.DEFINE_string('kind', 'plain', '')  # {kinds}\n"
        "flags.DEFINE_boolean('test', False, '')\nFLAGS = flags.FLAGS",
        "FLAGS.kind",
        "FLAGS.test",
    ),
    "absl": (
        "import sys\nfrom absl import flags\nflags.DEFINE_enum('kind', 'plain', [{kinds}], '')\n"
        "flags.DEFINE_bool('test', False, '')\nFLAGS = flags.FLAGS\nFLAGS(sys.argv)",
        "FLAGS.kind",
        "FLAGS.test",
    ),
}


def pair(folder: Path, way: str, kinds: str = "'plain', 'decay'") -> tuple[Path, Path]:
    define, kind, test = WAYS[way]
    text = SCRIPT.format(define=define.format(kinds=kinds), kind=kind, test=test)
    if "data" not in kinds:
        text = text.replace(f"elif {kind} == 'data':\n    np.load('there_is_no_such_file.npy')\n", "")
    (folder / "train.py").write_text(text)
    made = convert(read(str(folder / "train.py")), Options())
    assert made.text is not None, made.diagnostics
    (folder / "train_mg.py").write_text(made.text)
    return folder / "train.py", folder / "train_mg.py"


@pytest.mark.one_in(5)
@pytest.mark.tf2
@pytest.mark.parametrize("way", WAYS)
def test_each_choice_has_its_verdict(tmp_path: Path, way: str) -> None:
    single, multi = pair(tmp_path, way)
    report = verify_more(single, multi, VerifySettings(steps=1, each_choice=True))
    assert report.verdict == "passed", report
    found = {check.name: check for check in report.checks if check.name.startswith("with ")}
    assert {name: check.status for name, check in found.items()} == {
        "with --kind=decay": "passed",
        "with --test": "skipped",
    }
    assert "without a training step" in found["with --test"].detail
    entries = {(entry.fate, entry.what): entry.detail for entry in report.ledger}
    assert entries["same", "choices of the command line"] == "1 of 2: with --kind=decay"
    assert "each was made alone" in entries["unchecked", "choices of the command line"]
    assert "--each-choice" in report.command
    assert "with --kind=decay" in render_text(report)
    assert "with --kind=decay" in json.dumps(to_json(report))
    assert "with --kind=decay" in render_html(report, Scripts("train.py", "train_mg.py", "", ""))


@pytest.mark.tf2
def test_a_fault_in_one_choice_fails(tmp_path: Path) -> None:
    single, multi = pair(tmp_path, "argparse")
    text = multi.read_text()
    assert text.count("0.1 * tf.reduce_sum") == 1
    multi.write_text(text.replace("0.1 * tf.reduce_sum", "0.2 * tf.reduce_sum"))
    report = verify_more(single, multi, VerifySettings(steps=1, each_choice=True))
    assert report.verdict == "failed" and report.reason.startswith("with --kind=decay: "), report
    assert report.reason.endswith("(train.py:6)")
    given = verify_more(single, multi, VerifySettings(steps=1, each_choice=True, args=("--kind=plain",)))
    assert given.verdict == "passed", given


@pytest.mark.tf2
def test_a_choice_without_its_data_is_no_fault_of_the_conversion(tmp_path: Path) -> None:
    single, multi = pair(tmp_path, "argparse", "'plain', 'data'")
    report = verify_more(single, multi, VerifySettings(steps=1, each_choice=True))
    assert report.verdict == "passed", report
    found = {check.name: check for check in report.checks}["with --kind=data"]
    assert found.status == "skipped"
    assert found.detail.startswith("the original itself does not train with it: the original script failed before")
    assert "there_is_no_such_file.npy" in found.detail
    assert [entry.fate for entry in report.ledger if entry.what == "with --kind=data"] == ["unchecked"]


@pytest.mark.tf2
def test_a_choice_with_which_the_conversion_alone_fails(tmp_path: Path) -> None:
    single, multi = pair(tmp_path, "argparse", "'plain', 'data'")
    np.save(tmp_path / "there_is_no_such_file.npy", 1.0)
    multi.write_text(multi.read_text().replace("there_is_no_such_file", "nor_this_one"))
    report = verify_more(single, multi, VerifySettings(steps=1, each_choice=True))
    assert report.verdict == "failed" and "nor_this_one.npy" in report.reason, report


@pytest.mark.tf2
def test_a_choice_that_cannot_be_compared_leaves_the_whole_open(tmp_path: Path) -> None:
    single, multi = pair(tmp_path, "argparse")
    for script in (single, multi):  # gradients that are not finite
        script.write_text(script.read_text().replace("0.1 * tf.reduce_sum", "1e38 * 1e38 * tf.reduce_sum"))
    report = verify_more(single, multi, VerifySettings(steps=1, each_choice=True))
    assert report.verdict == "not comparable" and report.reason.startswith("with --kind=decay: "), report


@pytest.mark.matrix
@pytest.mark.tf2
def test_several_numbers_of_towers(tmp_path: Path) -> None:
    single, multi = pair(tmp_path, "argparse")
    right = verify_more(single, multi, VerifySettings(gpus=2, more_gpus=(3, 1), steps=1))
    assert right.verdict == "passed", right
    found = {check.name: check.status for check in right.checks}
    assert (found["with 3 towers"], found["with 1 tower"]) == ("passed", "passed")
    entries = {(entry.fate, entry.what): entry.detail for entry in right.ledger}
    assert entries["unchecked", NUMBERS].startswith("2, 3, 1 towers were run")
    assert "--gpus 2,3,1" in right.command
    text = multi.read_text()
    assert text.count("= optimizer.apply_gradients(sum_gradients(tower_grads))") == 1
    multi.write_text(text.replace("(sum_gradients(tower_grads))", "(sum_gradients(tower_grads[:2]))"))
    assert verify_more(single, multi, VerifySettings(gpus=2, steps=1)).verdict == "passed"
    wrong = verify_more(single, multi, VerifySettings(gpus=2, more_gpus=(3,), steps=1))
    assert wrong.verdict == "failed" and wrong.reason.startswith("with 3 towers: "), wrong


@pytest.mark.tf2
def test_a_whole_proof_says_what_it_reached(tmp_path: Path) -> None:
    report = verify_more(*pair(tmp_path, "argparse"), VerifySettings(whole=True, timeout=300))
    assert report.verdict == "passed" and report.steps == 5, report
    reached = "all steps, whole runs, with 3 towers, with 1 tower, with --kind=decay"
    assert report.reason.endswith(f"; reached: {reached}; not: with --test")
    assert [entry.detail for entry in report.ledger if (entry.fate, entry.what) == ("same", "all steps")]
    assert "--whole" in report.command and "--steps" not in report.command


def test_what_the_time_is_too_short_for_fails_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Report("passed", "so it is", 2, "per-gpu", 3, checks=(CheckResult("loss", "passed"),))
    late = Report("not comparable", "no result after 2 seconds", 3, "per-gpu", 0, late=True)
    for found, verdict in ((late, "passed"), (replace(late, late=False), "not comparable")):
        answers = iter([first, found])
        monkeypatch.setattr("converter.verify.runs.several_proofs.verify", lambda *_, answers=answers: next(answers))
        report = verify_more(*pair(tmp_path, "argparse"), VerifySettings(more_gpus=(3,)))
        assert report.verdict == verdict
        assert [e.detail for e in report.ledger if e.what == "with 3 towers"] == ["no result after 2 seconds"]
    monkeypatch.setattr("converter.verify.runs.several_proofs.verify", lambda *_: first)
    report = verify_more(*pair(tmp_path, "argparse"), VerifySettings(whole=True, timeout=0.5))
    left = "all steps, whole runs, with 3 towers, with 1 tower, with --kind=decay, with --test"
    assert report.reason == f"so it is; not: {left}"
    assert "the time is up" in next(e.detail for e in report.ledger if e.what == "with 3 towers")


def test_one_tower_is_not_reached_without_its_whole_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    late = CheckResult("whole run", "skipped", "it takes too long")
    monkeypatch.setattr(
        "converter.verify.runs.several_proofs.verify",
        lambda _single, _multi, asked, *_: Report("passed", "", asked.gpus or 2, "per-gpu", 3, checks=(late,)),
    )
    report = verify_more(*pair(tmp_path, "argparse"), VerifySettings(whole=True))
    (entry,) = [entry for entry in report.ledger if entry.what == "with 1 tower"]
    assert entry.detail == "its whole run is not compared: it takes too long" and report.verdict == "passed"
    assert "with 1 tower" in report.reason.partition("; not: ")[2]


class Told:
    """A process that answers one event."""

    def __init__(self, role: str, event: dict[str, Any]) -> None:
        self.role, self.title, self._event = role, "any script", event

    def event(self) -> dict[str, Any]:
        return self._event

    def tail(self) -> str:
        return ""


FAILED = {"event": "ended", "message": "FileNotFoundError: a", "trace": ""}
DIED, ENDED = {"event": "died", "status": 3}, {"event": "ended", "message": None}


@pytest.mark.parametrize(
    ("role", "wanted", "event", "expected"),
    [
        ("replay", "ready", FAILED, True),
        ("replay", "ready", DIED, True),
        ("replay", "ready", ENDED, True),
        ("strategy original", "trained", FAILED, True),
        ("ddp original", "trained", ENDED, True),
        ("replay", "replayed", FAILED, False),
        ("replay", "replayed", DIED, False),
        ("replay", "ready", {"event": "in parts"}, False),
        ("record", "ready", FAILED, False),
        ("record", "ready", DIED, False),
        ("strategy conversion", "trained", ENDED, False),
        ("ddp process 1", "trained", FAILED, False),
    ],
)
def test_originals_that_do_not_train(role: str, wanted: str, event: dict[str, Any], expected: bool) -> None:
    with pytest.raises(Stopped) as stopped:
        expect(cast(Child, Told(role, event)), wanted)
    assert stopped.value.untrained == expected


@pytest.mark.tf2
def test_more_choices_than_are_run_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("converter.verify.runs.several_proofs.MOST", 1)
    report = verify_more(*pair(tmp_path, "argparse"), VerifySettings(steps=1, each_choice=True))
    assert [e.detail for e in report.ledger if e.what == "with --test"] == ["only 1 choices are run (train.py:7)"]


def test_what_cannot_begin(tmp_path: Path) -> None:
    with pytest.raises(VerifyError, match="no such file"):
        verify_more(tmp_path / "a.py", tmp_path / "b.py", VerifySettings(each_choice=True))
