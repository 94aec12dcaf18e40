"""What a script's process says reaches the one who waits for it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from converter.verify.processes import child_process, interpreters
from converter.verify.processes.child_process import Child, Limits
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
