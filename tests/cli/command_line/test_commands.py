"""The commands beside `convert`, and what all of them share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from converter import __version__
from converter.cli.command_line import commands
from converter.cli.command_line.table import COMMANDS
from converter.rule import all_rules
from tests.cli.standins import Run

ROOT = Path(__file__).resolve().parents[3]


def test_version(run: Run) -> None:
    done = run("--version")
    assert (done.code, done.out.decode()) == (0, f"tf-multigpu {__version__}\n")


@pytest.mark.parametrize("arguments", [("--help",), ("-h",)])
def test_help_lists_the_commands(run: Run, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.code == 0
    assert all(name in done.out.decode() for name in ("convert", "verify", "explain", "rules", "--install-completion"))


@pytest.mark.parametrize("command", ["convert", "verify", "explain", "rules"])
def test_every_command_has_help(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert f"Usage: tf-multigpu {command}" in done.out.decode()


def test_the_help_of_convert_shows_examples_and_exit_statuses(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    shown = run("convert", "--help").out.decode()
    for text in (
        "Examples:",
        "tf-multigpu convert train.py -o train_mg.py",
        "Exit status: 0 done, 1 would change",
    ):
        assert text in shown


def test_no_command_at_all(run: Run) -> None:
    done = run()
    assert done.code == 2
    assert "Usage: tf-multigpu" in done.out.decode() + done.err


def test_a_misspelt_command(run: Run) -> None:
    done = run("covnert")
    assert done.code == 2
    assert "Did you mean 'convert'?" in done.err


def test_no_word_behind_a_completion_option(run: Run) -> None:
    for option in ("--show-completion", "--install-completion"):
        done = run(option, "zsh")
        assert (done.code, done.out) == (2, b"") and "takes no name" in done.err


@pytest.mark.parametrize("code", ["TMG004", "tmg004"])
def test_explain(run: Run, code: str) -> None:
    done = run("explain", code)
    assert done.code == 0
    assert done.out.decode().startswith("TMG004: the file mixes Python 2 with Python 3\n\nWhat it does\n")


@pytest.mark.parametrize("code", ["TMG999", "004", ""])
def test_explain_knows_no_other_codes(run: Run, code: str) -> None:
    done = run("explain", code)
    assert (done.code, done.out) == (2, b"")
    assert "tf-multigpu rules" in done.err


def test_rules(run: Run) -> None:
    lines = run("rules").out.decode().splitlines()
    assert [line.split()[0] for line in lines] == [rule.code for rule in all_rules()]
    assert [rule["code"] for rule in json.loads(run("rules", "--json").out)] == [rule.code for rule in all_rules()]


def test_what_goes_wrong_outside_of_all_files(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **settings: object) -> None:
        raise ZeroDivisionError("ouch")

    monkeypatch.setattr(commands, "app", fail)
    monkeypatch.setattr("converter.cli.rules.all_rules", fail)
    for words in (["rules"], ["rules", "--jsn"]):  # read here, and by Typer
        done = run(*words)
        assert done.code == 4
        assert "TMG090 internal error: ZeroDivisionError: ouch" in done.err


def process(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tf_multigpu", *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True)


def test_the_package_runs_as_a_module() -> None:
    assert process("--version").stdout == f"tf-multigpu {__version__}\n"
    assert process("convert", "gone.py").returncode == 2


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("tf-multigpu con", "convert"),
        ("tf-multigpu convert --bat", "--batch-axis"),
        ("tf-multigpu convert --scale-lr s", "sqrt"),
        ("tf-multigpu explain --h", "--help"),
    ],
)
def test_the_shell_completes(words: str, offered: str) -> None:
    done = process(_TF_MULTIGPU_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    assert offered in done.stdout.splitlines()


# What each shell's script asks with, and what it shows of an offer: the word, and behind it what it is about.
SHELLS = {
    "complete_bash": "{word}",
    "complete_zsh": '"{word}":"{about}"',
    "complete_fish": "{word}\t{about}",
}


Offers = Callable[[str, str], list[str]]


@pytest.fixture
def offers(run: Run, monkeypatch: pytest.MonkeyPatch) -> Offers:
    """The lines that a shell gets for a command line so far, without zsh's frame."""

    def offers(shell: str, words: str) -> list[str]:
        bash = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        others = {"_TYPER_COMPLETE_ARGS": words, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
        for name, value in (bash if shell == "complete_bash" else others).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("_TF_MULTIGPU_COMPLETE", shell)
        said = run().out.decode()
        return said.removeprefix("_arguments '*: :((").strip().removesuffix("))'").splitlines()

    return offers


@pytest.mark.parametrize("shell", SHELLS)
def test_codes_complete(offers: Offers, shell: str) -> None:
    rules = [rule for rule in all_rules() if rule.code[:5] == "TMG10"]
    shown = [SHELLS[shell].format(word=rule.code, about=rule.title.replace("'", "’")) for rule in rules]
    assert shown and offers(shell, "tf-multigpu explain TMG10") == shown


@pytest.mark.parametrize("shell", SHELLS)
def test_every_offer_is_one_line(offers: Offers, shell: str) -> None:
    # A second line would be offered as a word of its own.
    for command in COMMANDS.values():
        long = [flag for option in command.options for flag in option.flags if flag.startswith("--")]
        lines = offers(shell, f"tf-multigpu {command.name} --")
        assert len(lines) == len([*long, "--help", "--help-all"]), lines
        # Typer's quotes for zsh drop apostrophes: `the scripts batch size`.
        assert "'" not in "".join(lines).replace("''", "'"), lines


@pytest.mark.parametrize(("columns", "lines"), [(100, 42), (80, 50)])
@pytest.mark.parametrize("name", [*COMMANDS, ""])
def test_help_fits_a_screen_and_has_an_example(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str, columns: int, lines: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = run(*filter(None, [name, "--help"])).out.decode()
    assert len(shown.splitlines()) <= lines
    assert max(map(len, shown.splitlines())) <= columns
    assert "Examples:\n  tf-multigpu" in shown


def test_all_options_are_explained_where_all_is_asked_for(run: Run) -> None:
    for command in COMMANDS.values():
        brief, whole = (run(command.name, flag).out.decode() for flag in ("--help", "--help-all"))
        for option in command.options:
            assert option.flags[0] in brief and f"{option.flags[0]}" in whole.split("Examples:")[0]
        assert ("--help-all" in brief) == any(option.rare for option in command.options)
        assert "More (" not in whole
