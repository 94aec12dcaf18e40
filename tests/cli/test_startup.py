"""What starting costs: the modules that are imported, and the quick way out."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from converter.cli import app
from converter.cli.command_line.shortcut import nothing_to_do
from tests.cli.standins import NO_TRAINING, PLAIN, Engine, Run, files, put

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = "import sys; from tf_multigpu.__main__ import main; sys.exit(main())"
HEAVY = {"tensorflow", "numpy", "black", "rich", "libcst.matchers", "libcst.codemod", "yaml"}


def imported(*arguments: str) -> set[str]:
    """The modules that a run of the program imports."""
    command = [sys.executable, "-X", "importtime", "-c", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return {line.rsplit("|", 1)[1].strip() for line in lines}


def quick(line: str) -> bool:
    """Whether a command line takes the quick way out."""
    return nothing_to_do(line.split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put("plain.py", PLAIN)
    put("empty.py", b"")
    put("sub/plain.py", PLAIN)
    put("net.py", NO_TRAINING)
    return tmp_path


@pytest.mark.parametrize("arguments", [("--in-place", "plain.py"), ("--check", "sub"), ("--in-place", "sub", "-q")])
def test_a_file_without_tensorflow_costs_nothing(folder: Path, arguments: tuple[str, ...]) -> None:
    modules = imported("convert", *arguments)
    assert "converter.cli.command_line.shortcut" in modules
    assert not modules & (HEAVY | {"typer", "pydantic", "libcst", "ast", "dataclasses", "converter.source.text"})


@pytest.mark.parametrize(
    "arguments",
    [
        ("plain.py",),
        ("--in-place", "-v", "plain.py"),
        ("plain.py", "-o", "out.py"),
        ("sub", "-o", "out/"),
        ("--diff", "sub"),
        ("--check", "sub", "-o", "out/"),
        ("-",),
    ],
)
def test_nor_does_the_long_way_import_anything_heavy(folder: Path, arguments: tuple[str, ...]) -> None:
    modules = imported("convert", *arguments)
    assert "converter.cli.files.convert_files" in modules
    assert not modules & (HEAVY | {"libcst", "converter.conversion"})
    assert not modules & {"multiprocessing", "pathspec", "converter.plan"}


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("convert", "--help"), ("verify", "-h"), ()])
def test_help_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert not imported(*arguments) & (HEAVY | {"pydantic", "libcst", "converter.cli.convert"})


def test_a_run_that_needs_one_process_does_not_import_what_several_need(folder: Path) -> None:
    assert "multiprocessing" not in imported("convert", "sub", "net.py", "-o", "out/")


def test_nothing_is_left_to_the_collector_when_the_process_ends() -> None:
    program = "from converter.cli.app import main, gc; main(); print(gc.get_freeze_count() > 1000, gc.isenabled())"
    done = subprocess.run([sys.executable, "-c", program, "--version"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "True True"


def test_main_called_by_a_program_leaves_its_objects_to_its_collector(run: Run) -> None:
    before = gc.get_freeze_count()
    assert run("--version").code == 0
    assert gc.get_freeze_count() == before


def test_converting_imports_nothing_that_it_does_not_need(folder: Path) -> None:
    put("train.py", (ROOT / "fixtures/logistic_regression/single.py").read_bytes())
    for script, needed in (("net.py", "converter.conversion"), ("train.py", "libcst")):
        modules = imported("convert", script)
        assert needed in modules
        assert not modules & HEAVY
        assert "multiprocessing" not in modules


@pytest.mark.parametrize("arguments", [("--version",), ("rules",), ("explain", "TMG001")])
def test_small_commands_import_nothing_heavy(arguments: tuple[str, ...]) -> None:
    modules = imported(*arguments)
    assert not modules & (HEAVY | {"libcst", "converter.cli.convert", "converter.cli.verify"})


@pytest.mark.parametrize(
    "line",
    [
        "convert --in-place plain.py",
        "convert plain.py --in-place",
        "convert --check plain.py sub empty.py",
        "convert --in-place -q --num-gpus 4 --batch total --variables gpu:0 --scale-lr sqrt plain.py",
        "convert --in-place --skip-non-training --num-gpus auto plain.py",
        "convert --in-place --num-gpus=2 plain.py",
    ],
)
def test_what_the_quick_way_takes(folder: Path, line: str) -> None:
    assert quick(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "convert",
        "convert --in-place",
        "convert plain.py",
        "convert --diff plain.py",
        "convert --in-place net.py",
        "convert --in-place plain.py net.py",
        "convert --in-place .",
        "convert --in-place gone.py",
        "convert --in-place gone",
        "convert --in-place --check plain.py",
        "convert --in-place --json plain.py",
        "convert --in-place --verbose plain.py",
        "convert --in-place -o out plain.py",
        "convert --in-place --num-gpus plain.py",
        "convert --in-place --num-gpus 0 plain.py",
        "convert --in-place --num-gpus 2x plain.py",
        "convert --in-place --batch half plain.py",
        "convert --in-place --batch",
        "convert --in-place -",
        "convert --in-place -j4 plain.py",
        "convert --in-place -- plain.py",
        "convert --in-place=yes plain.py",
        "convert --in-place --batch= plain.py",
        "convert --help --in-place plain.py",
        "verify --in-place plain.py",
        "rules --check plain.py",
    ],
)
def test_what_the_quick_way_leaves_to_the_long_one(folder: Path, line: str) -> None:
    assert not quick(line)


WORDS = st.lists(
    st.sampled_from(
        [
            *(
                "--in-place",
                "--check",
                "-q",
                "--quiet",
                "--skip-non-training",
                "--num-gpus",
                "2",
                "auto",
                "0",
            ),
            *("--batch", "total", "half", "--variables", "cpu", "--scale-lr", "none"),
            *("plain.py", "sub", "empty.py", "gone.py", "net.py"),
        ]
    ),
    max_size=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WORDS)
@example(["--in-place", "plain.py"])
@example(["--check", "plain.py", "sub"])
def test_both_ways_give_the_same(folder: Path, run: Run, words: list[str]) -> None:
    if quick(" ".join(["convert", *words])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(app, "nothing_to_do", lambda values: False)
            done = run("convert", *words)
        assert (done.code, done.out, done.err) == (0, b"", "")
        assert files(folder) == ["empty.py", "net.py", "plain.py", "sub/plain.py"]


def test_garbage_is_collected_between_files(
    project: Path, run: Run, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr("converter.cli.files.convert_files.gc.get_count", lambda: (10**9, 0, 0))
    monkeypatch.setattr("converter.cli.files.convert_files.gc.collect", lambda: seen.append(gc.isenabled()))
    put("a.py")
    put("b.py")
    assert run("convert", "a.py", "b.py", "-o", "out/").code == 0
    assert seen == [False, False] and gc.isenabled()
