"""Whatever a script starts is counted and ended with it, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from converter.verify.processes import family as families
from converter.verify.processes.family import TOKEN, end, family, memory_of_machine, remove

# a child; a child in a session of its own; a daemon: another session, its parent gone
STARTS = """
import os, subprocess, sys, time
sleep = [sys.executable, '-c', 'import time; time.sleep(60)']
pids = [subprocess.Popen(sleep).pid, subprocess.Popen(sleep, start_new_session=True).pid]
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(write, b'%d' % os.getpid())
        time.sleep(60)
    os._exit(0)
os.wait()
pids.append(int(os.read(read, 20)))
print(*pids, flush=True)
time.sleep(60)
"""


def runs(pid: int) -> bool:
    """Whether a process is there and has not ended; one that ended may wait for its parent."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return state[state.rindex(")") + 2] not in "ZX"


@pytest.fixture
def started() -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A leader of a process group with three descendants, and a stranger that must survive."""
    environment = {**os.environ, TOKEN: "of this test"}
    leader = subprocess.Popen(
        [sys.executable, "-c", STARTS], stdout=subprocess.PIPE, env=environment, start_new_session=True, text=True
    )
    assert leader.stdout is not None
    pids = [int(pid) for pid in leader.stdout.readline().split()]
    yield leader, pids
    for pid in [leader.pid, *pids]:
        if runs(pid):
            os.kill(pid, signal.SIGKILL)
    leader.wait()
    leader.stdout.close()


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="tells processes apart by /proc")


def test_a_family_ends_with_its_daemons(started: tuple[subprocess.Popen[str], list[int]]) -> None:
    leader, pids = started
    assert len(pids) == 3 and all(map(runs, pids))
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        end(leader.pid, "of this test")
        assert [pid for pid in [leader.pid, *pids] if runs(pid)] == []
        assert runs(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()


def test_without_the_token_a_daemon_is_not_told(started: tuple[subprocess.Popen[str], list[int]]) -> None:
    leader, pids = started
    assert {p.pid for p in family(leader.pid)} == {leader.pid, *pids[:2]}
    assert {p.pid for p in family(leader.pid, "of this test")} == {leader.pid, *pids}


def test_a_process_whose_parent_is_gone_is_still_of_the_group() -> None:
    script = "import os, time\nif os.fork(): os._exit(0)\ntime.sleep(60)"
    leader = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    leader.wait(timeout=20)
    (orphan,) = family(leader.pid)
    end(leader.pid, "")
    assert not runs(orphan.pid)


def test_memory_is_that_of_the_whole_family() -> None:
    holds = "import os, time; os.fork(); a = bytearray(b'x') * (64 << 20); os.write(1, b'held\\n'); time.sleep(60)"
    leader = subprocess.Popen([sys.executable, "-c", holds], stdout=subprocess.PIPE, start_new_session=True, text=True)
    assert leader.stdout is not None
    try:
        assert [leader.stdout.readline().strip() for _ in range(2)] == ["held", "held"]
        used = sum(process.memory for process in family(leader.pid))
        assert 128 << 20 < used < 400 << 20
    finally:
        end(leader.pid, "")
        leader.wait()
        leader.stdout.close()


def test_what_ps_tells_is_what_proc_tells() -> None:
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        time.sleep(0.5)
        (one,) = (p for p in families._from_proc() if p.pid == sleeper.pid)
        (two,) = (p for p in families._from_ps() if p.pid == sleeper.pid)
        assert (one.parent, one.group) == (two.parent, two.group) == (os.getpid(), sleeper.pid)
        assert one.memory == pytest.approx(two.memory, rel=0.2)
    finally:
        sleeper.kill()
        sleeper.wait()


def test_the_memory_of_the_machine() -> None:
    assert memory_of_machine() > 256 << 20


def test_a_container_may_use_less(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "max").write_text("1073741824\n")
    (tmp_path / "unlimited").write_text("max\n")
    monkeypatch.setattr(families, "_LIMITS", (tmp_path / "unlimited", tmp_path / "max", tmp_path / "absent"))
    assert memory_of_machine() == 1 << 30


DEEP = """
import os
for name in ("a", "b"):
    os.chdir(FOLDER)
    for number in range(500):
        os.mkdir(name * 10); os.chdir(name * 10)
        open("file%d" % (number % 2), "w").close()
        if number % 200 == 0: os.symlink(FOLDER, "link")
"""


@pytest.mark.parametrize("python", ["as it is", "before 3.13"])
def test_folders_without_end_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python: str) -> None:
    folder, beside = tmp_path / "folder", tmp_path / "beside"
    folder.mkdir()
    beside.mkdir()
    (folder / "out").symlink_to(beside)
    (beside / "file").touch()
    subprocess.run([sys.executable, "-c", DEEP.replace("FOLDER", repr(str(folder)))], check=True)
    if python != "as it is":
        whole = families.shutil.rmtree

        def rmtree(path: str, ignore_errors: bool) -> None:
            folders = [entry.is_dir(follow_symlinks=False) for entry in os.scandir(path)]
            if any(folders):
                raise RecursionError
            whole(path, ignore_errors=ignore_errors)

        monkeypatch.setattr(families.shutil, "rmtree", rmtree)
    remove(str(folder))
    assert not folder.exists() and (beside / "file").exists()


def test_the_guard_starts_without_the_tool() -> None:
    """It is a program of its own, in an interpreter that finds neither the tool nor what is installed."""
    words = [sys.executable, "-I", "-S", families.__file__]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
