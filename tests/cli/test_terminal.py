"""A terminal gets lines within its window and colour for codes, carets and verdicts; others the text as it is."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from converter.choices import Color
from converter.cli.app import main
from converter.cli.terminal import color, shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("short", "short"),
        ("", ""),
        (
            "train.py:3:1: TMG201 there is nothing to convert in this file",
            "train.py:3:1: TMG201 there is nothing to\n    convert in this file",
        ),
        (
            "    towers:        built of train.py, lines 10 to 12, and more",
            "    towers:        built of train.py,\n                   lines 10 to 12, and\n                   more",
        ),
        (
            "to judge   global batch: takes 256 examples, as many",
            "to judge   global batch: takes 256\n           examples, as many",
        ),
        (
            "    learning rate: unchanged; others would scale it",
            "    learning rate: unchanged; others\n                   would scale it",
        ),
        (
            "           TensorFlow 2.21.0, virtual CPU devices, 3 s",
            "           TensorFlow 2.21.0, virtual\n           CPU devices, 3 s",
        ),
        (
            "    next:          tf-multigpu verify train.py train_mg.py",
            "    next:          tf-multigpu verify train.py train_mg.py",
        ),
        ("    12 | " + "x" * 40, "    12 | " + "x" * 30 + "…"),
        # The caret is to be seen, under the letter that it was under.
        ("    12 | " + "x" * 20 + "Y" + "x" * 40 + f"\n       | {' ' * 20}^",
         "    12 | " + "x" * 20 + "Y" + "x" * 9 + f"…\n       | {' ' * 20}^"),
        ("    12 | " + "x" * 50 + "Y" + "x" * 40 + f"\n       | {' ' * 50}^",
         "    12 | …" + "x" * 18 + "Y" + "x" * 10 + f"…\n       | {' ' * 19}^"),
        ("    12 | " + "x" * 50 + f"Y\n       | {' ' * 50}^", f"    12 | …{'x' * 18}Y\n       | {' ' * 19}^"),
        (f"    12 | {'字' * 30}Y\n       | {' ' * 60}^", f"    12 | {'字' * 30}Y\n       | {' ' * 30}…"),
        ("    run it with --learning-rate-scaling linear", "    run it with --learning-rate-scaling\n        linear"),
    ],
)  # fmt: skip
def test_lines_fit_the_window(text: str, wanted: str) -> None:
    assert shown(text, Terminal()) == wanted
    assert shown(text, io.StringIO()) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a.py:3:1: TMG201 x", "a.py:3:1: \x1b[1mTMG201\x1b[0m x"),
        ("PASSED     2 towers", "\x1b[1;32mPASSED\x1b[0m     2 towers"),
        ("FAILED     2 towers", "\x1b[1;31mFAILED\x1b[0m     2 towers"),
        ("NOT COMPARABLE  x", "\x1b[1;33mNOT COMPARABLE\x1b[0m  x"),
        ("    3 | x = 1\n      |   ^", "    3 | x = 1\n      | \x1b[1;32m  ^\x1b[0m"),
        ("it has PASSED, and TMG1234 is no code", "it has PASSED, and TMG1234 is no code"),
    ],
)
def test_colours(text: str, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(text, Terminal()) == text
    monkeypatch.delenv("NO_COLOR")
    assert shown(text, Terminal()) == wanted
    assert shown(text, io.StringIO()) == text
    monkeypatch.setenv("TERM", "dumb")
    assert shown(text, Terminal()) == text


@pytest.mark.parametrize(
    ("chosen", "no_color", "stream", "coloured"),
    [
        ("auto", "", Terminal, True),
        ("auto", "", io.StringIO, False),
        ("auto", "1", Terminal, False),
        ("always", "1", Terminal, True),
        ("always", "1", io.StringIO, True),
        ("never", "", Terminal, False),
        ("never", "", io.StringIO, False),
    ],
)
def test_a_choice_of_colour_wins(
    chosen: Color, no_color: str, stream: type[io.StringIO], coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    with color(chosen):
        assert ("\x1b[1mTMG201" in shown("a.py:3:1: TMG201 x", stream())) == coloured
    assert shown("a.py: TMG201", io.StringIO()) == "a.py: TMG201"


SCRIPT = "import tensorflow as tf\nx = = 1\n"  # refused, with its line and a caret


@pytest.mark.parametrize(
    "command",
    [("explain", "TMG004"), ("rules",), ("convert", "train.py", "-o", "mg.py"), ("lint", "train.py")],
)
@pytest.mark.parametrize(("chosen", "coloured"), [("always", True), ("never", False), ("auto", False)])
def test_commands_take_it(
    command: tuple[str, ...],
    chosen: str,
    coloured: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT, encoding="utf-8")
    main([*command, "--color", chosen])
    said = capsys.readouterr()
    assert ("\x1b[1mTMG" in said.out + said.err) == coloured
    assert "TMG" in said.out + said.err


def test_programs_get_none(capsys: pytest.CaptureFixture[str]) -> None:
    main(["rules", "--json", "--color", "always"])
    assert "\x1b" not in capsys.readouterr().out
