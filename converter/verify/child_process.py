"""The processes in which the scripts run."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from converter.verify.family import TOKEN, end, family

PROBE = Path(__file__).parent / "child" / "probe.py"
Event = dict[str, Any]


GIB = 2**30
LOOK = 0.25  # seconds between two looks at the memory


class TimeIsUp(Exception):
    """A child did not answer before the deadline."""


class MemoryIsUp(Exception):
    """The children take more memory than they may; holds how much, in bytes."""

    def __init__(self, used: int) -> None:
        super().__init__(f"{used / GIB:.1f} GiB")
        self.used = used


@dataclass
class Limits:
    """What all children of a verification may take together.

    deadline: on the clock `time.monotonic`. memory: bytes; 0 is any amount.
    """

    deadline: float
    memory: int = 0
    children: list[Child] = field(default_factory=list)

    def wait(self) -> float:
        """Seconds until the next look; raises TimeIsUp or MemoryIsUp."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeIsUp
        if self.memory:
            used = sum(child.memory() for child in self.children)
            if used > self.memory:
                raise MemoryIsUp(used)
        return min(left, LOOK)


class Child:
    """One script under watch, in a process group of its own; use as a context manager.

    job: what `child/probe.py` takes, see there; title: what to call the script in messages.
    limits: shared with the other children.
    on_step: called with the number of each step that the script has taken.
    """

    def __init__(
        self,
        python: str,
        job: Mapping[str, Any],
        environment: Mapping[str, str],
        limits: Limits,
        on_step: Callable[[str, int], None] | None = None,
    ) -> None:
        path = Path(job["work"]) / f"{job['role']}.json"
        path.write_text(json.dumps(dict(job)), encoding="utf-8")
        self.role: str = job["role"]
        self.title: str = job["title"]
        self.log = Path(job["log"])
        self._limits, self._on_step = limits, on_step
        self._token = uuid.uuid4().hex
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._process = subprocess.Popen(
            [python, str(PROBE), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, TOKEN: self._token},
            cwd=Path(job["script"]).parent,
            start_new_session=True,
        )
        limits.children.append(self)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                self._events.put(json.loads(line))
        self._events.put(None)

    def event(self) -> Event:
        """The next event but steps; {"event": "died"} when the process is gone without one."""
        while True:
            try:
                event = self._events.get(timeout=self._limits.wait())
            except queue.Empty:
                continue
            if event is None:
                return {"event": "died", "status": self._process.wait()}
            if event["event"] != "step":
                return event
            if self._on_step:
                self._on_step(self.role, event["number"])

    def memory(self) -> int:
        """Bytes that the script and all it has started take."""
        return sum(process.memory for process in family(self._process.pid))

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
        """Ends the process and whatever its script started."""
        if hasattr(os, "killpg"):
            end(self._process.pid, self._token)
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
