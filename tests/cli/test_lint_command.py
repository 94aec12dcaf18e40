"""`tf-multigpu lint`, in its formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from converter.rule import all_rules
from tests.cli.standins import Run

RULE = next(rule for rule in all_rules() if rule.code == "TMG408")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("wrong.py").write_text(RULE.before)
    Path("right.py").write_text(RULE.after)
    Path("plain.py").write_text("import os\n")
    return tmp_path


def test_empty_files_of_a_folder_are_passed_over(folder: Path, run: Run) -> None:
    Path("wrong.py").unlink()
    Path("__init__.py").write_bytes(b"")
    assert (run("lint", ".").code, run("lint", ".").err) == (0, "3 clean\n")
    named = run("lint", "__init__.py")
    assert named.code == 2 and "TMG003" in named.err


def test_what_is_found_is_told_with_its_place(folder: Path, run: Run) -> None:
    done = run("lint", "wrong.py")
    line = next(number for number, text in enumerate(RULE.before.split("\n"), 1) if "sess.run([train_op" in text)
    assert done.code == 1 and done.err.startswith(f"wrong.py:{line}:") and done.err.endswith("1 finding in 1 file\n")


def test_findings_are_counted(folder: Path, run: Run) -> None:
    Path("two.py").write_text(RULE.before.replace("[train_op, tower_loss]", "[train_op, tower_loss, logits]"))
    assert run("lint", "two.py").err.endswith("\n2 findings in 1 file\n")
    assert run("lint", ".").err.endswith("\n3 findings in 2 files, 2 clean\n")


def test_a_right_script(folder: Path, run: Run) -> None:
    done = run("lint", "right.py", "plain.py")
    assert (done.code, done.out, done.err) == (0, b"", "2 clean\n")
    assert run("lint", "right.py", "-q").err == ""


def test_folders(folder: Path, run: Run) -> None:
    done = run("lint", ".")
    assert done.code == 1 and done.err.endswith("1 finding in 1 file, 2 clean\n")
    assert run("lint", ".", "--exclude", "wrong.py").code == 0
    assert run("lint", "wrong.py", "--exclude", "wrong.py").code == 2


def test_what_cannot_be_read(folder: Path, run: Run) -> None:
    Path("old.py").write_text("import tensorflow\nprint 'x'\nf''\n")
    assert run("lint", "old.py", "wrong.py").code == 2
    assert "TMG001" in run("lint", "gone.py").err


def test_a_comment_takes_a_finding_away(folder: Path, run: Run) -> None:
    line = next(text for text in RULE.before.split("\n") if "sess.run([train_op" in text)
    Path("wrong.py").write_text(RULE.before.replace(line, line + "  # tf-multigpu: ignore[TMG408]"))
    assert run("lint", "wrong.py").code == 0


def test_formats(folder: Path, run: Run) -> None:
    github = run("lint", "wrong.py", "--output-format", "github")
    assert github.code == 1 and github.out.startswith(b"::warning file=wrong.py,line=")
    sarif = json.loads(run("lint", ".", "--output-format", "sarif").out)
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["TMG408"]
    files = json.loads(run("lint", ".", "--json").out)["files"]
    assert sorted(file["outcome"] for file in files) == ["clean", "clean", "found"]
    assert b"TMG408" in run("lint", "wrong.py", "--output-format", "markdown").out


def test_nothing_is_written(folder: Path, run: Run) -> None:
    before = {path: path.read_text() for path in folder.iterdir()}
    run("lint", ".")
    assert {path: path.read_text() for path in folder.iterdir()} == before
