"""The bar for the files of a folder: on a terminal, after a moment, and never in the way of what is said."""

from __future__ import annotations

import errno
import io
import os
import re
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


LINE = "\rconverting a.py, 0 s\r"
ERASED = f"\r{' ' * 20}\r"
WAITS = """
import sys, time
from converter.cli import progress

progress.PATIENCE, progress.monotonic = 0.05, lambda: 0.0
def results():
    time.sleep(0.2)
    yield "one"
    progress.PATIENCE = {patience}
    {then}
    yield "two"

for result in progress.timed(results(), "converting a.py", quiet={quiet}):
    print(result, file=sys.stderr, flush=True)
"""


def on_a_terminal(program: str) -> str:
    """What a program writes to standard error, which is a terminal; a line that it writes anew each second, once.

    A terminal hands on what is written a piece at a time, and some of it after the writer has ended: all is read.
    """
    pty = pytest.importorskip("pty", reason="this system has no terminals to make")
    ours, theirs = pty.openpty()
    shown = b""
    try:
        env = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
        subprocess.run([sys.executable, "-c", program], cwd=ROOT, stderr=theirs, env=env, check=True, timeout=60)
        os.close(theirs)
        while piece := os.read(ours, 10_000):
            shown += piece
    except OSError as error:
        if error.errno != errno.EIO:  # what reading from a terminal without a writer gives on Linux
            raise
    finally:
        os.close(ours)
    return re.sub(f"({LINE})+", LINE, shown.decode().replace("\r\n", "\n"))


@pytest.mark.parametrize(
    ("then", "quiet", "wanted"),
    [
        ("", False, f"{LINE}{ERASED}one\ntwo\n"),
        ("time.sleep(0.2)", False, f"{LINE}{ERASED}one\n{LINE}{ERASED}two\n"),
        ("time.sleep(0.2)", True, "one\ntwo\n"),
    ],
)
def test_the_time_is_shown_while_one_is_waited_for(then: str, quiet: bool, wanted: str) -> None:
    program = WAITS.format(then=then, quiet=quiet, patience=0.05 if then else 60)
    assert on_a_terminal(program) == wanted


def test_the_time_makes_room_for_a_bar() -> None:
    shown = on_a_terminal(
        WAITS.format(then="with progress.progress_bar() as tell: time.sleep(0.2)", quiet=False, patience=0.05)
    )
    before, _, bar = shown.partition("\x1b[?25l")  # a bar hides the cursor
    assert before.endswith((ERASED, "one\n"))
    assert "0:00:00" in bar and "converting a.py" not in bar


def test_elsewhere_no_time_is_shown() -> None:
    program = WAITS.format(then="", quiet=False, patience=0.05)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stderr == "one\ntwo\n"
