"""What a script's process says reaches the one who waits for it."""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from converter.verify.processes import child_process, interpreters
from converter.verify.processes.child_process import GIB, LOOK, Child, Limits, MemoryIsUp, TimeIsUp, memory_taken
from converter.verify.processes.interpreters import Interpreters

# Says one thing and ends; what it has forked keeps the line open.
SAYS_ONE_THING = """
import os, time
if os.fork() == 0:
    time.sleep(60)
print('{"event": "done"}', flush=True)
os._exit(0)
"""
OF_ITS_OWN = {"PYTHONPATH": "here"}  # a relative path, for which no server forks scripts


def test_what_an_ended_process_has_said_is_read_before_it_counts_as_gone(
    tmp_path: Path, pool: Interpreters, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe, listen = tmp_path / "probe.py", child_process._listen
    probe.write_text(SAYS_ONE_THING)
    monkeypatch.setattr(interpreters, "PROBE", probe)

    def listens_late(*arguments: Any) -> None:
        time.sleep(6 * child_process.LOOK)
        listen(*arguments)

    monkeypatch.setattr(child_process, "_listen", listens_late)
    job = {
        "role": "record",
        "title": "the script",
        "work": str(tmp_path),
        "script": str(tmp_path / "script.py"),
        "log": str(tmp_path / "log"),
    }
    with Child(pool, sys.executable, job, OF_ITS_OWN, Limits(time.monotonic() + 60)) as child:
        assert child.alone
        assert child.event() == {"event": "done"}
        assert child.event() == {"event": "died", "status": 0}


@pytest.fixture
def pool() -> Any:
    with Interpreters() as made:
        yield made


def test_nothing_counts_as_read_before_it_was_told() -> None:
    reading, writing = os.pipe()
    line, began, heard = interpreters.Line(os.fdopen(reading, "rb")), threading.Event(), list[bytes]()

    def told(said: bytes) -> None:
        began.set()
        time.sleep(0.3)  # the thread waits for the processor
        heard.append(said)

    listener = threading.Thread(target=line.tell, args=(told,))
    listener.start()
    os.write(writing, b"one\ntwo\n")
    assert began.wait(5)
    assert not line.unread() and heard == [b"one", b"two"]
    os.close(writing)
    listener.join(5)
    assert not listener.is_alive() and line.unread()
    line.close()


def test_a_reader_ends_when_its_line_is_closed() -> None:
    reading, writing = os.pipe()
    line = interpreters.Line(os.fdopen(reading, "rb"))
    listener = threading.Thread(target=line.tell, args=(list[bytes]().append,))
    listener.start()
    line.close()
    listener.join(5 * interpreters.WAKE)
    assert not listener.is_alive()
    os.close(writing)


def test_a_process_that_gets_the_number_of_an_ended_one_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(interpreters.PROBE.parent))
    from tmgprobe.process import server as servers

    monkeypatch.setattr(servers, "_forked", lambda: 7)
    monkeypatch.setattr(servers.system, "end_children", lambda: None)
    line = tmp_path / "line"
    os.mkfifo(line)
    held = os.open(line, os.O_RDWR)
    server = servers._Server(None, None, None)
    request = {"imports": [], "token": "a", "commands": str(line), "events": str(line)}
    assert server._fork(request) == 7
    monkeypatch.setattr(os, "waitpid", lambda pid, how: (pid, 0))
    assert server._status(7) == 0 and server._status(7) == 0
    assert server._fork(request) == 7
    monkeypatch.setattr(os, "waitpid", lambda pid, how: (0, 0))
    assert server._status(7) is None
    os.close(held)


def test_memory_is_looked_at_now_and_then_however_often_somebody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    now, used = [100.0], [1]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    looks: list[float] = []

    def look(limits: Limits) -> int:
        looks.append(now[0])
        return used[0]

    monkeypatch.setattr(Limits, "_used", look)
    limits = Limits(deadline=101.0, memory=10)
    assert limits.wait() == LOOK
    now[0] += LOOK / 2
    assert (limits.wait(), limits.wait()) == (LOOK / 2, LOOK / 2) and looks == [100.0]
    now[0], used[0] = 100.0 + LOOK, 11
    for _ in range(2):  # each of those who wait is told
        with pytest.raises(MemoryIsUp):
            limits.wait()
    now[0], used[0] = 100.9, 10
    assert limits.wait() == pytest.approx(0.1)  # the deadline comes first
    now[0] = 101.0
    with pytest.raises(TimeIsUp):
        limits.wait()
    assert looks == [100.0, 100.25, 100.25, 100.9]
    assert Limits(deadline=102.0).wait() == LOOK and len(looks) == 4
    assert limits.most == 11 and memory_taken(Limits(deadline=102.0)) == ""  # without a limit nobody looks
    now[0], used[0] = 100.0, 3 * GIB // 2
    limits = Limits(deadline=101.0, memory=2 * GIB)
    limits.wait()
    assert memory_taken(limits) == "at most 1.5 GiB of memory in all processes (2 GiB allowed)"


def test_what_is_no_event_is_passed_over() -> None:
    class Told:
        def tell(self, told: Callable[[bytes], None]) -> None:
            for line in (b"42", b"[1]", b'{"event": 1}', b"{}", b"no JSON", b"\xff", b'{"event": "ended"}'):
                told(line)

    events: queue.Queue[dict[str, Any] | None] = queue.Queue()
    child_process._listen(cast(Any, Told()), events)
    assert [events.get_nowait() for _ in range(events.qsize())] == [{"event": "ended"}, None]
