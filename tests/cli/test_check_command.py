"""`convert --check`: whether converted files still are what their sources give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from converter.conversion import Conversion
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.source import Source
from tests.cli.standins import BOTH_PYTHONS, NO_TRAINING, PLAIN, TRAINING, Engine, Run, files, put


@pytest.fixture
def converted(project: Path, run: Run, engine: Engine) -> Path:
    """`train.py`, and `multi.py` made from it with options of its own."""
    put("train.py")
    run("convert", "train.py", "-o", "multi.py", "--num-gpus", "4", "--shared", "x")
    engine.asked.clear()
    return project


def test_what_is_up_to_date(converted: Path, run: Run, engine: Engine) -> None:
    done = run("convert", "--check", "multi.py")
    assert (done.code, done.out, done.err) == (0, b"", "1 up to date\n")
    assert engine.asked == [("train.py", Options(4, shared=("x",)))]


def test_options_that_are_given_are_held_against_the_header(converted: Path, run: Run) -> None:
    assert run("convert", "--check", "multi.py", "--num-gpus", "4", "--shared", "x", "--batch", "per-gpu").code == 0
    done = run("convert", "--check", "multi.py", "--num-gpus", "8", "--shared", "y")
    assert done.code == 1
    assert "--num-gpus 8 is asked for, and it has --num-gpus 4; " in done.err
    assert "--shared y is asked for, and it has --shared x" in done.err
    assert "convert again: tf-multigpu convert train.py -o multi.py --num-gpus 8 --batch per-gpu --shared y" in done.err


def test_a_source_that_changed(converted: Path, run: Run, engine: Engine) -> None:
    put("train.py", TRAINING + b"# more\n")
    done = run("convert", "--check", "multi.py")
    assert (done.code, done.out) == (1, b"")
    assert "multi.py:1:1: TMG011 not up to date: train.py has changed" in done.err
    assert "tf-multigpu convert train.py -o multi.py --num-gpus 4 --batch per-gpu --shared x" in done.err
    assert engine.asked == []


@pytest.mark.parametrize("edit", [b"\n", b"\n\n", b" "])
def test_a_converted_file_that_a_formatter_changed(converted: Path, run: Run, edit: bytes) -> None:
    put("multi.py", Path("multi.py").read_bytes() + edit)
    assert run("convert", "--check", "multi.py").code == 0


@pytest.mark.parametrize("edit", [b"# by hand\n", b"print(1)\n"])
def test_a_converted_file_that_was_edited(converted: Path, run: Run, edit: bytes) -> None:
    put("multi.py", Path("multi.py").read_bytes() + edit)
    done = run("convert", "--check", "multi.py")
    assert done.code == 1
    assert "edited by hand (converting again needs --force" in done.err


def test_another_version_that_wrote_the_same(converted: Path, run: Run) -> None:
    put("multi.py", Path("multi.py").read_bytes().replace(b"# tf-multigpu 0.2.0:", b"# tf-multigpu 0.0.9:"))
    assert run("convert", "--check", "multi.py").code == 0


def test_another_version_that_wrote_something_else(converted: Path, run: Run, engine: Engine) -> None:
    put("multi.py", Path("multi.py").read_bytes().replace(b"# tf-multigpu 0.2.0:", b"# tf-multigpu 0.0.9:"))
    engine.line = "more_towers()"
    done = run("convert", "--check", "multi.py")
    assert done.code == 1
    assert "or version 0.0.9 wrote it differently from 0.2.0" in done.err


def test_a_source_that_is_not_converted_any_more(converted: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Source, options: Options, several: bool, again: bool) -> Conversion:
        return Conversion(source, "refused", None, (Diagnostic("TMG202", source.path, 2, 1, "no batch"),))

    monkeypatch.setattr("converter.conversion.convert", refuse)
    done = run("convert", "--check", "multi.py")
    assert done.code == 1
    assert "train.py is not converted any more by this version" in done.err
    assert "train.py:2:1: TMG202 no batch" in done.err


def test_a_header_that_cannot_be_read(converted: Path, run: Run) -> None:
    put("multi.py", Path("multi.py").read_bytes().replace(b"--num-gpus 4", b"--new-flag 4"))
    done = run("convert", "--check", "multi.py")
    assert done.code == 2
    assert "multi.py:1:1: TMG010 the header cannot be read: unknown option --new-flag" in done.err


def test_a_source_that_cannot_be_read_any_more(converted: Path, run: Run) -> None:
    put("train.py", b"import tensorflow\n#\xff")
    done = run("convert", "--check", "multi.py")
    assert done.code == 2 and "train.py:2:2: TMG002" in done.err


def test_a_source_that_is_gone(converted: Path, run: Run) -> None:
    Path("train.py").unlink()
    done = run("convert", "--check", "multi.py")
    assert done.code == 0 and "TMG010 nothing to compare with: its source train.py is gone" in done.err
    assert run("convert", "--check", "multi.py", "--quiet").err == ""


def test_what_was_converted_in_place(project: Path, run: Run) -> None:
    put("train.py")
    run("convert", "--in-place", "train.py")
    put("train.py", Path("train.py").read_bytes() + b"# by hand\n")
    assert run("convert", "--check", "train.py").code == 0
    assert "was converted in place" in run("convert", "--check", "train.py", "--verbose").err


def test_what_came_from_standard_input(project: Path, run: Run) -> None:
    run("convert", "-", "-o", "multi.py", stdin=TRAINING)
    assert run("convert", "--check", "multi.py").code == 0


@pytest.mark.parametrize(("data", "code"), [(TRAINING, 1), (PLAIN, 0), (b"", 0), (NO_TRAINING, 2), (BOTH_PYTHONS, 2)])
def test_a_script_that_is_named_and_not_converted(project: Path, run: Run, data: bytes, code: int) -> None:
    put("train.py", data)
    done = run("convert", "--check", "train.py")
    assert done.code == code
    assert ("train.py: would change" in done.err) == (code == 1)
    assert Path("train.py").read_bytes() == data


def test_a_folder_is_asked_for_its_converted_files_alone(converted: Path, run: Run, engine: Engine) -> None:
    for name, data in {
        "a.py": PLAIN,
        "b.py": NO_TRAINING,
        "c.py": BOTH_PYTHONS,
        "d.py": b"# tensorflow \xff",
    }.items():
        put(f"sub/{name}", data)
    assert run("convert", "--check", ".").code == 0
    assert len(engine.asked) == 1
    put("train.py", TRAINING + b"# more\n")
    done = run("convert", "--check", ".")
    assert done.code == 1
    assert done.err.endswith("5 unchanged, 1 stale\n")


def test_folders_of_converted_files(project: Path, run: Run) -> None:
    put("src/nets/train.py")
    run("convert", "src", "-o", "out")
    assert run("convert", "--check", "out").code == 0
    put("src/nets/train.py", b"\n" + TRAINING)
    assert "src/nets/train.py has changed" in run("convert", "--check", "out").err


@pytest.mark.parametrize(
    ("output", "change", "code"),
    [
        ("multi.py", None, 0),
        ("multi.py", "train.py", 1),
        ("multi.py", "multi.py", 2),
        ("gone.py", None, 1),
    ],
)
def test_with_an_output_what_would_be_written_is_compared(
    project: Path, run: Run, output: str, change: str | None, code: int
) -> None:
    put("train.py")
    run("convert", "train.py", "-o", "multi.py")
    if change:
        put(change, Path(change).read_bytes() + b"# more\n")
    before = {name: Path(name).read_bytes() for name in files(project)}
    done = run("convert", "--check", "train.py", "-o", output)
    assert done.code == code
    assert (f"train.py: would change, for {output}" in done.err) == (code == 1)
    assert ("TMG020 the output multi.py was edited by hand" in done.err) == (code == 2)
    assert {name: Path(name).read_bytes() for name in files(project)} == before


def test_with_an_output_folder_copies_are_compared_too(project: Path, run: Run) -> None:
    put("src/train.py")
    put("src/data.py", PLAIN)
    arguments = ("convert", "src", "-o", "out")
    assert run(*arguments, "--check").code == 1
    assert not Path("out").exists()
    run(*arguments)
    assert run(*arguments, "--check").code == 0
    put("src/data.py", b"import sys\n")
    assert "src/data.py: would change, for out/data.py" in run(*arguments, "--check").err


def test_check_as_json(converted: Path, run: Run) -> None:
    put("train.py", b"\n" + TRAINING)
    done = run("convert", "--check", "multi.py", "--json")
    report = json.loads(done.out)
    assert (done.code, report["exit_code"], report["files"][0]["outcome"]) == (1, 1, "stale")
