"""A script that takes too much memory or time, or whose user loses patience, ends with all that it started."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from converter.verify import Progress, VerifyError, VerifySettings, verify
from tests.verify.processes.test_family import runs
from tests.verify.test_failures import TRAINS

pytestmark = pytest.mark.one_test_in(2)

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = Path(__file__).parent / "data" / "plain"

# takes memory for ever, in a process of its own session, and says who that is
GREEDY = """
import os, sys, subprocess, time
eats = "import time\\nblocks = []\\nwhile True:\\n    blocks.append(bytearray(b'x') * (8 << 20)); time.sleep(0.04)"
child = subprocess.Popen([sys.executable, '-c', eats], start_new_session=True)
open({note!r}, 'a').write('%d\\n' % child.pid)
time.sleep(120)
"""
PATIENT = """
import os, sys, subprocess, time
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(120)'], start_new_session=True)
with open({note!r}, 'a') as note:
    note.write('%d\\n%d\\n' % (child.pid, os.getpid()))
time.sleep(120)
"""


def scripts(folder: Path, text: str) -> tuple[Path, Path]:
    for name in ("single.py", "multi.py"):
        (folder / name).write_text(text.format(note=str(folder / "pids")))
    return folder / "single.py", folder / "multi.py"


def still_running(pids: list[int]) -> list[int]:
    """Those of some processes that do not end soon: one that was killed may take a while to give its memory back."""
    until = time.monotonic() + 10
    while any(map(runs, pids)) and time.monotonic() < until:
        time.sleep(0.1)
    return [pid for pid in pids if runs(pid)]


def noted(folder: Path, count: int) -> list[int]:
    """The processes that the scripts have noted, once there are so many."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = (folder / "pids").read_text().split() if (folder / "pids").exists() else []
        if len(found) >= count:
            return [int(pid) for pid in found]
        time.sleep(0.1)
    raise AssertionError(f"only {found} of {count} processes began")


@pytest.mark.tf2
def test_memory_without_bound_ends_the_scripts(tmp_path: Path) -> None:
    report = verify(*scripts(tmp_path, GREEDY), VerifySettings(gpus=1, timeout=100, memory=1.5))
    assert report.verdict == "not comparable"
    found = re.fullmatch(r"the scripts take ([\d.]+) GiB, more than the 1\.5 GiB allowed \(--memory\)", report.reason)
    assert found and 1.5 <= float(found[1]) < 3
    assert still_running(noted(tmp_path, 1)) == []
    assert [(entry.fate, entry.what) for entry in report.ledger][0] == ("unchecked", "everything")


@pytest.mark.tf2
def test_enough_memory_is_no_limit(tmp_path: Path) -> None:
    report = verify(*scripts(tmp_path, TRAINS.replace("{steps}", "3")), VerifySettings(gpus=1, memory=8))
    assert report.verdict == "passed"


@pytest.mark.parametrize("memory", [0, -1.0])
def test_no_memory_at_all(memory: float) -> None:
    with pytest.raises(VerifyError, match="more than 0 GiB"):
        verify(DATA / "single.py", DATA / "multi.py", VerifySettings(memory=memory))


@pytest.mark.tf2
def test_the_clock_ends_what_left_the_process_group(tmp_path: Path) -> None:
    report = verify(*scripts(tmp_path, PATIENT), VerifySettings(gpus=1, timeout=15))
    assert "no result after 15 seconds" in report.reason
    assert still_running(noted(tmp_path, 4)) == []


@pytest.mark.one_in(3)
@pytest.mark.tf2
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_everything(tmp_path: Path, sent: signal.Signals) -> None:
    paths = [str(path) for path in scripts(tmp_path, PATIENT)]
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, "-m", "tf_multigpu", "verify", *paths]
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    heard = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731 - a shell's background jobs ignore it
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=heard)
    pids = noted(tmp_path, 4)
    assert all(map(runs, pids))
    process.send_signal(sent)
    _, said = process.communicate(timeout=100)
    assert (process.returncode, said) == (130, "verify: interrupted; the scripts were ended\n")
    assert still_running(pids) == []
    assert list((tmp_path / "temporary").iterdir()) == []


# -- progress --------------------------------------------------------------------------------------


@pytest.mark.tf2
def test_progress_goes_from_the_first_step_to_the_last() -> None:
    heard: list[Progress] = []
    assert verify(DATA / "single.py", DATA / "multi.py", VerifySettings(steps=2), tell=heard.append).verdict == "passed"
    assert [progress.done for progress in heard] == [0, 0, 1, 2, 3, 4, 5, 6]
    assert {progress.total for progress in heard} == {6}
    assert [progress.doing for progress in heard[-4:]] == [
        "step 1 of 2, converted script",
        "step 2 of 2, converted script",
        "step 1 of 2, compared with the original",
        "step 2 of 2, compared with the original",
    ]


def command(*more: str) -> list[str]:
    scripts = [str(DATA / "single.py"), str(DATA / "multi.py")]
    return [sys.executable, "-m", "tf_multigpu", "verify", *scripts, "--steps", "1", *more]


def on_terminal(*more: str) -> str:
    """What a run prints on standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(command(*more), cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while select.select([ours], [], [], 120)[0]:
            said += os.read(ours, 65536)
    except OSError:  # what reading from a terminal without a writer gives on Linux
        pass
    finally:
        os.close(ours)
    assert process.wait(timeout=100) == 0
    return said.decode()


@pytest.mark.tf2
def test_a_terminal_shows_a_bar() -> None:
    said = on_terminal()
    assert "starting TensorFlow" in said
    assert "step 1 of 1, compared with the original" in said


@pytest.mark.one_in(3)
@pytest.mark.tf2
@pytest.mark.parametrize("where", ["a terminal, quietly", "a pipe"])
def test_no_bar_elsewhere(where: str) -> None:
    if where == "a pipe":
        done = subprocess.run(command(), cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert on_terminal("--quiet") == ""
