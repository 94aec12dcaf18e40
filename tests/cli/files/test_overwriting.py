"""Nothing of the user's is written over: targets, files that change meanwhile, killed runs, left-over files."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from converter.cli.files import journal
from converter.cli.files.journal import JOURNAL
from converter.diagnostics import Refusal
from converter.source import write, writing
from converter.source.header import is_as_written
from tests.cli.standins import NO_TRAINING, TRAINING, Run, files, put

OWN = b"print('mine')\n"


@pytest.mark.parametrize("data", [OWN, b"\xff\xfe\x00", b"import tensorflow\n", TRAINING])
def test_a_file_of_somebody_else_is_not_written_over(project: Path, run: Run, data: bytes) -> None:
    put("train.py")
    put("multi.py", data)
    done = run("convert", "train.py", "-o", "multi.py")
    assert (done.code, "TMG020 the output multi.py is there already" in done.err) == (2, True)
    assert Path("multi.py").read_bytes() == data
    assert run("convert", "train.py", "-o", "multi.py", "--force").code == 0
    assert Path("multi.py").read_bytes().endswith(b"towers()")


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_a_file_with_nothing_in_it_is_nobodys(project: Path, run: Run, data: bytes) -> None:
    put("train.py")
    put("multi.py", data)
    assert run("convert", "train.py", "-o", "multi.py").code == 0


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d + b"# mine\n",
        lambda d: d.replace(b"tensorflow", b"tensorflow "),
        lambda d: d.replace(b"text ", b"text 0"),
    ],
)
def test_a_conversion_that_was_edited_is_not_written_over(
    project: Path, run: Run, edit: Callable[[bytes], bytes]
) -> None:
    put("train.py")
    run("convert", "train.py", "-o", "multi.py")
    held = put("multi.py", edit(Path("multi.py").read_bytes())).read_bytes()
    put("train.py", TRAINING + b"# more\n")
    done = run("convert", "train.py", "-o", "multi.py")
    assert (done.code, "TMG020" in done.err, Path("multi.py").read_bytes()) == (2, True, held)


def test_a_conversion_as_it_was_written_is_written_over(project: Path, run: Run) -> None:
    put("train.py")
    run("convert", "train.py", "-o", "multi.py")
    # version control may have given it other line ends
    put("multi.py", Path("multi.py").read_bytes().replace(b"\n", b"\r\n"))
    put("train.py", TRAINING + b"# more\n")
    assert run("convert", "train.py", "-o", "multi.py", "--num-gpus", "3").code == 0
    assert b"# more" in Path("multi.py").read_bytes()


def test_a_conversion_of_an_earlier_version_may_have_been_edited(project: Path, run: Run) -> None:
    put("train.py")
    run("convert", "train.py", "-o", "multi.py")
    lines = Path("multi.py").read_text().splitlines(keepends=True)
    assert is_as_written("".join(lines)) is True
    put("multi.py", "".join([lines[0], *lines[2:]]).encode())
    assert is_as_written(Path("multi.py").read_text()) is None
    assert run("convert", "train.py", "-o", "multi.py", "--num-gpus", "3").code == 2


def test_files_of_an_output_folder(project: Path, run: Run) -> None:
    put("src/train.py")
    put("src/data.csv", b"1\n")
    put("out/data.csv", b"mine\n")
    done = run("convert", "src", "-o", "out")
    assert (done.code, Path("out/data.csv").read_bytes()) == (2, b"mine\n")
    assert "out/data.csv: TMG020" in done.err
    assert Path("out/train.py").exists()
    Path("out/data.csv").unlink()
    assert run("convert", "src", "-o", "out").code == 0
    put("src/data.csv", b"2\n")  # a copy that nobody touched follows
    assert run("convert", "src", "-o", "out").code == 0
    assert Path("out/data.csv").read_bytes() == b"2\n"
    put("out/data.csv", b"mine\n")
    assert run("convert", "src", "-o", "out").code == 2
    assert run("convert", "src", "-o", "out", "--force").code == 0


def test_the_record_is_one_that_sha256sum_checks(project: Path, run: Run) -> None:
    put("src/train.py")
    put("src/größe x.csv", b"1\n")
    run("convert", "src", "-o", "out")
    done = subprocess.run(["sha256sum", "-c", ".tf-multigpu.sha256"], cwd="out", capture_output=True, text=True)
    assert (done.returncode, done.stdout.count("OK")) == (0, 2)


def test_a_script_that_changes_while_it_is_converted_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_bytes(b"new")
    with pytest.raises(Refusal) as refusal:
        write(str(path), b"converted", before=b"old")
    assert refusal.value.diagnostic.code == "TMG024"
    assert (path.read_bytes(), files(tmp_path)) == (b"new", ["train.py"])
    write(str(path), b"converted", before=b"new")
    assert path.read_bytes() == b"converted"


@pytest.mark.parametrize(
    ("number", "hint"),
    [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "quota"), (errno.EROFS, "read-only"), (errno.EIO, "check")],
)
def test_what_the_system_refuses_has_its_own_hint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    (tmp_path / "train.py").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Refusal) as refusal:
        write(str(tmp_path / "train.py"), b"new")
    assert hint in refusal.value.diagnostic.hint
    assert (files(tmp_path), (tmp_path / "train.py").read_bytes()) == (["train.py"], b"old")


def test_files_that_killed_runs_left_are_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    kept = {f".tf-multigpu-{os.getpid()}-abcdefgh.tmp", ".tf-multigpu-x-abcdefgh.tmp", "tf_multigpu_2019_notes123.py"}
    kept |= {f"tf_multigpu_{dead.pid}_abcdefgi.py", f".tf-multigpu-{dead.pid}-abc.tmp"}
    gone = {f".tf-multigpu-{dead.pid}-abcdefgh.tmp", f"tf_multigpu_{dead.pid}_abcdefgh.py"}
    for name in kept | gone:
        (tmp_path / name).write_bytes(b"# tf-multigpu 0.1.0: converted\n" if name in gone else b"mine\n")
    monkeypatch.setattr(writing, "_cleared", set())
    write(str(tmp_path / "out.py"), b"new")
    assert {path.name for path in tmp_path.iterdir()} == kept | {"out.py"}


def test_other_names_of_a_file_are_named(project: Path, run: Run) -> None:
    os.link(put("train.py"), "same.py")
    done = run("convert", "--in-place", "train.py")
    assert (done.code, "train.py: TMG025 train.py has 1 more name (hard links)" in done.err) == (0, True)
    assert Path("same.py").read_bytes() == TRAINING
    assert "TMG025" not in run("convert", "train.py", "-o", "multi.py").err


@pytest.mark.parametrize("edited", ["model.py", "train.py", "data.csv", "tower_helpers.py"])
def test_an_edited_file_leaves_all_of_its_project_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], edited: str
) -> None:
    """With the real engine: an output folder never holds one file converted and another as in the source."""
    from converter.cli.app import main
    from tests.test_projects import MODEL, TRAIN

    monkeypatch.chdir(tmp_path)
    for name, text in {"train.py": TRAIN, "model.py": MODEL, "data.csv": "1\n", "other.py": "import os\n"}.items():
        put(f"p/{name}", text.encode())
    convert = ["convert", "p", "-o", "out", "--jobs", "1"]
    assert main(convert) == 0
    put(f"out/{edited}", (own := Path("out", edited).read_bytes() + b"# mine\n"))
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    capsys.readouterr()
    put("p/other.py", b"import sys\n")
    assert main([*convert, "--num-gpus", "3"]) == 2
    said, after = capsys.readouterr().err, {path.name: path.read_bytes() for path in Path("out").iterdir()}
    assert said.startswith(f"out/{edited}: TMG020 ") or edited == "data.csv"
    assert after[edited] == own and after["other.py"] == b"import sys\n"
    if edited == "data.csv":  # the script is another matter
        assert b"--num-gpus 3" in after["train.py"]
        return
    with_script = "; p/train.py would change with it, and is not written" in said
    assert with_script == (edited != "train.py")
    changed = {name for name, data in after.items() if before[name] != data}
    assert changed == {"other.py", ".tf-multigpu.sha256"}
    assert main([*convert, "--num-gpus", "3", "--force"]) == 0
    assert b"--num-gpus 3" in Path("out/train.py").read_bytes() and b"mine" not in Path("out", edited).read_bytes()


# --- Runs in place that were killed ------------------------------------------------------------------


@pytest.fixture
def killed(project: Path) -> Path:
    """A project of which one of two files was written when the run was killed."""
    put("p/train.py", b"import tensorflow  # old script\n")
    put("p/model.py", b"old model\n")
    changes = [
        journal.FileChange("p/model.py", b"old model\n", b"new model\xff\n"),
        journal.FileChange("p/train.py", b"import tensorflow  # old script\n", b"new script\n"),
        journal.FileChange("p/tower_helpers.py", None, b"helpers\n"),
    ]
    path = Path(journal.begin("p/train.py", changes))
    held = json.loads(path.read_text())
    dead = subprocess.Popen(["true"])
    dead.wait()
    path.write_text(json.dumps({**held, "process": dead.pid}))
    put("p/model.py", b"new model\xff\n")
    return project / "p"


def test_the_next_run_in_place_finishes_it(killed: Path, run: Run) -> None:
    done = run("convert", "--in-place", "p/train.py")
    assert "p/train.py: converted" in done.err and "p/tower_helpers.py: converted" in done.err
    assert files(killed) == ["model.py", "tower_helpers.py", "train.py"]
    assert [(killed / name).read_bytes() for name in files(killed)] == [
        b"new model\xff\n",
        b"helpers\n",
        b"new script\n",
    ]


@pytest.mark.parametrize("mode", [("-o", "out.py"), ("--check",), ("--diff",), (), ("--check", "--in-place")])
def test_other_runs_say_that_it_is_half_done(killed: Path, run: Run, mode: tuple[str, ...]) -> None:
    put("p/train.py", TRAINING)
    done = run("convert", "p/train.py", *mode)
    assert done.code == 2 and "TMG023" in done.err and "tf-multigpu convert --in-place p/train.py" in done.err
    assert (killed / JOURNAL).exists() and not Path("out.py").exists()


def test_what_was_edited_since_is_not_written_over(killed: Path, run: Run) -> None:
    put("p/train.py", b"import tensorflow  # edited\n")
    done = run("convert", "--in-place", "p/train.py")
    assert (done.code, "p/train.py was edited since" in done.err) == (2, True)
    assert (killed / "train.py").read_bytes() == b"import tensorflow  # edited\n" and (killed / JOURNAL).exists()


def test_a_run_that_is_still_at_work_is_left_alone(killed: Path, run: Run) -> None:
    path = killed / JOURNAL
    path.write_text(json.dumps({**json.loads(path.read_text()), "process": os.getppid()}))
    assert "still at work" in run("convert", "--in-place", "p/train.py").err
    assert (killed / "train.py").read_bytes() == b"import tensorflow  # old script\n"


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"process": "x"}'])
def test_a_journal_that_cannot_be_read(killed: Path, run: Run, text: str) -> None:
    (killed / JOURNAL).write_text(text)
    assert "TMG023" in run("convert", "--in-place", "p/train.py").err


def test_a_project_killed_between_two_files_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the real engine: the process ends after the first file."""
    from tests.test_projects import MODEL, TRAIN

    put(str(tmp_path / "train.py"), TRAIN.encode())
    put(str(tmp_path / "model.py"), MODEL.encode())
    program = (
        "import os, sys\n"
        "from converter.cli.files import delivery\n"
        "from converter.cli.app import main\n"
        "real, seen = delivery.write, []\n"
        "def write(*given, **named):\n"
        "    if len(seen) == 1: os._exit(9)\n"
        "    seen.append(given)\n"
        "    real(*given, **named)\n"
        "delivery.write = write\n"
        "main(['convert', '--in-place', 'train.py'])\n"
    )
    import sys

    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True)
    assert done.returncode == 9 and (tmp_path / JOURNAL).exists()
    assert (tmp_path / "train.py").read_text() == TRAIN
    from converter.cli.app import main

    monkeypatch.chdir(tmp_path)
    assert main(["convert", "--in-place", "train.py"]) == 0
    said = capsys.readouterr().err
    assert said.count("train.py: ") == 1 and "train.py: converted\n" in said and "unchanged" not in said
    assert main(["convert", "--in-place", "train.py"]) == 0
    assert "train.py: unchanged\n" in capsys.readouterr().err
    killed = {path.name: path.read_bytes() for path in tmp_path.glob("*.py")}
    put("b/train.py", TRAIN.encode())
    put("b/model.py", MODEL.encode())
    monkeypatch.chdir(tmp_path / "b")
    assert main(["convert", "--in-place", "train.py"]) == 0
    assert killed == {path.name: path.read_bytes() for path in Path().glob("*.py")}


def test_a_killed_run_elsewhere_stands_in_nobodys_way(killed: Path, run: Run) -> None:
    put("q/model.py", NO_TRAINING)
    put("q/train.py")
    assert run("convert", "--in-place", "q/train.py").code == 0
