"""The files of a project whose script is given as seen from the current folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.verify.runs.flags import choices_of, project

SCRIPT = "import argparse\nimport more\np = argparse.ArgumentParser()\np.add_argument('--kind', choices=['a', 'b'])\n"
SCRIPT += "args = p.parse_args()\n"


@pytest.mark.parametrize("path", ["train.py", "./train.py", "../single/train.py"])
def test_a_script_by_its_relative_path(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "single"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    (folder / "more.py").write_text("size = 1\n")
    monkeypatch.chdir(folder)
    assert sorted(project(Path(path))) == ["more.py", "train.py"]
    assert [choice.args for choice in choices_of(Path(path))] == [("--kind=a",), ("--kind=b",)]
