"""The table of styles and targets in docs/targets.md says what the tool does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.options import Options
from converter.rule import all_rules
from converter.source import read
from converter.source.header import find_header
from tests import goldens
from tests.conversions import conversion_of
from tests.styles import STYLES, TARGETS, Style

ROOT = Path(__file__).resolve().parent.parent
TABLE = (ROOT / "docs/targets.md").read_text().split("| what trains |")[1].split("\n\n")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines()[2:]]
RULES = {rule.code: rule for rule in all_rules()}
FIXTURES = [(row[0], row[1], row[4].strip("` |")) for row in ROWS if "`" in row[-1]]
PAGES = [(row[0], row[2], row[-1].strip("` |")) for row in ROWS if "`" not in row[-1]]


# Rows that other tests hold: configurations, which are no scripts, and what the command says of a file without a step.
ELSEWHERE = {"TMG156", "TMG201"}


def test_each_row_is_held_by_a_fixture_or_a_page() -> None:
    assert len(ROWS) == len(FIXTURES) + len(PAGES) > 15


@pytest.mark.parametrize(("style", "target", "fixture"), FIXTURES, ids=[row[2] for row in FIXTURES])
def test_what_a_fixture_holds_is_converted_for_that_target(style: str, target: str, fixture: str) -> None:
    options = Options(target="cluster") if target == "cluster" else Options()
    done = conversion_of(read(str(goldens.FIXTURES / fixture / "single.py")), options)
    assert done.status == "converted" and done.text is not None
    header = find_header(done.text)
    assert header is not None
    words = {"mirrored": "strategy", "auto": "towers", "ddp": "ddp", "cluster": "cluster"}
    assert words[header.options.target] == target
    named = re.findall(r"`tf\.(?:\w+\.)*(\w+)`|`(slim\.learning\.train)`", style)
    text = (goldens.FIXTURES / fixture / "single.py").read_text()
    assert all((one or other) in text for one, other in named)


@pytest.mark.parametrize(("style", "what", "code"), PAGES, ids=[row[2] for row in PAGES])
def test_what_a_page_holds_is_said_of_scripts_of_that_style(style: str, what: str, code: str) -> None:
    kinds = {"refused": "refusal", "converted": "conversion", "converted with a warning": "warning"}
    said = next(kind for word, kind in sorted(kinds.items(), reverse=True) if what.startswith(word))
    assert RULES[code].kind == said
    scripts = [one for one in STYLES if one.row == style]
    assert scripts or code in ELSEWHERE
    for one in scripts:
        auto, *_, cluster, _ = one.outcomes
        done = one.converted("auto")
        edits = (edit for _, codes in done.trace for edit in codes)
        assert code in (auto, cluster, *(found.code for found in done.diagnostics), *edits)


def test_each_style_is_in_a_row_or_is_a_fixture() -> None:
    rows = {row[0] for row in PAGES}
    assert {one.row for one in STYLES} - {""} <= rows
    assert {one.script for one in STYLES if "\n" not in one.script} <= {row[2] for row in FIXTURES}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("style", STYLES, ids=[one.name for one in STYLES])
@pytest.mark.parametrize("target", TARGETS)
def test_the_outcome_of_a_style_for_a_target(style: Style, target: str) -> None:
    assert style.outcome(target) == style.outcomes[TARGETS.index(target)]


def test_every_refusal_of_a_style_names_line_and_way() -> None:
    for style in STYLES:
        done = style.converted("auto")
        errors = [one for one in done.diagnostics if one.severity == "error"]
        assert all(one.line and one.message and one.hint for one in errors), style.name


MODULES = ("fixtures", "bare", "loops", "mirrored", "ddp", "cluster")
VERSIONS = {"tf1": "1.15", "tf2": "2.21", "torch": "PyTorch 2.13"}


@pytest.fixture(scope="module")
def proven() -> set[tuple[str, str]]:
    """The tests that run TensorFlow or PyTorch: each with the version that it runs."""
    found: set[tuple[str, str]] = set()
    for mark, version in VERSIONS.items():
        files = [f"tests/test_{name}.py" for name in MODULES]
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", mark, *files]
        environment = {**os.environ, "PYTEST_ADDOPTS": ""}  # -v there would list them otherwise
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            older = re.search(r"-(1\.4|1\.12)\]$", line) if mark == "tf1" else None
            found.add((line, older[1] if older else version))
    return found


@pytest.mark.parametrize("row", [row for row in ROWS if "`" in row[-1]], ids=lambda row: str(row[-1]))
def test_each_version_of_a_row_has_its_test(row: list[str], proven: set[tuple[str, str]]) -> None:
    folder, _, name = row[4].strip("` |").rpartition("/")
    module = f"test_{folder or 'fixtures'}.py"
    of_fixture = re.compile(rf"/{module}::\w+(\[|.*\b){name}[-\]]" if folder != "cluster" else rf"/{module}::")
    versions = {version for test, version in proven if of_fixture.search(test)}
    assert {one.partition(" (")[0] for one in row[3].split(", ")} <= versions


def test_a_script_with_pytorch_is_told_of_its_own_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text("import torch\nnet = torch.nn.Linear(2, 1).to('cuda')\n")
    Path("other.py").write_text("import os  # torch\n")
    assert main(["convert", "net.py", "-o", "net_mg.py"]) == 2
    said = capsys.readouterr().err
    assert "TMG201" in said and "uses PyTorch" in said and "torchrun" in said
    assert main(["convert", "other.py", "-o", "other_mg.py"]) == 2
    assert "PyTorch" not in capsys.readouterr().err
    Path("engine.py").write_text("import torch\ndef step(loss):\n    loss.backward()\n")
    Path("main.py").write_text("import torch\nfrom engine import step\nstep(torch.ones(1))\n")
    assert main(["convert", "main.py", "-o", "main_mg.py"]) == 2
    said = capsys.readouterr().err
    assert "main.py:2:1: TMG201 PyTorch takes its gradients in engine.py:3:5, another file" in said
    assert "move step, and what makes its loader and optimizer, into this file" in said
    Path("engine.py").write_text("import torch\nclass Step:\n    def step(self, loss):\n        loss.backward()\n")
    assert main(["convert", "main.py", "-o", "main_mg.py"]) == 2
    said = capsys.readouterr().err
    assert "in engine.py:4:9, another file" in said and "move the loop of Step, and" in said
