"""--output-format on the command line: what goes to standard output, the exit status, and what excludes what."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import converter.verify
from tests.cli.standins import BOTH_PYTHONS, Engine, Run, put
from tests.report.standins import report
from tests.report.test_formats import sarif_results

BEGINS = {"json": '{\n  "schema": "tf-multigpu/', "github": "::", "sarif": '{\n  "$schema"', "markdown": "### tf-multi"}


@pytest.mark.parametrize("form", BEGINS)
@pytest.mark.parametrize("where", [("-o", "out"), ("--in-place",), ("--diff",), ("--check",)])
def test_a_run_in_every_format(project: Path, run: Run, form: str, where: tuple[str, ...]) -> None:
    put("src/a.py")
    put("src/b.py", BOTH_PYTHONS)
    sources = ("src/a.py", "src/b.py") if where == ("--check",) else ("src",)  # --check passes over what is not named
    done = run("convert", *sources, *where, "--output-format", form)
    assert done.code == 2 and done.err == ""
    assert done.out.decode().startswith(BEGINS[form])
    assert "TMG004" in done.out.decode()


def test_sarif_has_the_fix_of_a_file_that_would_change(project: Path, run: Run, engine: Engine) -> None:
    put("train.py")
    for mode in ("--check", "--diff"):
        done = run("convert", "train.py", mode, "--output-format", "sarif")
        (result,) = sarif_results(done.out.decode())
        assert (done.code, result["fixes"][0]["artifactChanges"][0]["artifactLocation"]["uri"]) == (1, "train.py")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("train.py", "--output-format", "sarif"), "where the script would go"),
        (("train.py", "--output-format", "markdown"), "add -o FILE"),
        (("train.py", "--check", "--json", "--output-format", "github"), "exclude each other"),
        (("train.py", "--check", "--output-format", "xml"), "'--output-format': 'xml' is not one of"),
    ],
)
def test_what_excludes_what(project: Path, run: Run, words: tuple[str, ...], said: str) -> None:
    put("train.py")
    done = run("convert", *words)
    assert done.code == 2 and said in " ".join(done.err.replace("│", " ").split())


def test_json_has_two_names(project: Path, run: Run) -> None:
    put("train.py")
    one = run("convert", "train.py", "--check", "--json")
    assert one.out == run("convert", "train.py", "--check", "--output-format", "json").out
    assert one.out == run("convert", "train.py", "--check", "--json", "--output-format", "json").out
    assert json.loads(one.out)["files"][0]["outcome"] == "would change"


@pytest.mark.parametrize("form", BEGINS)
def test_a_proof_in_every_format(project: Path, run: Run, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def stand_in(*_: Any) -> converter.verify.Report:
        return report()

    monkeypatch.setattr(converter.verify, "verify", stand_in)
    done = run("verify", "single.py", "multi.py", "--output-format", form)
    assert done.code == 0 and done.out.decode().startswith(BEGINS[form])
    assert "multi.py" in done.out.decode() or form in ("json", "markdown")


def test_messages_show_the_line(project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # the real engine
    monkeypatch.chdir(project)
    put("train.py", b"import tensorflow as tf\nx = (1 +\n")
    assert "\n    2 | x = (1 +\n      |     ^\n" in run("convert", "train.py").err
