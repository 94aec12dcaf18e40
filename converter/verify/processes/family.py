"""The processes that a script has started: finds them, measures their memory, ends them.

They are recognised by descent, by process group and session, and by a variable that they inherit in their
environment: a daemon leaves all but the last behind. Run as a program, this file is the guard of another
process (see guard.py); so it imports nothing of the tool.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TOKEN = "TF_MULTIGPU_VERIFY"  # the variable; its value is the child's own
_PROC = Path("/proc")
_LIMITS = (  # of a container: cgroup 2, cgroup 1
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


@dataclass(frozen=True)
class Process:
    """A running process; session and start are 0 where the system does not say.

    start: when it began, in the system's ticks: with it a number that was given to another process meanwhile is told.
    """

    pid: int
    parent: int
    group: int
    session: int
    memory: int  # bytes that are resident
    start: int = 0

    @property
    def name(self) -> tuple[int, int]:
        """An identity that no other process ever has."""
        return self.pid, self.start


def memory_of_machine() -> int:
    """Bytes of memory that this machine has, or this container may use; 0 where neither can be told."""
    sizes = []
    with suppress(ValueError, OSError, AttributeError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in _LIMITS:
        with suppress(OSError, ValueError):
            sizes.append(int(path.read_text()))
    return min((size for size in sizes if size > 0), default=0)


def family(
    leader: int, token: str = "", known: Iterable[tuple[int, int]] = (), running: Sequence[Process] | None = None
) -> list[Process]:
    """The leader of a process group, its descendants, and whatever carries the token; none that has ended.

    known: names of processes that belong to it, whatever has become of their parents.
    running: the processes of this machine, as `all_running` gives them; None looks for them now.
    """
    named = frozenset(known)
    return _with_descendants(
        lambda p: leader in (p.pid, p.group, p.session) or p.name in named or bool(token) and _carries(p.pid, (token,)),
        running,
    )


def all_running() -> list[Process]:
    """All processes of this machine that have not ended. To look for them takes as long as there are many."""
    return list(_from_proc() if (_PROC / "self/stat").exists() else _from_ps())


def _with_descendants(is_one: Callable[[Process], bool], among: Sequence[Process] | None = None) -> list[Process]:
    """The given processes that still run, and all that they have started."""
    running = all_running() if among is None else among
    found = {p.pid: p for p in running if is_one(p)}
    grown = True
    while grown:
        more = {p.pid: p for p in running if p.parent in found and p.pid not in found}
        found.update(more)
        grown = bool(more)
    return list(found.values())


def end(leader: int, token: str, known: Iterable[tuple[int, int]] = ()) -> None:
    """Kills a family, and again until none of it is left: a process may start another meanwhile.

    All are looked for before the first is killed: a daemon without the token is told by its parent only.
    """
    names = {*known, *(process.name for process in family(leader, token, known))}
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    _kill(lambda: family(leader, token, names))


def end_marked(tokens: Iterable[str]) -> None:
    """Kills all processes that carry one of the tokens, with all that they have started."""
    marks = tuple(tokens)
    names = {process.name for process in _with_descendants(lambda p: _carries(p.pid, marks))} if marks else set()
    if names:
        _kill(lambda: _with_descendants(lambda p: p.name in names or _carries(p.pid, marks)))


def _kill(left: Callable[[], list[Process]]) -> None:
    for _ in range(100):
        running = left()
        if not running:
            return
        for process in running:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.02)


def resident(pid: int, running: Sequence[Process] | None = None) -> int:
    """Bytes of memory that a process holds, with what it shares with others; 0 where that cannot be told."""
    among = all_running() if running is None else running
    return next((process.memory for process in among if process.pid == pid), 0)


def unshared(pid: int) -> int:
    """Bytes that a process holds and no other one; where that cannot be told, all that it holds."""
    try:
        text = (_PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return resident(pid)
    rows = (line.split() for line in text.splitlines() if line.startswith("Private_"))
    return sum(int(row[1]) * 1024 for row in rows)


def _carries(pid: int, tokens: Iterable[str]) -> bool:
    try:
        held = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:  # gone, another user's, or a system without /proc
        return False
    return any(f"{TOKEN}={token}".encode() in held for token in tokens)


def _from_proc() -> Iterator[Process]:
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in os.listdir(_PROC):
        if not entry.isdigit():
            continue
        try:
            text = _stat(entry)
        except OSError:
            continue
        # the name, in parentheses, may hold anything; proc(5) counts the state behind it as field 3
        state, parent, group, session, *rest = text[text.rindex(b")") + 1 :].split(maxsplit=22)
        if state not in b"ZX":
            memory, start = int(rest[17]) * page, int(rest[15])
            yield Process(
                pid=int(entry), parent=int(parent), group=int(group), session=int(session), memory=memory, start=start
            )


def _stat(entry: str) -> bytes:
    """What the system says of a process, by few calls: all processes are asked again and again."""
    file = os.open(f"{_PROC}/{entry}/stat", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


def _from_ps() -> Iterator[Process]:
    """The same as POSIX's ps tells, resident memory in units of 1024 bytes (as on macOS and the BSDs)."""
    columns = "pid=,ppid=,pgid=,rss=,stat="
    try:
        done = subprocess.run(["ps", "-A", "-o", columns], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return
    for line in done.stdout.splitlines():
        pid, parent, group, memory, state, *_ = line.split()
        if not state.startswith("Z"):
            yield Process(int(pid), int(parent), int(group), 0, int(memory) * 1024)


def remove(folder: str) -> None:
    """Removes a folder with all that is in it, however deep: before Python 3.13 shutil.rmtree calls itself."""
    try:
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        with suppress(OSError):
            _flatten(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _flatten(folder: str) -> None:
    """Moves what lies in folders of this folder into it, and removes these, until there is none.

    No path gets longer by that, so that folders are found whose own path would be longer than the system takes.
    """
    number, mark = 0, os.urandom(8).hex()
    while inner := [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]:
        for path in inner:
            for entry in list(os.scandir(path)):
                number += 1
                os.rename(entry.path, os.path.join(folder, f"{mark}.{number}"))
            os.rmdir(path)


def _guard() -> None:
    """Reads what to end and to remove, and does both if the writer disappears without saying that all is done."""
    for number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
        signal.signal(number, signal.SIG_IGN)
    tokens: list[str] = []
    paths: dict[str, None] = {}
    for line in sys.stdin:
        word, what = json.loads(line)
        if word == "done":
            return
        if word == "token":
            tokens.append(what)
        elif word == "path":
            paths[what] = None
        else:
            paths.pop(what, None)
    end_marked(tokens)
    for path in paths:
        remove(path)
        with suppress(OSError):
            os.unlink(path)


if __name__ == "__main__":
    _guard()
