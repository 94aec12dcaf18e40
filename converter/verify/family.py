"""The processes that a script has started: what they take, and their end.

They are told by descent, by process group and session, and by a variable that they inherit in their
environment: a daemon leaves all but the last behind.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
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
    """A running process; session is 0 where the system does not say."""

    pid: int
    parent: int
    group: int
    session: int
    memory: int  # bytes that are resident


def memory_of_machine() -> int:
    """Bytes of memory that this machine has, or this container may use; 0 where neither can be told."""
    sizes = []
    with suppress(ValueError, OSError, AttributeError):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in _LIMITS:
        with suppress(OSError, ValueError):
            sizes.append(int(path.read_text()))
    return min((size for size in sizes if size > 0), default=0)


def family(leader: int, token: str = "") -> list[Process]:
    """The leader of a process group, its descendants, and whatever carries the token; none that has ended."""
    running = list(_processes())
    found = {p.pid: p for p in running if leader in (p.pid, p.group, p.session) or _carries(p.pid, token)}
    grown = True
    while grown:
        more = {p.pid: p for p in running if p.parent in found and p.pid not in found}
        found.update(more)
        grown = bool(more)
    return list(found.values())


def end(leader: int, token: str) -> None:
    """Kills a family, and again until none of it is left: a process may start another meanwhile."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    for _ in range(100):
        left = family(leader, token)
        if not left:
            return
        for process in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.02)


def resident(pid: int) -> int:
    """Bytes of memory that a process holds, with what it shares with others; 0 where that cannot be told."""
    return next((process.memory for process in _processes() if process.pid == pid), 0)


def unshared(pid: int) -> int:
    """Bytes that a process holds and no other one; where that cannot be told, all that it holds."""
    try:
        text = (_PROC / str(pid) / "smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return resident(pid)
    rows = (line.split() for line in text.splitlines() if line.startswith("Private_"))
    return sum(int(row[1]) * 1024 for row in rows)


def _carries(pid: int, token: str) -> bool:
    if not token:
        return False
    try:
        return f"{TOKEN}={token}".encode() in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:  # gone, another user's, or a system without /proc
        return False


def _processes() -> Iterator[Process]:
    return _from_proc() if (_PROC / "self/stat").exists() else _from_ps()


def _from_proc() -> Iterator[Process]:
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in os.listdir(_PROC):
        if not entry.isdigit():
            continue
        try:
            text = (_PROC / entry / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # the name, in parentheses, may hold anything; proc(5) counts the state behind it as field 3
        state, parent, group, session, *rest = text[text.rindex(")") + 1 :].split()
        if state not in "ZX":
            yield Process(int(entry), int(parent), int(group), int(session), int(rest[17]) * page)


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
