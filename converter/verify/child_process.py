"""The processes in which the scripts run."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROBE = Path(__file__).parent / "child" / "probe.py"
Event = dict[str, Any]


class TimeIsUp(Exception):
    """A child did not answer before the deadline."""


class Child:
    """One script under watch, in a process group of its own; use as a context manager.

    job: what `child/probe.py` takes, see there.
    deadline: on the clock `time.monotonic`.
    """

    def __init__(
        self, python: str, job: Mapping[str, Any], environment: Mapping[str, str], deadline: float
    ) -> None:
        path = Path(job["work"]) / f"{job['role']}.json"
        path.write_text(json.dumps(dict(job)), encoding="utf-8")
        self.role: str = job["role"]
        self.log = Path(job["log"])
        self._deadline = deadline
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._process = subprocess.Popen(
            [python, str(PROBE), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            cwd=Path(job["script"]).parent,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                self._events.put(json.loads(line))
        self._events.put(None)

    def event(self) -> Event:
        """The next event; {"event": "died"} when the process is gone without one."""
        try:
            event = self._events.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty:
            raise TimeIsUp from None
        if event is None:
            return {"event": "died", "status": self._process.wait()}
        return event

    def send(self, **command: Any) -> None:
        """Sends a command; a process that is gone says so itself."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            self._process.stdin.flush()

    def tail(self, lines: int = 20) -> str:
        """The last lines that the script printed."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the process and whatever its script started, by their own process group."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        elif self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def environment(gpus: int) -> dict[str, str]:
    """The environment for a script: no display, no GPU of this machine, quiet and reproducible."""
    result = dict(os.environ)
    result.pop("DISPLAY", None)
    result.pop("TF2_BEHAVIOR", None)  # TensorFlow 2 leaves it behind; TensorFlow 1 would start eagerly with it
    result.update(
        MPLBACKEND="Agg",
        TF_CPP_MIN_LOG_LEVEL="2",
        TF_ENABLE_ONEDNN_OPTS="0",
        TF_USE_LEGACY_KERAS="1",
        PYTHONHASHSEED="0",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONIOENCODING="utf-8",
        CUDA_VISIBLE_DEVICES=",".join(str(gpu) for gpu in range(gpus)),
    )
    return result
