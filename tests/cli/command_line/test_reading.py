"""The reader of plain command lines, and the help: both from the table, and the same as what Typer makes of it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from converter.cli.app import main
from converter.cli.command_line import commands
from converter.cli.command_line.reading import read
from converter.cli.command_line.table import COLOR, COMMANDS, CONFIG_FLAGS, CONVERT, HELP, PROGRAM, WHAT, Command
from converter.cli.command_line.usage import help_text
from tests.cli.standins import Run

Values = dict[str, object]


def typers(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> tuple[str, Values] | None:
    """The command and the values that Typer finds in a command line, None where it refuses it."""
    seen: list[tuple[str, Values]] = []

    def run(self: Command, values: Mapping[str, object]) -> int:
        seen.append((self.name, dict(values)))
        return 0

    with monkeypatch.context() as patch:
        patch.setattr(Command, "run", run)
        patch.setattr("converter.cli.config.layers.completed", lambda command, given: given)
        status = commands.run(words)
    assert (status == 0) == bool(seen) or "--help" in words or "-h" in words
    return seen[0] if seen else None


LINES = [
    "convert a.py",
    "convert",
    "convert --check --config x.toml --no-config",
    "convert a.py b.py - --diff",
    "convert -o out a.py",
    "convert --output=out a.py -q",
    "convert -o - a.py",
    "convert a.py --output-dir o/ --num-gpus auto --batch total --variables gpu:0 --scale-lr sqrt --gpu-memory 0.5",
    "convert a.py --shared x --shared=y --batch-axis z=1 --line-length 80 --jobs 3 -v",
    "convert a.py --verify --html p.html --trace --python py --skip-non-training --in-place --check --json",
    "convert a.py --num-gpus 2 --num-gpus 3",
    "convert a.py -o x=1",
    "convert a.py -oout -j2",
    "convert -o out -- a.py -q -- b.py",
    "verify a.py b.py -- c --gpus 4",
    "verify a.py b.py",
    "verify a.py b.py c d --gpus 4 --steps 2 --batch total --python py --timeout 1.5 --memory 3 --html p --json -q",
    "profile a.py b.py --gpus 2,4 --bandwidth 0.5 --host-bandwidth 3 --tflops 1 --latency 0 --launch 0.0 --timeout 9",
    "explain TMG004",
    "rules",
    "rules --json",
]


@pytest.mark.parametrize("line", LINES)
def test_what_is_read_is_what_typer_reads(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    found = read(line.split())
    assert found is not None
    assert (found[0].name, found[1]) == typers(monkeypatch, line.split())


LEFT = [
    "",
    "verify",
    "covnert a.py",
    "convert a.py --dif",
    "convert a.py -qv",
    "convert a.py -o=out",
    "convert a.py --output==out",
    "convert a.py -jx",
    "convert a.py --diff=1",
    "convert a.py -o",
    "convert a.py -o --diff",
    "convert a.py -o -x",
    "convert a.py --output=",
    "convert a.py --batch half",
    "convert a.py --jobs 0",
    "convert a.py --jobs x",
    "convert a.py --jobs 1.5",
    "convert a.py --jobs -1",
    "convert a.py --jobs 1_0",
    "convert a.py --help",
    "convert a.py --version",
    "verify a.py",
    "verify a.py b.py --timeout 1e3",
    "verify a.py b.py --timeout 0.5",
    "verify a.py b.py --timeout nan",
    "verify a.py b.py --epochs ٣",
    "explain",
    "explain TMG004 TMG005",
    "rules x",
    "--version rules",
]


@pytest.mark.parametrize("line", LEFT)
def test_what_is_left_to_typer(line: str) -> None:
    assert read(line.split()) is None


def test_empty_words_are_left_to_typer() -> None:
    assert read(["convert", ""]) is None
    assert read(["convert", "a.py", "-o", ""]) is None


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command with flags, values and words of all sorts in any order."""
    command = draw(st.sampled_from(sorted(COMMANDS)))
    flags = [flag for option in (*COMMANDS[command].options, HELP) for flag in option.flags]
    texts = ["a.py", "b", "-", "--", "-oa", "-j3", "-o=", "2", "0", "1.5", "-1", "auto", "total", "x=1", "", "-qv", "é"]
    glued = st.builds("{}={}".format, st.sampled_from(flags), st.sampled_from(texts))
    words = st.one_of(st.sampled_from(flags), st.sampled_from(texts), glued)
    return [command, *draw(st.lists(words, max_size=6))]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(command_lines())
def test_whatever_is_read_is_what_typer_reads(monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    found = read(words)
    if found is not None:
        assert (found[0].name, found[1]) == typers(monkeypatch, words)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_functions_take_what_the_table_has(command: Command) -> None:
    module, function = command.body.split(":")
    taken = inspect.signature(getattr(import_module(module, "converter.cli.command_line"), function)).parameters
    names = {one.name for one in (*command.arguments, *command.options) if one.name != COLOR.name}
    if command.configured:
        names = names - {option.name for option in CONFIG_FLAGS} | {"layers"}
    if command is CONVERT:  # which takes what changes the text as it comes
        names = names - {option.name for option in CONVERT.options if option.panel == WHAT} | {"written"}
    assert taken.keys() == names


def test_typer_has_the_options_of_the_program() -> None:
    made = typer.main.get_command(commands.app)
    flags = {flag for parameter in made.params for flag in parameter.opts}
    assert flags == {flag for option in PROGRAM.options for flag in option.flags}


@pytest.mark.parametrize("columns", ["60", "80", "200"])
@pytest.mark.parametrize("command", [None, *COMMANDS.values()], ids=lambda command: command.name if command else "")
def test_help_is_the_same_on_all_ways(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: Command | None, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    words = [command.name] if command else []
    shown = help_text(command)
    assert max(map(len, shown.split("\n"))) <= min(int(columns), 100)
    assert main([*words, "--help"]) == 0
    assert capsys.readouterr().out == shown + "\n"
    assert commands.run([*words, "--help"]) == 0
    assert capsys.readouterr().out == shown + "\n"


@pytest.mark.parametrize("command", [PROGRAM, *COMMANDS.values()], ids=lambda command: command.name)
def test_help_leaves_nothing_out(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown = " ".join(help_text(command if command.name else None, whole=True).split())
    for option in (*command.options, HELP):
        assert all(flag in shown for flag in option.flags)
        assert " ".join(option.help.split()) in shown and option.metavar in shown
        assert option.default in (None, "") or f"[default: {str(option.default).removesuffix('.0')}]" in shown
    for argument in command.arguments:
        assert f"{argument.metavar} {argument.help}" in shown
    assert all(line in shown and purpose in shown for line, purpose in command.examples)
    assert f"Exit status: {command.statuses}" in shown or not command.statuses


def test_no_command_shows_the_help(run: Run) -> None:
    done = run()
    assert (done.code, done.out, done.err) == (2, b"", help_text() + "\n")
