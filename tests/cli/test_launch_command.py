"""How `launch` starts a script that needs folders above it on Python's path."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.cli.launch import started_by


@pytest.mark.parametrize(
    ("text", "path", "started"),
    [
        ("import numpy\n", "", ["SCRIPT"]),
        ("from pkg.net import f\n", "ROOT", ["-m", "scripts.train"]),
        ("import pkg.net\nimport util\n", "ROOT", ["SCRIPT"]),
    ],
)
def test_what_follows_the_interpreter(text: str, path: str, started: list[str], tmp_path: Path) -> None:
    for name in (".git/HEAD", "pkg/net.py", "scripts/util.py", "scripts/train.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text if name.endswith("train.py") else "")
    script = str(tmp_path / "scripts/train.py")
    names = {"ROOT": str(tmp_path), "SCRIPT": script}
    assert started_by(script) == ([names[path]] if path else [], [names.get(one, one) for one in started])
