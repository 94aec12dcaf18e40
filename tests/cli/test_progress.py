"""The bar for the files of a folder: on a terminal, after a moment, and never in the way of what is said."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from converter.cli import progress
from converter.cli.progress import files_bar

ROOT = Path(__file__).resolve().parent.parent.parent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)


def as_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error as a terminal; called by the test itself, as pytest sets its own before that."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return made


@pytest.mark.usefixtures("patience")
def test_it_counts_files_and_lets_lines_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = as_terminal(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "1")
    line = "odd/[bold]name[/bold] :smile:.py: TMG201 long"
    with files_bar() as (tell, say):
        assert tell is not None
        say("before")
        tell(1, 3, "a[b].py")
        say(line)
        tell(2, 3, "c.py")
    shown = terminal.getvalue()
    assert shown.startswith("before\n")
    assert line in shown
    assert "1/3" in shown and "2/3" in shown and "a[b].py" in shown


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("total", [0, 1])
def test_a_single_file_has_none(monkeypatch: pytest.MonkeyPatch, total: int) -> None:
    terminal = as_terminal(monkeypatch)
    with files_bar() as (tell, _):
        assert tell is not None
        tell(total, total, "a.py")
    assert terminal.getvalue() == ""


def test_nor_has_a_short_run(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = as_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    with files_bar() as (tell, say):
        assert tell is not None
        tell(1, 3, "a.py")
        say("said")
    assert terminal.getvalue() == "said\n"


@pytest.mark.usefixtures("patience")
def test_nor_has_a_quiet_one(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = as_terminal(monkeypatch)
    with files_bar(quiet=True) as (tell, say):
        assert tell is None
        say("said")
    assert terminal.getvalue() == "said\n"


def test_without_a_terminal_nothing_is_imported_for_it() -> None:
    program = (
        "import sys; from converter.cli import progress; progress.PATIENCE = 0\n"
        "with progress.files_bar() as (tell, say): say(f'{tell} {\"rich\" in sys.modules}')"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == "None False\n"


@pytest.mark.usefixtures("patience")
def test_it_starts_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process with threads cannot be forked safely."""
    as_terminal(monkeypatch)
    before = threading.active_count()
    with files_bar() as (tell, _):
        assert tell is not None
        tell(1, 3, "a.py")
        assert threading.active_count() == before
