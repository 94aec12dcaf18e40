"""Reading the number of towers out of a converted script, and setting it in the copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.verify.processes.workspace import MARKER, WORK, ConversionHeader, copy_folder, read_towers, set_gpus

HEADER = "# tf-multigpu 0.1.0: train.py sha256:0123 --num-gpus 4 --batch total\n"


@pytest.mark.parametrize(
    ("text", "towers"),
    [
        (MARKER + "\nnum_gpus = 2\n", ConversionHeader(2, None, "constant")),
        (MARKER + "\nNUM_GPUS = 4  # towers\n", ConversionHeader(4, None, "constant")),
        (MARKER + "\n_mg_num_gpus = 3\r\n", ConversionHeader(3, None, "constant")),
        (HEADER + MARKER + "\nnum_gpus = 2\n", ConversionHeader(2, "total", "constant")),
        ("num_gpus = 2\n" + MARKER + "\n", ConversionHeader(None, None, "environment")),
        (MARKER + "\nnum_gpus = count_gpus()\n", ConversionHeader(None, None, "environment")),
        (HEADER, ConversionHeader(4, "total", "environment")),
        (HEADER.replace("\n", " --loss global\n"), ConversionHeader(4, "total", "environment", loss="global")),
        ("parser.add_argument('--num_gpus', type=int, default=2)\n", ConversionHeader(2, None, "flag")),
        ("flags.DEFINE_integer('num_gpus', 8, 'towers')\n", ConversionHeader(8, None, "flag")),
        (HEADER.replace("total", "per-gpu") + "x = 1\n", ConversionHeader(4, "per-gpu", "environment")),
        ("print('nothing')\n", ConversionHeader(None, None, "environment")),
    ],
)
def test_read_towers(tmp_path: Path, text: str, towers: ConversionHeader) -> None:
    script = tmp_path / "train.py"
    script.write_bytes(text.encode())
    assert read_towers(script) == towers


def test_the_constant_is_the_only_change(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    before = b"num_gpus = 7\n" + MARKER.encode() + b"\r\nNUM_GPUS = 2  # num_gpus = 2\r\n\xff\nnum_gpus = 2\n"
    script.write_bytes(before)
    assert set_gpus(script, 3, ("--epochs=1",), "constant") == ("--epochs=1",)
    assert script.read_bytes() == before.replace(b"NUM_GPUS = 2", b"NUM_GPUS = 3")


def test_the_constant_of_a_shared_helper_module(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("from towers import num_gpus\n")
    (tmp_path / "towers.py").write_text(MARKER + "\nnum_gpus = 2\n")
    assert read_towers(tmp_path / "train.py") == ConversionHeader(2, None, "constant")
    set_gpus(tmp_path / "train.py", 5, (), "constant")
    assert (tmp_path / "towers.py").read_text() == MARKER + "\nnum_gpus = 5\n"


def test_other_scripts_of_the_project_go_on_with_one_gpu(tmp_path: Path) -> None:
    helpers = f"{MARKER}\nnum_gpus = 1  # the script that trains on several GPUs sets it\n"
    (tmp_path / "tower_helpers.py").write_text(helpers)
    script = tmp_path / "train.py"
    script.write_text(f"import tower_helpers\n{MARKER}\nif __name__ == '__main__':\n    tower_helpers.num_gpus = 2\n")
    assert read_towers(script) == ConversionHeader(2, None, "constant")
    set_gpus(script, 5, (), "constant")
    assert (tmp_path / "tower_helpers.py").read_text() == helpers
    assert script.read_text().endswith("\n    tower_helpers.num_gpus = 5\n")


def test_modes_that_train_nothing_keep_their_one_tower(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    mode = "else:\n    num_gpus = 1  # nothing trains here: one tower takes the script's batches\n"
    script.write_text(f"{MARKER}\nnum_gpus = 2\nif train:\n    learn()\n{mode}")
    assert read_towers(script) == ConversionHeader(2, None, "constant")
    set_gpus(script, 5, (), "constant")
    assert script.read_text() == f"{MARKER}\nnum_gpus = 5\nif train:\n    learn()\n{mode}"
    script.write_text(f"parser.add_argument('--num_gpus', default=2)\n{MARKER}\nif train:\n    learn()\n{mode}")
    assert read_towers(script) == ConversionHeader(2, None, "flag")


def test_a_flag_is_given_unless_the_user_gave_it(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("parser.add_argument('--num_gpus', default=2)\n")
    assert set_gpus(script, 3, ("--lr", "1"), "flag") == ("--lr", "1", "--num_gpus=3")
    assert set_gpus(script, 3, ("--num_gpus=4",), "flag") == ("--num_gpus=4",)


def test_copies_leave_out_what_is_not_the_scripts(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for folder in (".git", "venv", "data/deep"):
        (source / folder).mkdir(parents=True)
    (source / ".git" / "config").write_text("")
    (source / "venv" / "pyvenv.cfg").write_text("")
    (source / "data" / "deep" / "x.txt").write_text("1")
    (source / "train.py").write_text("pass\n")
    with (source / "huge.bin").open("wb") as huge:
        huge.truncate(300 * 2**20)
    script, notes = copy_folder(source / "train.py", tmp_path / "copy")
    copied = sorted(path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*"))
    assert copied == ["data", "data/deep", "data/deep/x.txt", "train.py"]
    assert script.read_text() == "pass\n"
    assert notes == ["huge.bin (300 MB) was not copied"]


def test_a_script_beside_the_folders_that_verify_works_in(tmp_path: Path) -> None:
    """Their copies would hold copies of themselves, without end."""
    work = tmp_path / f"{WORK}abc" / "converted"
    (tmp_path / f"{WORK}of_another_run" / "original").mkdir(parents=True)
    (tmp_path / "train.py").write_text("pass\n")
    copy_folder(tmp_path / "train.py", work)
    assert [path.name for path in work.rglob("*")] == ["train.py"]
