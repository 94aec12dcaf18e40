"""A folder as folders are: odd names and encodings, links, files of other kinds; each is spoken of or copied."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.standins import Run
from tests.scripts import INPUTS, MODEL, STEP, TRAINING

SCRIPT = INPUTS + MODEL + STEP + TRAINING
# What is written of the script, and what of its bytes has to be in the conversion.
SCRIPTS = {
    "train.py": (SCRIPT.encode(), b"\n"),
    "mein träining 1.py": (SCRIPT.encode(), b"\n"),
    "crlf.py": (SCRIPT.replace("\n", "\r\n").encode(), b"\r\n"),
    "latin.py": (f"# -*- coding: latin-1 -*-\n# Größe\n{SCRIPT}".encode("latin-1"), b"# Gr\xf6\xdfe\n"),
    "tabs.py": (SCRIPT.replace("    ", "\t").encode(), b"\n\twith tf.device(tower_device(gpu))"),
    "marked.py": (b"\xef\xbb\xbf" + SCRIPT.encode(), b"\xef\xbb\xbf#"),
}
OTHERS = {
    "empty.py": b"",
    "nets/__init__.py": b"from .model import size\n",
    "nets/model.py": b"size = 4\n",
    "data/rows.csv": b"1,2\n",
    "notes": b"\xff\xfe",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "mein projekt ü"
    for name, data in {**{name: data for name, (data, _) in SCRIPTS.items()}, **OTHERS}.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(data)
    (made / "train.py").chmod(0o444)
    for name, target in {"link.py": "train.py", "rows": "data", "loop": ".", "broken": "gone"}.items():
        (made / name).symlink_to(target)
    monkeypatch.chdir(tmp_path)
    return made


@pytest.mark.parametrize("where", ["the folder", "above", "elsewhere"])
def test_each_file_arrives(folder: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    before = contents(folder)
    source = {"the folder": ".", "above": folder.name, "elsewhere": str(folder)}[where]
    monkeypatch.chdir({"the folder": folder, "above": tmp_path, "elsewhere": "/"}[where])
    done = run("convert", source, "-o", str(tmp_path / "out"))
    assert done.code == 0 and f"{len(SCRIPTS)} converted, " in done.err.splitlines()[-1]
    made = contents(tmp_path / "out")
    made.pop(".tf-multigpu.sha256")
    assert made.keys() == before.keys() and contents(folder) == before
    for name, (data, part) in SCRIPTS.items():
        assert f"{name}: converted, written to " in done.err
        assert part in made[name] and made[name] != data
    assert {name: made[name] for name in OTHERS} == OTHERS
    assert made["crlf.py"].count(b"\n") == made["crlf.py"].count(b"\r\n")
    assert [made[name] for name in ("link.py", "loop", "broken")] == ["train.py", ".", "gone"]
    assert run("convert", "--check", str(tmp_path / "out")).code == 0
    again = run("convert", source, "-o", str(tmp_path / "out"))
    assert again.code == 0 and "written to" not in again.err


def test_in_place_and_once_more(folder: Path, run: Run) -> None:
    (folder / "train.py").chmod(0o644)
    assert run("convert", folder.name, "--in-place").code == 0
    before = contents(folder)
    done = run("convert", folder.name, "--in-place")
    assert (done.code, done.err, contents(folder)) == (0, "", before)


def contents(folder: Path) -> dict[str, bytes | str]:
    """The files and links below a folder, by their names: the bytes, or where they lead."""
    found: dict[str, bytes | str] = {}
    for root, folders, names in os.walk(folder):
        for name in (*names, *(name for name in folders if (Path(root) / name).is_symlink())):
            path = Path(root) / name
            link = path.is_symlink()
            found[path.relative_to(folder).as_posix()] = os.readlink(path) if link else path.read_bytes()
    return found
