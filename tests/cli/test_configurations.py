"""`tf-multigpu convert pipeline.config`, in each of its ways, and the other commands on configurations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.standins import Run
from tests.targets.detection.test_pipeline import CONFIG

NAME = "pipeline.config"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path(NAME).write_text(CONFIG)
    return tmp_path


def test_into_a_file(folder: Path, run: Run) -> None:
    done = run("convert", NAME, "--num-gpus", "4", "-o", "four.config")
    assert done.code == 0 and "batch_size: 96" in Path("four.config").read_text()
    assert "    train:         CUDA_VISIBLE_DEVICES=0,1,2,3 python object_detection/legacy/train.py" in done.err
    assert "--pipeline_config_path=four.config" in done.err and "--ps_tasks" in done.err
    assert "tf-multigpu verify" not in done.err
    assert Path(NAME).read_text() == CONFIG


def test_in_place_and_once_more(folder: Path, run: Run) -> None:
    assert run("convert", "--in-place", NAME).code == 0
    text = Path(NAME).read_text()
    assert text.endswith(CONFIG.replace("batch_size: 24", "batch_size: 48"))
    assert run("convert", "--in-place", NAME).code == 0
    assert Path(NAME).read_text() == text
    other = run("convert", "--in-place", NAME, "--num-gpus", "4")
    assert other.code == 2 and "TMG021" in other.err


def test_check(folder: Path, run: Run) -> None:
    assert run("convert", "--check", NAME).code == 1
    run("convert", NAME, "-o", "two.config")
    assert run("convert", "--check", "two.config").code == 0
    Path(NAME).write_text(CONFIG.replace("24", "16"))
    stale = run("convert", "--check", "two.config")
    assert stale.code == 1 and "TMG011 not up to date: pipeline.config has changed" in stale.err
    run("convert", NAME, "-o", "two.config")
    Path("two.config").write_text(Path("two.config").read_text().replace("200000", "100"))
    assert "edited by hand" in run("convert", "--check", "two.config").err


def test_diff_and_standard_output(folder: Path, run: Run) -> None:
    done = run("convert", NAME, "--diff")
    assert done.code == 1 and b"\n-  batch_size: 24  # for one GPU\n+  batch_size: 48  # for one GPU\n" in done.out
    assert run("convert", NAME).out.endswith(CONFIG.replace("batch_size: 24", "batch_size: 48").encode())


def test_formats(folder: Path, run: Run) -> None:
    said = json.loads(run("convert", NAME, "-o", "two.config", "--output-format", "json").out)
    [file] = said["files"]
    assert [command["purpose"] for command in file["commands"]] == ["train", "evaluate", "export"]
    Path(NAME).write_text(CONFIG.replace("24", "x"))
    annotated = run("convert", "--check", NAME, "--output-format", "github").out.decode()
    assert annotated.startswith("::error file=pipeline.config,line=4,col=15") and "TMG268" in annotated


def test_a_refused_one_is_not_written(folder: Path, run: Run) -> None:
    done = run("convert", NAME, "-o", "five.config", "--num-gpus", "5", "--batch", "total")
    assert done.code == 2 and f"{NAME}:4:15: TMG268" in done.err
    assert not Path("five.config").exists()


@pytest.mark.parametrize("flag", ["--verify", "--trace"])
def test_nothing_of_it_is_run(folder: Path, run: Run, flag: str) -> None:
    done = run("convert", NAME, "-o", "two.config", flag)
    assert done.code == 2 and f"TMG271 {flag} runs a script" in done.err


@pytest.mark.parametrize("command", [("verify", NAME, NAME), ("profile", NAME, NAME)])
def test_other_commands_take_scripts_alone(folder: Path, run: Run, command: tuple[str, ...]) -> None:
    done = run(*command)
    assert done.code == 2 and "is a configuration of the Object Detection API" in done.err


def test_a_graph_in_the_same_format_is_no_configuration(folder: Path, run: Run) -> None:
    Path("graph.pbtxt").write_text('node {\n  name: "x"\n}\n')
    done = run("convert", "graph.pbtxt", "-o", "two.pbtxt")
    assert done.code == 2 and "TMG201" in done.err
