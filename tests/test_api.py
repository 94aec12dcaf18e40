"""`import tf_multigpu`: what programs call, in this process; the installed package has tests/test_installed.py."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import converter.verify
import tf_multigpu
from converter.cli.command_line.table import CONVERT, VERIFY
from converter.conversion import Conversion
from converter.options import Options
from converter.source import Source
from converter.source.header import bare
from converter.verify.data import LedgerLine, Report
from tests.goldens import FIXTURES
from tests.scripts import as_written_by

ROOT = Path(__file__).resolve().parent.parent
SINGLE = FIXTURES / "logistic_regression/single.py"
PROJECT = FIXTURES / "projects/modules"


def test_importing_it_costs_nothing() -> None:
    program = "import sys; import tf_multigpu; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert {name for name in modules if name.split(".")[0] in ("tf_multigpu", "converter", "rules")} == {"tf_multigpu"}
    assert not modules & {"libcst", "dataclasses", "ast", "pathlib"}


def test_it_has_the_names_that_it_says() -> None:
    assert all(getattr(tf_multigpu, name) for name in tf_multigpu.__all__)
    assert dir(tf_multigpu) == sorted(tf_multigpu.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'rewrite'"):
        _ = tf_multigpu.rewrite


def test_converting_takes_every_option_that_changes_what_is_written() -> None:
    taken = inspect.signature(tf_multigpu.convert).parameters.keys() - {"script"}
    assert {option.name for option in CONVERT.options if option.panel == "What is written"} <= taken
    assert taken <= {option.name for option in CONVERT.options}


def test_verifying_takes_options_of_the_command() -> None:
    taken = inspect.signature(tf_multigpu.verify).parameters.keys() - {"single", "multi", "args"}
    assert {"gpus", "steps", "batch", "python", "timeout"} <= taken <= {option.name for option in VERIFY.options}


def test_a_script_is_converted_and_not_written(tmp_path: Path) -> None:
    script = tmp_path / "single.py"
    script.write_bytes(SINGLE.read_bytes())
    (tmp_path / "pyproject.toml").write_bytes((SINGLE.parent.parent / "pyproject.toml").read_bytes())
    done = tf_multigpu.convert(script)
    expected = as_written_by("single.py", SINGLE.with_name("multi.py"))
    assert (done.status, done.findings) == ("converted", ())
    assert done.files == (tf_multigpu.File(str(script), expected),)
    assert done.text == expected.decode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pyproject.toml", "single.py"]


def test_a_name_that_no_input_has_is_refused() -> None:
    done = tf_multigpu.convert(SINGLE, shared=["nosuch"])
    assert (done.status, done.files, [finding.code for finding in done.findings]) == ("refused", (), ["TMG022"])


def test_all_files_of_a_project_are_given() -> None:
    done = tf_multigpu.convert(PROJECT / "single/train.py")
    here = {Path(file.path).relative_to(PROJECT / "single"): file for file in done.files}
    changed = {
        path.relative_to(PROJECT / "multi")
        for path in (PROJECT / "multi").rglob("*.py")
        if b"# tf-multigpu" in path.read_bytes()
    }
    assert set(here) == changed and len(changed) > 1
    for name, file in here.items():
        assert file.new == (not (PROJECT / "single" / name).exists())
        theirs = (PROJECT / "multi" / name).read_bytes()
        # A golden's header names the source from where the golden lies.
        assert bare(file.data.decode()) == bare(theirs.decode())


def test_options_reach_the_conversion(tmp_path: Path) -> None:
    done = tf_multigpu.convert(
        SINGLE,
        num_gpus="auto",
        batch="total",
        variables="balanced",
        scale_lr="sqrt",
        gpu_memory=0.5,
        fewer_gpus="allow",
        line_length=90,
    )
    flags = "--num-gpus auto --batch total --variables balanced --scale-lr sqrt --gpu-memory 0.5 --fewer-gpus allow"
    assert done.text and f" with {flags} --line-length 90\n" in done.text


def test_inputs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Options] = []

    def stand_in(source: Source, options: Options, several: bool) -> Conversion:
        asked.append(options)
        return Conversion(source, "unchanged", None, ())

    monkeypatch.setattr("converter.conversion.convert", stand_in)
    tf_multigpu.convert(SINGLE, shared=["keep", "lr"], batch_axis={"X": 1, "Y": 0})
    assert asked == [Options(shared=("keep", "lr"), batch_axes=(("X", 1), ("Y", 0)))]


@pytest.mark.parametrize(
    ("text", "status", "codes"),
    [
        ("import os\n", "unchanged", []),
        ("import tensorflow as tf\n", "refused", ["TMG201"]),
        ("import tensorflow as tf\nx = (1 +\n", "refused", ["TMG005"]),
        ("", "refused", ["TMG003"]),
    ],
)
def test_what_is_not_converted(tmp_path: Path, text: str, status: str, codes: list[str]) -> None:
    script = tmp_path / "x.py"
    script.write_text(text)
    done = tf_multigpu.convert(str(script))
    assert (done.status, done.text, done.files) == (status, None, ())
    assert [finding.code for finding in done.findings] == codes


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    done = tf_multigpu.convert(tmp_path / "gone.py")
    assert (done.status, [finding.code for finding in done.findings]) == ("refused", ["TMG001"])


@pytest.mark.parametrize(
    "option",
    [{"num_gpus": 0}, {"batch": "half"}, {"variables": "tpu"}, {"gpu_memory": 2}, {"batch_axis": {"x": -1}}],
)
def test_an_impossible_option_is_an_error(option: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        tf_multigpu.convert(SINGLE, **option)


def test_a_proof_is_plain_data(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def stand_in(*given: Any) -> Report:
        asked.extend(given)
        ledger = (LedgerLine("same", "loss", "of 3 steps", 1e-7, 1e-5),)
        return Report("failed", "W:0 differs", 4, "total", 3, ledger=ledger, seconds=1.5)

    monkeypatch.setattr(converter.verify, "verify", stand_in)
    done = tf_multigpu.verify("a.py", "b.py", gpus=4, steps=5, args=["--lr", "1"], batch="total", timeout=9)
    single, multi, settings = asked
    assert (single, multi) == (Path("a.py"), Path("b.py"))
    assert (settings.gpus, settings.steps, settings.args) == (4, 5, ("--lr", "1"))
    assert (settings.batch, settings.timeout, settings.memory, settings.python) == ("total", 9, None, None)
    assert dataclasses.asdict(done) == {
        "verdict": "failed",
        "reason": "W:0 differs",
        "gpus": 4,
        "steps": 3,
        "batch": "total",
        "ledger": ({"fate": "same", "what": "loss", "detail": "of 3 steps", "figure": 1e-7},),
        "seconds": 1.5,
    }


def test_a_proof_that_cannot_begin_raises(tmp_path: Path) -> None:
    with pytest.raises(tf_multigpu.VerifyError):
        tf_multigpu.verify(tmp_path / "a.py", tmp_path / "b.py")
