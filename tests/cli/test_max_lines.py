"""Scripts that are too long are refused at once, wherever they come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.choices import MAX_LINES
from tests.cli.standins import Run

SHORT = "import tensorflow as tf\ntf.train.AdamOptimizer().minimize(loss)\n" + "x = 1\n" * 8


@pytest.mark.parametrize(
    "arguments", [("a.py", "-o", "b.py"), (".", "-o", "out/", "-v"), ("a.py", "--in-place"), ("a.py",)]
)
def test_a_script_of_more_lines_is_refused(project: Path, run: Run, arguments: tuple[str, ...]) -> None:
    (project / "a.py").write_text(SHORT)
    assert run("convert", *arguments, "--max-lines", "10").code == 0
    (project / "a.py").write_text(SHORT)
    done = run("convert", *arguments, "--max-lines", "9")
    assert done.code == 2 and "a.py:10:1: TMG019" in done.err and "--max-lines 10" in done.err


def test_the_usual_limit(project: Path, run: Run) -> None:
    (project / "a.py").write_text("import tensorflow as tf\n" + "x = 1\n" * MAX_LINES)
    assert "TMG019" in run("convert", "a.py", "--diff").err


def test_files_without_tensorflow_may_be_of_any_length(project: Path, run: Run) -> None:
    (project / "a.py").write_text("x = 1\n" * 20)
    assert run("convert", "a.py", "--in-place", "--max-lines", "10").code == 0


@pytest.mark.parametrize("number", ["0", "many"])
def test_bad_limits(project: Path, run: Run, number: str) -> None:
    assert run("convert", "a.py", "--max-lines", number).code == 2
