"""The table of styles and targets in docs/targets.md says what the tool does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.options import Options
from converter.rule import all_rules
from converter.source import read
from converter.source.header import find_header
from tests.conversions import conversion_of

ROOT = Path(__file__).resolve().parent.parent
TABLE = (ROOT / "docs/targets.md").read_text().split("| what trains |")[1].split("\n\n")[0]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines()[2:]]
RULES = {rule.code: rule for rule in all_rules()}
FIXTURES = [(row[0], row[1], row[4].strip("` |")) for row in ROWS if "`" in row[-1]]
PAGES = [(row[0], row[2], row[-1].strip("` |")) for row in ROWS if "`" not in row[-1]]


def test_each_row_is_held_by_a_fixture_or_a_page() -> None:
    assert len(ROWS) == len(FIXTURES) + len(PAGES) > 15


@pytest.mark.parametrize(("style", "target", "fixture"), FIXTURES, ids=[row[2] for row in FIXTURES])
def test_what_a_fixture_holds_is_converted_for_that_target(style: str, target: str, fixture: str) -> None:
    options = Options(target="cluster") if target == "cluster" else Options()
    done = conversion_of(read(str(ROOT / "fixtures" / fixture / "single.py")), options)
    assert done.status == "converted" and done.text is not None
    header = find_header(done.text)
    assert header is not None
    words = {"mirrored": "strategy", "auto": "towers", "ddp": "ddp", "cluster": "cluster"}
    assert words[header.options.target] == target
    named = re.findall(r"`tf\.(?:\w+\.)*(\w+)`|`(slim\.learning\.train)`", style)
    text = (ROOT / "fixtures" / fixture / "single.py").read_text()
    assert all((one or other) in text for one, other in named)


@pytest.mark.parametrize(("style", "what", "code"), PAGES, ids=[row[2] for row in PAGES])
def test_what_a_page_holds_is_of_that_kind(style: str, what: str, code: str) -> None:
    kinds = {"refused": "refusal", "converted": "conversion", "converted with a warning": "warning"}
    said = next(kind for word, kind in sorted(kinds.items(), reverse=True) if what.startswith(word))
    assert RULES[code].kind == said


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
    assert "main.py:2:1: TMG201 PyTorch takes its gradients in engine.py" in capsys.readouterr().err
