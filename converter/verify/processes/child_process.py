"""The processes in which the scripts run."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from converter.dataclass import dataclass
from converter.verify.processes.family import TOKEN, Process, all_running, end, family
from converter.verify.processes.interpreters import Alone, Forked, Interpreters, Line, Server, Unfit
from converter.verify.processes.libraries import shared_by
from converter.verify.processes.machine import CPU, Devices
from converter.verify.processes.output import Output

Event = dict[str, Any]


GIB = 2**30
LOOK = 0.25  # seconds between two looks at the memory
_ON_THE_WAY = ("step", "stood")  # events that nobody waits for
_AT_TRAINING = ("ready", "ran", "recorded", "replayed", "step")
START = 60.0  # seconds for a forked process to say that it has started, which takes a tenth of one


class TimeIsUp(Exception):
    """A child did not answer before the deadline."""


class MemoryIsUp(Exception):
    """The children take more memory than allowed; the exception holds how much, in bytes."""

    def __init__(self, used: int) -> None:
        super().__init__(f"{used / GIB:.1f} GiB")
        self.used = used


@dataclass
class Limits:
    """What all children of a verification may take together.

    deadline: on the clock `time.monotonic`. memory: bytes; 0 is any amount, which is not looked at.
    most: the largest of the sums over all processes that were seen, in bytes.
    """

    deadline: float
    memory: int = 0
    most: int = field(default=0, init=False)
    children: list[Child] = field(default_factory=list)
    _next: float = field(default=0.0, init=False)  # when to look at the memory: each look reads all processes

    def wait(self) -> float:
        """Seconds until the next look; raises TimeIsUp or MemoryIsUp."""
        now = time.monotonic()
        left = self.deadline - now
        if left <= 0:
            raise TimeIsUp
        if self.memory and now >= self._next:
            used = self._used()
            self.most = max(self.most, used)
            if used > self.memory:
                raise MemoryIsUp(used)
            self._next = now + LOOK
        return min(left, self._next - now if self.memory else LOOK)

    def _used(self) -> int:
        """Bytes in use: what each script holds, shared or not, and what the processes that forked them hold alone."""
        running = all_running()
        used = sum(child.memory(running) for child in self.children)
        servers = {child.server for child in self.children if child.server}
        if used + sum(server.resident(running) for server in servers) <= self.memory:
            return used  # looking up shared memory takes longer
        return used + sum(server.unshared() for server in servers)


class Child:
    """One script under watch, in a process group of its own; use as a context manager.

    pool: where the processes come from. job: what `child/tmgprobe/process/job.py` takes, see there; title: what to call
        the script in messages.
    limits: shared with the other children.
    on_step: called with the number of each step that the script has taken.

    server: what has forked its process; None for a process that imports TensorFlow itself, because of `alone`.
    steps: the training steps that it has told of.
    place: `file:line` where it stood shortly before the time was up, "" where that is not known.
    outside: what it did outside of its folder, as its last event tells; None before that.
    failed: whether it has ended with an error.
    """

    def __init__(
        self,
        pool: Interpreters,
        python: str,
        job: Mapping[str, Any],
        environment: Mapping[str, str],
        limits: Limits,
        on_step: Callable[[str, int], None] | None = None,
    ) -> None:
        self._job = Path(job["work"]) / f"{job['role']}.json"
        until = time.time() + limits.deadline - time.monotonic()
        self._job.write_text(json.dumps({**job, "until": until}), encoding="utf-8")
        self._folder = Path(job["script"]).parent
        self._log = Path(job["log"])
        self._imports = shared_by(Path(job["script"]))
        self.record = Path(job.get("record", ""))
        self.role: str = job["role"]
        self.title: str = job["title"]
        self.server: Server | None = None
        self.alone = ""
        self.outside: Event | None = None
        self.steps = 0
        self.place = ""
        self.failed = False
        self._has_come = False  # to its first training step
        self._pool, self._python, self._limits, self._on_step = pool, python, limits, on_step
        self._token = uuid.uuid4().hex
        temporary = Path(job["work"]) / f"{job['role']}-tmp"  # removed with the job's folder
        temporary.mkdir(exist_ok=True)
        self._environment = {**environment, TOKEN: self._token, "TMPDIR": str(temporary)}
        self._running: Alone | Forked | None = None
        self._seen: set[tuple[int, int]] = set()  # all processes that were ever seen to belong to the script
        self._output: Output | None = None
        pool.guard.ends(self._token)
        limits.children.append(self)
        try:
            self._begin()
        except BaseException:
            self._end()
            raise

    def _begin(self) -> None:
        """Starts the process: forked where a server can, else by itself."""
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._started, self._since, self._over = False, time.monotonic(), False
        self._output = Output(self._log)
        plain = self.role.startswith("strategy")
        while isinstance(found := self._pool.server(self._python, self._environment, plain=plain), Server):
            self.server, self.alone = found, ""
            why = found.why_not(self._limits)
            if found.failure is not None:
                self._events.put(found.failure)
                return
            try:
                if why:
                    raise Unfit(why)
                self._listen_to(Forked(found, self._job, self._environment, self._imports))
                return
            except Unfit as problem:
                self._leave_server(str(problem))
        self.alone = found
        self._listen_to(Alone(self._python, self._job, self._environment, self._folder))

    def _leave_server(self, why: str) -> None:
        """From now on another server forks the scripts of this interpreter, or none."""
        assert self.server is not None
        self._pool.leave(self.server, self._python, self._environment, why)
        self._pool.release(self.server)
        self.server, self.alone = None, why

    def _listen_to(self, running: Alone | Forked) -> None:
        self._running, self._since = running, time.monotonic()
        threading.Thread(target=_listen, args=(running.output, self._events), daemon=True).start()

    def event(self, patience: float | None = None) -> Event:
        """The next event but steps; {"event": "died"} when the process is gone without one.

        patience: seconds until the answer is {"event": "late"}; None waits as long as the limits allow.
        """
        until = time.monotonic() + patience if patience is not None else None
        while True:
            if until is not None and time.monotonic() > until:
                return {"event": "late", "seconds": time.monotonic() - self._since}
            try:
                event = self._events.get(timeout=self._limits.wait())
            except queue.Empty:
                if self._is_stuck():
                    self._again("a forked process does not start")
                if not self._is_over():
                    continue
                event = None
            if event is None and self.server and not self._started:
                self._again("a forked process ended before it started")
                continue
            if event is None:
                return {"event": "died", "status": self._status()}
            self._note(event)
            if event["event"] not in _ON_THE_WAY:
                return event
            if self._on_step and event["event"] == "step":
                self._on_step(self.role, event["number"])

    def _note(self, event: Event) -> None:
        """Keeps what an event says about the script."""
        self._started = True
        self.outside = event.get("outside", self.outside)
        self.failed = event["event"] == "ended" and bool(event["message"])
        self._has_come |= event["event"] in _AT_TRAINING
        if event["event"] == "step":
            self.steps = event["number"]
        elif event["event"] == "stood":
            self.place = event["place"]

    def stood(self) -> str:
        """Where the script stood when the time was up, in words."""
        with contextlib.suppress(queue.Empty):
            while event := self._events.get_nowait():
                self._note(event)
        at = f", at {self.place}" if self.place else ""
        if self.steps:
            return f"{self.title} had taken {self.steps} training {'step' if self.steps == 1 else 'steps'}{at}"
        return f"{self.title} had {'' if self._has_come else 'not '}come to its first training step{at}"

    def _is_over(self) -> bool:
        """True if the process had ended at the previous look too, and all that it wrote was read.

        The end of its pipe is not waited for: processes that it forked may keep the pipe open for ever.
        """
        running, before = self._running, self._over
        self._over = running is not None and running.status() is not None and not running.output.unread()
        return before and self._over

    def _is_stuck(self) -> bool:
        return bool(self.server) and not self._started and time.monotonic() - self._since > START

    def _again(self, why: str) -> None:
        """Starts the process once more, without this server."""
        self._stop()
        self._leave_server(why)
        self._begin()

    def _status(self) -> int | None:
        """The exit status of a process that has closed its pipe; it may take a while to end."""
        assert self._running is not None
        while True:
            status = self._running.status()
            if status is not None:
                return status
            time.sleep(min(0.01, self._limits.wait()))

    def memory(self, running: Sequence[Process]) -> int:
        """Bytes that the script and all it has started take, with what they share with each other and the server.

        running: the processes of this machine.
        """
        if self._running is None:
            return 0
        found = family(self._running.pid, "", self._seen, running)
        self._seen |= {process.name for process in found}
        return sum(process.memory for process in found)

    def send(self, **command: Any) -> None:
        """Sends a command; if the process is gone, the next event says so."""
        assert self._running is not None
        with contextlib.suppress(BrokenPipeError):
            self._running.write(json.dumps(command).encode() + b"\n")

    def tail(self) -> str:
        """The last lines that the script printed."""
        return "\n".join(self._output.text().splitlines()[-20:]) if self._output else ""

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the process and whatever its script started."""
        self._end()

    def _end(self) -> None:
        self._stop()
        if self.server:
            self._pool.release(self.server)
            self.server = None

    def _stop(self) -> None:
        running, self._running = self._running, None
        if running:
            if hasattr(os, "killpg"):
                end(running.pid, self._token, self._seen)
            running.close()
        if self._output:
            self._output.close()


def _listen(output: Line, events: queue.Queue[Event | None]) -> None:
    def told(line: bytes) -> None:
        with contextlib.suppress(ValueError):
            event = json.loads(line)
            if isinstance(event, dict) and isinstance(event.get("event"), str):  # else the script has written it
                events.put(event)

    output.tell(told)
    events.put(None)


def how_started(children: Iterable[Child]) -> str:
    """Whether TensorFlow was imported once for these scripts; for the report."""
    why = next((child.alone for child in children if child.alone), "")
    return f"TensorFlow imported by each script ({why})" if why else "TensorFlow imported once for all scripts"


def memory_taken(limits: Limits) -> str:
    """The most memory that was seen in use, and how much was allowed; for the report."""
    taken, allowed = (f"{size / GIB:.2g} GiB" for size in (limits.most, limits.memory))
    return f"at most {taken} of memory in all processes ({allowed} allowed)" if limits.most else ""


def environment(gpus: int, devices: Devices = CPU) -> dict[str, str]:
    """The environment for a script: no display, quiet, reproducible; of this machine's GPUs those of `devices`."""
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
        FEWER_GPUS="allow",  # towers are on virtual devices
        CUDA_VISIBLE_DEVICES=",".join(str(gpu) for gpu in range(gpus)),
    )
    result.update(devices.environment)
    return result
