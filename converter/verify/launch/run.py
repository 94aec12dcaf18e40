"""All tasks of a cluster as processes of this machine: started, shown, ended together."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field

from converter.dataclass import dataclass
from converter.verify.launch.tasks import Task, config_of, gpus, local_hosts, tasks, visible
from converter.verify.processes.family import TOKEN, end, end_marked
from converter.verify.processes.guard import Guard

LOOK = 0.1  # seconds between two looks at the processes
PATIENCE = 60.0  # seconds that other workers have to end after the chief, which ends with the last step
UNHEARD = 5.0  # seconds to read what an ended process has written; another may hold its pipe open
_MASK = ("SIGINT", "SIGTERM", "SIGHUP")

Say = Callable[[str], None]


@dataclass(frozen=True)
class LaunchSettings:
    """What to run.

    words: the command without what a task is told. workers: how many. restarts: how often the cluster is
    started again after a process was killed. deadline: on the clock `time.monotonic`, None for no limit.
    """

    words: tuple[str, ...]
    workers: int
    restarts: int
    deadline: float | None


@dataclass(frozen=True)
class Ending:
    """How one run of the cluster ended: "" and no task where the training is done."""

    why: str = ""
    task: Task | None = None
    killed: bool = False


@dataclass
class ProcessGroup:
    """The processes of one run."""

    token: str
    shown: Say
    said: Say
    running: dict[Task, subprocess.Popen[bytes]] = field(default_factory=dict)
    readers: list[threading.Thread] = field(default_factory=list)

    def start(self, words: Sequence[str], hosts: Sequence[str]) -> None:
        """Starts all tasks."""
        found = gpus()
        width = max(len(task.name) for task in tasks(hosts))
        for task in tasks(hosts):
            told = {"TF_CONFIG": config_of(task, hosts), TOKEN: self.token, "PYTHONUNBUFFERED": "1"}
            process = subprocess.Popen(
                words,
                env={**os.environ, **told, **visible(task, found)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self.running[task] = process
            self.said(f"{task.name} is process {process.pid}")
            reader = threading.Thread(target=self._read, args=(process, task.name.ljust(width)), daemon=True)
            reader.start()
            self.readers.append(reader)

    def _read(self, process: subprocess.Popen[bytes], name: str) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.shown(f"{name} | {line.decode(errors='replace').rstrip()}")

    def close(self) -> None:
        """Ends what still runs, with all that it has started."""
        for process in self.running.values():
            end(process.pid, self.token)
        end_marked([self.token])
        for process in self.running.values():
            process.wait()
        until = time.monotonic() + UNHEARD
        for reader in self.readers:
            reader.join(max(0.0, until - time.monotonic()))


def run(asked: LaunchSettings, shown: Say, said: Say) -> int:
    """Runs the cluster to its end and returns the exit status: 0 done, 1 failed or out of time.

    shown: takes a line that a task has printed. said: takes a line about the cluster.
    """
    guard = Guard()
    try:
        for attempt in range(asked.restarts + 1):
            ending = _once(asked, guard, shown, said)
            if not ending.why:
                return 0
            said(ending.why)
            if not ending.killed:
                break
            left = asked.restarts - attempt
            said(f"all workers start again; {left - 1} more times" if left else "not started again")
    finally:
        guard.close()
    return 1


def _once(asked: LaunchSettings, guard: Guard, shown: Say, said: Say) -> Ending:
    cluster = ProcessGroup(uuid.uuid4().hex, shown, said)
    guard.ends(cluster.token)
    try:
        cluster.start(asked.words, local_hosts(asked.workers))
        return _watched(cluster, asked.deadline, said)
    finally:
        with _undisturbed():
            cluster.close()


def _watched(cluster: ProcessGroup, deadline: float | None, said: Say) -> Ending:
    """Waits until the training is done, a process fails, or the time is up."""
    chief, chief_ended = Task(0), 0.0
    ended: set[Task] = set()
    while True:
        now = {task: process.poll() for task, process in cluster.running.items() if task not in ended}
        over = {task: status for task, status in now.items() if status is not None}
        failed = [task for task, status in over.items() if status]
        if failed:  # one that was killed comes first: the others may have failed because of it
            task = min(failed, key=lambda one: over[one] >= 0)
            return Ending(_ending_of(task, over[task]), task, over[task] < 0)
        ended |= over.keys()
        if chief in over:
            chief_ended = time.monotonic()
        left = [task.name for task in cluster.running if task not in ended]
        if not left:
            return Ending()
        if chief in ended and time.monotonic() - chief_ended > PATIENCE:
            said(f"the chief has ended, {', '.join(left)} not: ended after {PATIENCE:g} seconds")
            return Ending()
        if deadline is not None and time.monotonic() > deadline:
            return Ending(f"the time is up (--timeout) before {', '.join(left)} ended")
        time.sleep(LOOK)


def _ending_of(task: Task, status: int) -> str:
    if status >= 0:
        return f"{task.name} ended with status {status}: the others are ended, too"
    with suppress(ValueError):
        return f"{task.name} was killed by {signal.Signals(-status).name}: the others are ended, too"
    return f"{task.name} was killed by signal {-status}: the others are ended, too"


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Puts off signals that ask to end while processes are ended: a second Ctrl-C would leave some."""
    numbers = [getattr(signal, name) for name in _MASK if hasattr(signal, name)]
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
