"""What a project's own formatters make of conversions: nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.conversion.project_style import Style, style_of
from converter.source.header import find_header
from tests.goldens import FIXTURES

pytestmark = pytest.mark.one_test_in(2)

TWENTY = (
    *("accumulated_steps", "argparse_main", "attention", "autoencoder", "base_model"),
    *("clipped_gradients", "constant_data", "crf", "decay_per_epoch", "embedding_text"),
    *("flags_main", "graph_dict", "listed_inputs", "logistic_regression", "masked_sequences"),
    *("moving_averages", "padded_sequences", "recurrent", "seq2seq", "weights_dict"),
)
BIN = Path(sys.executable).parent
BLACK = "[tool.black]\nline-length = 88\n[tool.isort]\nprofile = 'black'\n"
SINGLE = "[tool.black]\nline-length = 79\nskip-string-normalization = true\n"
RUFF = "[tool.ruff]\nline-length = 96\n[tool.ruff.lint]\nselect = ['E4', 'I']\nignore = ['E402']\n"


def by(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A run of a formatter, as it is installed beside Python."""
    command = [str(BIN / words[0]), *words[1:]]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("settings", "formatters"),
    [
        (BLACK, [["isort", "."], ["black", "-q", "."]]),
        (SINGLE, [["black", "-q", "."]]),
        (RUFF.replace("96", "100\ntarget-version = 'py37'"), [["ruff", "format", "-q", "."]]),
        (RUFF, [["ruff", "check", "-q", "--fix", "."], ["ruff", "format", "-q", "."]]),
    ],
    ids=["black and isort", "black with quotes as they are", "ruff for Python 3.7", "ruff"],
)
def test_formatters_leave_conversions_alone(tmp_path: Path, settings: str, formatters: list[list[str]]) -> None:
    (tmp_path / "pyproject.toml").write_text(settings)
    for name in TWENTY:
        (tmp_path / f"{name}.py").write_bytes((FIXTURES / name / "single.py").read_bytes())
    for formatter in formatters:
        by(tmp_path, *formatter)
    assert main(["convert", "-q", str(tmp_path), "--output-dir", str(tmp_path / "multi")]) in (0, 1)
    made = {path: path.read_text() for path in (tmp_path / "multi").glob("*.py")}
    assert sum("sha256:" in text for text in made.values()) == len(TWENTY)
    for formatter in formatters:
        by(tmp_path, *formatter)
    assert [path.name for path, text in made.items() if path.read_text() != text] == []
    width = style_of(str(tmp_path / "a.py")).width
    heads = [line for text in made.values() for line in text.splitlines() if line.startswith(("# tf-multi", "#   | "))]
    assert [line for line in heads if len(line) > width] == []


SCRIPT = (FIXTURES / "logistic_regression" / "single.py").read_text()


def project(folder: Path, settings: str, script: str) -> Path:
    """A project with one script."""
    (folder / "pyproject.toml").write_text(settings)
    (folder / "train.py").write_text(script)
    return folder / "train.py"


def test_what_the_formatter_would_change_is_not_formatted(tmp_path: Path) -> None:
    path = project(tmp_path, BLACK, SCRIPT)  # has single quotes
    assert main(["convert", "-q", str(path), "-o", str(tmp_path / "multi.py")]) == 0
    text = (tmp_path / "multi.py").read_text()
    assert "images = np.pad(images, ((0, 0), (2, 2), (2, 2)), mode='constant').reshape(-1, 784)" in text
    assert "with tf.device('/cpu:0'):" in text


@pytest.mark.parametrize(
    ("old", "new", "fresh"),
    [
        ("", "", True),
        ("    ", "    ", True),
        ("'tower_%d'", '"tower_%d"', True),  # quotes
        ("x, y = x_batch, y_batch", "x, y = (\n    x_batch,\n    y_batch,\n)", True),  # lines
        ("# Each GPU", "#Each GPU", True),
        ("cost * weight", "cost * weight * 1", False),
        ("'tower_%d'", "'Tower_%d'", False),
        ("# From here on: the whole batch.", "# The whole batch.", False),  # a comment that says otherwise
        ("# Construct model", "", False),
        ("--num-gpus 2 --batch per-gpu\n", "--num-gpus 3 --batch per-gpu\n", False),
        ("check_gpus()\ntower", "tower", False),
    ],
)
def test_the_check_reads_what_the_code_means(tmp_path: Path, old: str, new: str, fresh: bool) -> None:
    path, made = project(tmp_path, "", SCRIPT), tmp_path / "multi.py"
    assert main(["convert", "-q", str(path), "-o", str(made)]) == 0
    text = made.read_text()
    assert old in text
    made.write_text(text.replace(old, new, 1) if old else text)
    assert main(["convert", "-q", "--check", str(made)]) == (0 if fresh else 1)


def test_a_broken_header_is_read_as_it_was(tmp_path: Path) -> None:
    path, made = project(tmp_path, SINGLE, SCRIPT), tmp_path / "multi.py"
    assert main(["convert", "-q", str(path), "-o", str(made)]) == 0
    header = find_header(made.read_text())
    whole = find_header("\n".join(made.read_text().replace("\n#   | ", " ").splitlines()))
    assert header is not None and header == whole and header.width <= 79
    assert main(["convert", "-q", "--check", str(made)]) == 0


@pytest.mark.parametrize(
    ("file", "settings", "style"),
    [
        ("pyproject.toml", "", Style()),
        ("pyproject.toml", "[tool.pytest]\n", Style()),
        ("pyproject.toml", "[tool.black]\n", Style(88, "black")),
        ("pyproject.toml", "[tool.black]\nline-length = 79\npreview = true\n", Style(79, "black", preview=True)),
        ("pyproject.toml", "[tool.ruff]\nline-length = 120\n", Style(120, "ruff")),
        ("pyproject.toml", "[tool.ruff.format]\nquote-style = 'single'\n", Style(88, "ruff", double=False)),
        ("pyproject.toml", "[tool.ruff.lint]\nextend-select = ['I']\n", Style(88, "ruff", sorted_imports=True)),
        ("ruff.toml", "line-length = 90\n[lint]\nselect = ['ALL']\n", Style(90, "ruff", sorted_imports=True)),
        (".isort.cfg", "[settings]\n", Style(sorted_imports=True)),
        ("pyproject.toml", "[tool.black]\nline-length = 'long'\n", Style(100, "black")),
        ("pyproject.toml", "[tool.black\n", Style()),
    ],
)
def test_the_style_of_a_project(tmp_path: Path, file: str, settings: str, style: Style) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / file).write_text(settings)
    (tmp_path / "src").mkdir()
    assert style_of(str(tmp_path / "src" / "train.py")) == style
