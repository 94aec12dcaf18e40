"""The goldens of the fixtures are what the tool writes today, and change no more of a script than they must."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.conversion import convert
from converter.options import Options
from converter.source import encode, read

ROOT = Path(__file__).resolve().parent.parent
NAMES = sorted(path.parent.name for path in (ROOT / "fixtures").glob("*/single.py"))

# What may be gone from a script, or stand in it otherwise; whole lines, without blanks.
ALLOWED = re.compile(
    r"batch_?size = \d+"  # the batch size, where it is defined
    r"|.*next_batch\(.*"  # and where it is used
    r"|.*range\(.*batch_?size.*|.*// *(\w+\.)?batch_?size.*"
    r"|.*\.minimize\(.*"  # the training step
    r"|(with )?(tf|tensorflow)\.Session\(.*|\w+ = tf\.Session\(.*",  # the session config
    re.IGNORECASE,
)


def squeezed(text: str) -> list[str]:
    """Lines as `diff -w` compares them."""
    return ["".join(line.split()) for line in text.splitlines()]


def removed(before: str, after: str) -> list[str]:
    """The lines that `diff -w` shows as removed, stripped."""
    lines = before.splitlines()
    matcher = difflib.SequenceMatcher(None, squeezed(before), squeezed(after), autojunk=False)
    return [
        lines[index].strip()
        for tag, start, end, _, _ in matcher.get_opcodes()
        if tag in ("replace", "delete")
        for index in range(start, end)
    ]


def moved(before: str, after: str) -> list[str]:
    """Removed lines that stand elsewhere: statements that went before the loop or after it."""
    kept = set(squeezed(after))
    return [line for line in removed(before, after) if "".join(line.split()) in kept]


@pytest.fixture(params=NAMES)
def folder(request: pytest.FixtureRequest) -> Path:
    return ROOT / "fixtures" / str(request.param)


def test_every_fixture_has_all_its_files() -> None:
    assert len(NAMES) >= 11
    for name in NAMES:
        files = {path.name for path in (ROOT / "fixtures" / name).iterdir() if path.suffix in (".py", ".md")}
        assert files == {"single.py", "multi.py", "README.md"}


def test_the_golden_is_the_conversion(folder: Path) -> None:
    source = read(str(folder / "single.py"))
    conversion = convert(source, Options(num_gpus=2))
    assert (conversion.status, conversion.diagnostics) == ("converted", ())
    assert conversion.text is not None
    assert encode(source, conversion.text) == (folder / "multi.py").read_bytes(), "run `make goldens`"


def test_the_command_writes_the_golden(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "fixtures/pyproject.toml").read_bytes())
    (tmp_path / "single.py").write_bytes((folder / "single.py").read_bytes())
    assert main(["convert", str(tmp_path / "single.py"), "-o", str(tmp_path / "multi.py")]) == 0
    assert (tmp_path / "multi.py").read_bytes() == (folder / "multi.py").read_bytes()


def test_goldens_are_made_by_one_command() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ngoldens:")[2].partition("\n\n")[0]
    assert 'convert "$$single" -o "$${single%single.py}multi.py"' in recipe


def test_no_line_is_removed_but_those_that_must_change(folder: Path) -> None:
    before, after = ((folder / name).read_text(encoding="utf-8") for name in ("single.py", "multi.py"))
    gone = [line for line in removed(before, after) if line and line not in moved(before, after)]
    assert [line for line in gone if not ALLOWED.fullmatch(line)] == []


def test_few_lines_are_moved(folder: Path) -> None:
    before, after = ((folder / name).read_text(encoding="utf-8") for name in ("single.py", "multi.py"))
    assert moved(before, after) == []


def test_converting_a_golden_changes_nothing(folder: Path) -> None:
    conversion = convert(read(str(folder / "multi.py")), Options(num_gpus=2))
    assert (conversion.status, conversion.text) == ("unchanged", None)
    assert [finding.code for finding in conversion.diagnostics] == ["TMG009"]


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("batch_size = 64", True),
        ("BATCH_SIZE = 64", True),
        ("x, y = data.next_batch(batch_size)", True),
        ("for i in range(0, n, batch_size):", True),
        ("steps = n // FLAGS.batch_size", True),
        ("train_op = tf.train.AdamOptimizer(0.1).minimize(loss)", True),
        ("with tf.Session() as sess:", True),
        ("sess = tf.Session()", True),
        ("loss = tf.reduce_mean(x)", False),
        ("sess.run(train_op)", False),
        ("num_steps = 64", False),
        ("logits = net(X)", False),
        ("import tensorflow as tf", False),
        ("for i in range(100):", False),
        ("print(batch_size)", False),
    ],
)
def test_what_may_change(line: str, allowed: bool) -> None:
    assert bool(ALLOWED.fullmatch(line)) is allowed
