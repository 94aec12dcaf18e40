"""What Typer makes of the table: the values of a command line, and the help."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from importlib import import_module

import pytest
import typer

from converter.cli.command_line import commands
from converter.cli.command_line.table import (
    COLOR,
    COMMANDS,
    CONFIG_FLAGS,
    CONVERT,
    HELP,
    HELP_ALL,
    PROGRAM,
    WHAT,
    CommandRow,
)
from converter.cli.files.request import MODES, Request
from converter.verify import VerifySettings
from tests.cli.standins import Run, given_by

# A command line, and what it gives.
LINES: list[tuple[str, dict[str, object]]] = [
    ("convert a.py", {"sources": ("a.py",)}),
    ("convert", {}),
    ("convert --check --config x.toml --no-config", {"check": True, "config": "x.toml", "no_config": True}),
    ("convert a.py b.py - --diff", {"sources": ("a.py", "b.py", "-"), "diff": True}),
    ("convert --output=out a.py -q", {"sources": ("a.py",), "output": "out", "quiet": True}),
    ("convert -o - a.py", {"sources": ("a.py",), "output": "-"}),
    ("convert a.py --num-gpus auto --batch total", {"sources": ("a.py",), "num_gpus": "auto", "batch": "total"}),
    ("convert --shared x --shared=y --batch-axis z=1", {"shared": ("x", "y"), "batch_axis": ("z=1",)}),
    ("convert a.py --num-gpus 2 --num-gpus 3", {"sources": ("a.py",), "num_gpus": "3"}),
    ("convert a.py -oout -j2", {"sources": ("a.py",), "output": "out", "jobs": 2}),
    ("convert a.py -qv", {"sources": ("a.py",), "quiet": True, "verbose": True}),
    ("convert -o out -- a.py -q -- b.py", {"sources": ("a.py", "-q", "--", "b.py"), "output": "out"}),
    ("verify a.py b.py -- c --gpus 4", {"single": "a.py", "multi": "b.py", "args": ("c", "--gpus", "4")}),
    ("verify a.py b.py", {"single": "a.py", "multi": "b.py"}),
    ("verify a.py b.py --timeout 1.5 --memory 3", {"single": "a.py", "multi": "b.py", "timeout": 1.5, "memory": 3.0}),
    ("profile a.py b.py --latency 0 --gpus 2,4", {"single": "a.py", "multi": "b.py", "latency": 0.0, "gpus": "2,4"}),
    ("explain TMG004", {"code": "TMG004"}),
    ("rules", {}),
    ("rules --json", {"json": True}),
]


@pytest.mark.parametrize(("line", "values"), LINES)
def test_what_a_command_line_gives(line: str, values: dict[str, object]) -> None:
    assert given_by(line.split()) == (line.split()[0], values)


REFUSED = [
    "verify",
    "covnert a.py",
    "convert a.py --dif",
    "convert a.py -jx",
    "convert a.py --diff=1",
    "convert a.py -o",
    "convert a.py --batch half",
    "convert a.py --jobs 0",
    "convert a.py --jobs 1.5",
    "convert a.py --jobs -1",
    "convert a.py --version",
    "verify a.py",
    "verify a.py b.py --timeout 0.5",
    "explain",
    "explain TMG004 TMG005",
    "rules x",
]


@pytest.mark.parametrize("line", REFUSED)
def test_what_no_command_takes(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert given_by(line.split()) is None
    assert "Error: " in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_functions_take_what_the_table_has(command: CommandRow) -> None:
    name, function = command.body.split(":")
    module = import_module(name, "converter.cli.command_line")
    taken = set(inspect.signature(getattr(module, function)).parameters)
    names = {one.name for one in (*command.arguments, *command.options) if one.name != COLOR.name}
    if command.configured:
        names = names - {option.name for option in CONFIG_FLAGS} | {"layers"}
    if "given" in taken:  # the values that it reads by their names, itself or as fields of a record
        record = Request if command is CONVERT else VerifySettings
        taken |= {field.name for field in fields(record)} & names
        taken |= set(re.findall(r'\bgiven\["(\w+)"\]', inspect.getsource(module)))
        taken.remove("given")
    if command is CONVERT:  # which takes what changes the text as it comes
        names -= {option.name for option in CONVERT.options if option.panel == WHAT}
        taken |= {mode.replace("-", "_") for mode in MODES} | {"hook"}  # which decides on defaults
    assert taken == names


def test_typer_has_the_options_of_the_program() -> None:
    made = typer.main.get_command(commands.app)
    flags = {flag for parameter in made.params for flag in parameter.opts}
    assert flags == {flag for option in (*PROGRAM.options, HELP_ALL) for flag in option.flags}


@pytest.mark.parametrize("columns", ["60", "80", "200"])
@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch, name: str, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for flag in ("--help", "--help-all"):
        shown = run(*filter(None, [name, flag])).out.decode()
        assert max(map(len, shown.split("\n"))) <= min(int(columns), 100)


@pytest.mark.parametrize("command", [PROGRAM, *COMMANDS.values()], ids=lambda command: command.name)
def test_help_leaves_nothing_out(run: Run, monkeypatch: pytest.MonkeyPatch, command: CommandRow) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    done = run(*filter(None, [command.name, *HELP_ALL.flags]))
    shown = "".join(done.out.decode().split())  # lines may end behind any hyphen
    assert (done.code, done.err) == (0, "")
    for option in (*command.options, HELP):
        assert all(flag in shown for flag in option.flags)
        assert "".join(option.help.split()) in shown and option.metavar in shown
        assert option.default in (None, "") or f"[default:{str(option.default).removesuffix('.0')}]" in shown
    for argument in command.arguments:
        assert "".join(f"{argument.metavar}{argument.help}".split()) in shown
    assert all("".join(f"{line}{purpose}".split()) in shown for line, purpose in command.examples)
    assert "".join(f"Exit status: {command.statuses}".split()) in shown or not command.statuses


def test_no_command_shows_the_help(run: Run) -> None:
    done = run()
    assert (done.code, done.out, done.err) == (2, b"", run("--help").out.decode())
