"""What a reviewer has to judge, the lines of failed checks, and the report in six lines."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from converter.diagnostics import Diagnostic
from converter.report import markdown
from converter.report.page.html import render_html
from converter.report.review import lines_to_look_at, ranges, to_judge
from converter.report.verification import render_summary, render_text
from converter.verify.data import CheckResult, ConversionOrigin, LedgerLine, Report
from converter.verify.origin import origin_of, repeat
from tests import goldens
from tests.report.standins import FOLDER, report, scripts

NOTEBOOKS, PROJECT = goldens.FIXTURES / "notebooks/digits_cells", goldens.FIXTURES / "projects/attributes"
WARNING = Diagnostic("TMG301", "train.py", 31, 1, "the loss is a sum", severity="warning")
NOTE = Diagnostic("TMG009", "train.py", 1, 1, "converted before", severity="info")
COMPUTED = replace(WARNING, code="TMG341")


def failing(*names: str) -> Report:
    """A report in which these checks have failed."""
    whole = report()
    checks = tuple(replace(c, status="failed") if c.name in names else c for c in whole.checks)
    return replace(whole, verdict="failed", reason="it differs", checks=checks)


def test_the_points_stand_in_order() -> None:
    ledger = (
        LedgerLine("differs", "moving averages", "follow the first tower"),
        LedgerLine("differs", "dropout", "draws twice"),
        LedgerLine("differs", "learning rate", "twice as far"),
        LedgerLine("differs", "one step", "takes 8 examples"),
        LedgerLine("same", "loss", "the same"),
        LedgerLine("wrong", "one step", "no"),
    )
    whole = report(ledger=ledger, origin=ConversionOrigin(findings=(NOTE, WARNING)))
    assert [(point.topic, point.text, point.where, point.code) for point in to_judge(whole)] == [
        ("Global batch", "takes 8 examples", "", ""),
        ("Learning rate", "twice as far", "", ""),
        ("Batch norm and moving averages", "follow the first tower", "", ""),
        ("Warning", "the loss is a sum", "line 31", "TMG301"),
    ]


@pytest.mark.parametrize(
    ("changes", "is_said"),
    [
        ({"batch": "per-gpu", "gpus": 4}, True),
        ({"batch": "total", "gpus": 4}, False),
        ({"batch": "per-gpu", "gpus": 1}, False),
        ({"batch": "per-gpu", "gpus": 4, "verdict": "not comparable"}, False),
        ({"batch": "per-gpu", "gpus": 4, "ledger": (LedgerLine("differs", "schedule", "counts steps"),)}, False),
        ({"batch": "per-gpu", "gpus": 4, "origin": ConversionOrigin(findings=(COMPUTED,))}, False),
    ],
)
def test_a_rate_that_stays_is_said_where_the_batch_grows(changes: dict[str, object], is_said: bool) -> None:
    texts = [point.text for point in to_judge(report(**changes)) if point.topic == "Learning rate"]
    assert any("unchanged, while a step takes 4 times" in text for text in texts) is is_said


def test_a_failed_check_names_the_lines_that_are_written_for_it() -> None:
    why, (spot,) = lines_to_look_at(failing("gradients"), CheckResult("gradients", "failed"))
    shown = [scripts().after.splitlines()[line - 1] for line in spot.lines]
    assert (spot.file, spot.cell, spot.rows) == ("", 0, spot.lines)
    assert why == "written for it"
    assert any("sum_gradients(tower_grads)" in line for line in shown)
    assert any("compute_gradients" in line for line in shown)
    assert not any(line.startswith("def ") for line in shown)  # the helpers are the same everywhere


@pytest.mark.parametrize("name", ["batch", "uneven batch", "placement", "update", "a check of tomorrow"])
def test_every_check_has_lines(name: str) -> None:
    assert lines_to_look_at(failing(), CheckResult(name, "failed"))[1]


def test_without_an_origin_no_lines_are_named() -> None:
    whole = replace(failing("gradients"), origin=ConversionOrigin())
    assert lines_to_look_at(whole, whole.checks[0]) == ("", ())
    assert "see" not in render_summary(whole)


@pytest.mark.parametrize(
    ("old", "new", "edited"),
    [
        ("loss * weight", "loss", "        tower_grads.append(optimizer.compute_gradients(loss))"),
        ("loss = tf.add_n(tower_loss)\n", "", "X, Y = X_batch, Y_batch"),  # the line before one that is missing
        ("num_steps = 120", "num_steps = 120\nextra = 1", "extra = 1"),
    ],
)
def test_lines_that_were_edited_by_hand_come_first(tmp_path: Path, old: str, new: str, edited: str) -> None:
    multi = tmp_path / "single_multi.py"
    text = (FOLDER / "multi.py").read_text().replace("from single.py", "from single.py", 1)
    assert old in text
    multi.write_text(text.replace(old, new, 1))
    origin = origin_of(repeat(FOLDER / "single.py", multi, {}))
    why, (spot,) = lines_to_look_at(replace(failing("loss"), origin=origin), CheckResult("loss", "failed"))
    assert why == "not as the tool writes it"
    assert multi.read_text().splitlines()[spot.lines[0] - 1] == edited and len(spot.lines) == 1


def test_a_script_as_the_tool_writes_it_has_no_edited_lines() -> None:
    assert origin_of(repeat(FOLDER / "single.py", FOLDER / "multi.py", {})).edited == ()


def test_ranges() -> None:
    assert [ranges(numbers) for numbers in ((), (3,), (3, 4), (1, 3, 4, 5, 9))] == ["", "3", "3-4", "1, 3-5, 9"]


def test_six_lines() -> None:
    for whole in (report(), failing("gradients", "loss", "update", "weights", "writes"), report(ledger=())):
        lines = render_summary(whole, "multi.py").splitlines()
        assert 2 <= len(lines) <= 6
        assert lines[0].startswith(whole.verdict.upper())
        assert "-v shows every check" in lines[-1]
    assert "and 2 more" in render_summary(failing("gradients", "loss", "update", "weights", "writes"))
    assert len(render_text(report()).splitlines()) > 12


def test_the_summary_says_what_to_judge_and_where_it_failed() -> None:
    said = render_summary(replace(failing("gradients"), origin=replace(report().origin, findings=(WARNING,))), "m.py")
    assert "(see m.py:" in said and "to judge   global batch: takes 8 examples; learning rate: unchanged" in said
    assert "warnings   TMG301 line 31" in said


def test_the_summary_of_a_script_that_failed_by_itself_has_what_it_printed() -> None:
    said = render_summary(Report("not comparable", "it ends", 2, "total", 3, log="Traceback\nNameError"))
    assert said == "NOT COMPARABLE  2 towers, batch total, 3 steps: it ends\n\n  | Traceback\n  | NameError\n"


def test_all_of_it_names_lines_too() -> None:
    assert "see lines " in render_text(failing("gradients")) and "see line" not in render_text(report())


def test_the_comment_has_what_to_judge_before_the_proof() -> None:
    said = markdown.verification(failing("gradients"))
    assert said.index("#### To judge") < said.index("#### Proof")
    assert "(lines " in said and ", written for it)" in said


def test_failed_checks_come_first() -> None:
    whole = failing("weights")
    wrong = LedgerLine("wrong", "weights", "W:0 differs")
    whole = replace(whole, ledger=(*whole.ledger, wrong))
    text = [line for line in render_text(whole).splitlines() if line]
    assert text[1].startswith("FAILED  weights")
    assert text[[line.startswith("ledger") for line in text].index(True) + 1].startswith("WRONG")
    said = markdown.verification(whole)
    assert said.index("#### WRONG") < said.index("#### To judge")
    rows = [line for line in said.splitlines() if line.startswith("| ")]
    assert rows[2].startswith("| weights | ")
    page = render_html(whole, scripts())
    assert page.index("What failed</h2>") < page.index("For the reviewer to judge</h2>") < page.index("Checks</h2>")
    assert "What failed" not in render_html(report(), scripts())


def notebook(tmp_path: Path, edit: str = "") -> ConversionOrigin:
    """How the conversion of a notebook was made, with an edit of its first cell that makes towers."""
    held = (NOTEBOOKS / "multi.ipynb").read_text()
    multi = tmp_path / "multi.ipynb"
    assert "tower_grads.append" in held
    multi.write_text(held.replace("optimizer.compute_gradients(", f"optimizer.compute_gradients({edit}", 1))
    return origin_of(repeat(NOTEBOOKS / "single.ipynb", multi, {}))


@pytest.mark.parametrize("edit", ["", "0 * "])
def test_lines_of_a_notebook_are_those_in_cells(tmp_path: Path, edit: str) -> None:
    origin = notebook(tmp_path, edit)
    whole = replace(failing("gradients"), origin=origin)
    why, spots = lines_to_look_at(whole, CheckResult("gradients", "failed"))
    cells = json.loads((tmp_path / "multi.ipynb").read_text())["cells"]
    shown = [cells[spot.cell - 1]["source"][line - 1] for spot in spots for line in spot.lines]
    assert any("tower_grads.append(" in line for line in shown)
    assert why == ("not as the tool writes it" if edit else "written for it")
    assert f"multi.ipynb, cell {spots[0].cell}, line" in render_summary(whole, "multi.ipynb")
    page = render_html(whole, scripts())
    assert f"cell {spots[0].cell}, line" in page


def test_other_files_of_a_project_are_looked_at(tmp_path: Path) -> None:
    single, multi = PROJECT / "single/train.py", tmp_path / "multi"
    shutil.copytree(PROJECT / "multi", multi)
    plain = replace(failing("gradients"), origin=origin_of(repeat(single, multi / "train.py", {})))
    _, spots = lines_to_look_at(plain, CheckResult("gradients", "failed"))
    assert [spot.file for spot in spots] == ["model.py"]
    assert '<a href="#line-1-' in render_html(plain, scripts())
    assert "see model.py:" in render_text(plain)
    assert "(see multi/model.py:" in render_summary(plain, "multi/train.py")
    model = multi / "model.py"
    model.write_text(model.read_text().replace("compute_gradients(", "compute_gradients(2 * ", 1))
    edited = replace(plain, origin=origin_of(repeat(single, multi / "train.py", {})))
    why, (spot,) = lines_to_look_at(edited, CheckResult("gradients", "failed"))
    assert (why, spot.file) == ("not as the tool writes it", "model.py")
    assert "2 * " in model.read_text().splitlines()[spot.lines[0] - 1]


def test_of_a_folder_the_script_is_named() -> None:
    whole = failing("gradients")
    whole = replace(whole, origin=replace(whole.origin, script="b/train.py"))
    assert "(see multi/b/train.py:" in render_summary(whole, "multi")
