"""Processes that have imported TensorFlow, each of which forks one for every script that it is asked to run."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from converter.verify.processes.family import TOKEN, Process, end, resident, unshared
from converter.verify.processes.guard import Guard

PROBE = Path(__file__).parent.parent / "child" / "probe.py"
ANSWER = 60.0  # seconds for a server's answer, which takes milliseconds
WAKE = 0.5  # seconds after which a reader looks whether its end was closed
PIECE = 2**16  # bytes
KEPT = 4  # servers, each with another interpreter or environment
LOST = 3  # servers that are started anew where a script has ended one
Answer = dict[str, Any]
Told = Callable[[bytes], None]
Key = tuple[str, frozenset[tuple[str, str]], bool]

# Variables that nothing reads while TensorFlow is imported: they may differ among the scripts of one server.
LATE = frozenset({"CUDA_VISIBLE_DEVICES", TOKEN, "TF_CONFIG", "PWD", "OLDPWD", "SHLVL", "TMPDIR", "_"})


class Unfit(Exception):
    """A server does not serve; the message says why."""


class Waiting(Protocol):
    """What bounds the time that is spent on waiting."""

    def wait(self) -> float:
        """Seconds until the next look; raises when the time or the memory is up."""
        ...


def _probe(python: str, words: Iterable[str], environment: Mapping[str, str], folder: Path) -> subprocess.Popen[bytes]:
    """The process of a probe, with pipes for its line."""
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    return subprocess.Popen(
        [python, str(PROBE), *words],
        stdin=pipe,
        stdout=pipe,
        stderr=nothing,
        env=environment,
        cwd=folder,
        start_new_session=True,
    )


class Server:
    """One process that has imported TensorFlow (child/tmgprobe/process/server.py).

    plain: whether its TensorFlow stays as it is, for scripts that train under a strategy; else it answers as 1.x.
    failure: the answer of an interpreter that has no TensorFlow, as a script's own process would give it.
    """

    def __init__(
        self,
        python: str,
        environment: Mapping[str, str],
        imports: Iterable[str] = (),
        guard: Guard | None = None,
        plain: bool = False,
    ) -> None:
        self.failure: Answer | None = None
        self.users = 0  # scripts that it has forked and that were not ended yet
        self._why: str | None = None  # "" when it is ready, else why it does not serve
        self._ready = False  # or was
        self._token, self._number, self._lock = uuid.uuid4().hex, 0, threading.RLock()
        self._given = {**environment, TOKEN: self._token}
        if guard:
            guard.ends(self._token)
        self._answers: queue.Queue[Answer | None] = queue.Queue()
        words = ["--serve-plain" if plain else "--serve", *imports]
        self._process = _probe(python, words, self._given, PROBE.parent)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with contextlib.suppress(ValueError):
                self._answers.put(json.loads(line))
        self._answers.put(None)

    def why_not(self, limits: Waiting) -> str:
        """Why it does not serve, "" if it does; waits until that is known."""
        with self._lock:
            while self._why is None:
                try:
                    answer = self._answers.get(timeout=limits.wait())
                except queue.Empty:
                    continue
                if answer is None:
                    self.unfit("the process that imports TensorFlow ended")
                elif answer["event"] == "ready":
                    self._why, self._ready = "", True
                elif answer["event"] == "no tensorflow":
                    self.failure, self._why = answer, "no TensorFlow"
                else:
                    self.unfit(answer["why"])
            return self._why or ""

    def is_lost(self) -> bool:
        """Whether it has ended though it was ready: a script may have done that."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # its line is closed a moment before
        return self._ready and self._process.poll() is not None

    def unfit(self, why: str) -> None:
        """Marks the server as unusable."""
        self._why = why

    def _ask(self, **request: Any) -> Answer:
        with self._lock:
            self._number += 1
            assert self._process.stdin is not None
            try:
                self._process.stdin.write(json.dumps({"number": self._number, **request}).encode() + b"\n")
                self._process.stdin.flush()
                until = time.monotonic() + ANSWER
                while True:
                    answer = self._answers.get(timeout=max(0.0, until - time.monotonic()))
                    if answer is None:
                        break
                    if answer.get("number") == self._number:  # else nobody waits for it any more
                        return answer
            except (OSError, queue.Empty):
                pass
            self.unfit("the process that imports TensorFlow does not answer")
            raise Unfit(self._why)

    def fork(
        self, job: Path, environment: Mapping[str, str], commands: Path, events: Path, imports: Iterable[str] = ()
    ) -> int:
        """The number of a new process that runs a job; raises Unfit.

        imports: modules that the server imports before, if it has not yet, and that the process finds imported.
        """
        where = {"job": _latin(str(job)), "commands": _latin(str(commands)), "events": _latin(str(events))}
        settled = {"environment": _latins(environment), "given": _latins(self._given)}
        pid = self._ask(fork={**where, **settled, "token": environment[TOKEN], "imports": [*imports]})["pid"]
        if pid is None:
            raise Unfit("the process that imports TensorFlow cannot fork")
        return int(pid)

    def status(self, pid: int) -> int | None:
        """How a process that it has forked ended, None while that runs; raises Unfit."""
        status: int | None = self._ask(status=pid)["status"]
        return status

    def resident(self, running: Sequence[Process] | None = None) -> int:
        """Bytes that it holds, with what it shares with the scripts' processes."""
        return resident(self._process.pid, running)

    def unshared(self) -> int:
        """Bytes that it alone holds."""
        return unshared(self._process.pid)

    def close(self) -> None:
        """Ends it, and what it has forked."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5 if self._why == "" else 0.1)
        if self._process.poll() is None:
            end(self._process.pid, self._token)
            self._process.kill()
        self._process.wait()
        self._process.stdout.close()


class Interpreters:
    """Servers for the scripts of many verifications; use as a context manager. May be used by several threads.

    A server is kept for each interpreter and environment in which a script is to run, and imports TensorFlow once. It
    keeps nothing of any script: what it forks is thrown away.

    late: names of variables that may differ among the scripts of one server, besides those of LATE.
    imports: modules that scripts are to find imported beside TensorFlow, where the interpreter has them. It saves their
        time where most scripts import them.

    guard: ends all of it when this process is killed.
    """

    def __init__(self, late: Iterable[str] = (), imports: Iterable[str] = ()) -> None:
        self.guard = Guard()
        self._late, self._imports = LATE | set(late), tuple(imports)
        self._servers: dict[Key, Server] = {}
        self._alone: dict[Key, str] = {}  # {what cannot be forked: why}
        self._lost: list[Server] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Interpreters:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all servers."""
        with self._lock:
            servers, self._servers, self._lost = [*self._servers.values(), *self._lost], {}, []
        for server in servers:
            server.close()
        self.guard.close()

    def server(self, python: str, environment: Mapping[str, str], plain: bool = False) -> Server | str:
        """The server for an interpreter and an environment, maybe one that still imports; or why there is none.

        plain: whether its TensorFlow stays as it is.
        """
        key = (python, self._settled(environment), plain)
        with self._lock:
            why = self._alone.get(key) or _why_alone(environment)
            if why:
                return why
            server = self._servers.pop(key, None)
            server = server or Server(python, environment, self._imports, self.guard, plain)
            self._servers[key] = server  # the last one used comes last
            for other in list(self._servers)[:-KEPT]:
                if not self._servers[other].users:
                    self._servers.pop(other).close()
            server.users += 1
            return server

    def release(self, server: Server) -> None:
        """To be called when a script that the server forked, or was to fork, has ended."""
        with self._lock:
            server.users -= 1

    def leave(self, server: Server, python: str, environment: Mapping[str, str], why: str) -> None:
        """Gives up a server that does not serve.

        One that a script has ended is replaced: a script without a server would end this process in its place.
        """
        lost = server.is_lost()
        with self._lock:
            if lost and server not in self._lost and len(self._lost) < LOST:
                self._lost.append(server)
                self._servers = {key: other for key, other in self._servers.items() if other is not server}
            if server in self._lost:
                return
        self.give_up(python, environment, why)

    def give_up(self, python: str, environment: Mapping[str, str], why: str) -> None:
        """From now on runs the scripts of this interpreter and environment without a server."""
        with self._lock:
            for plain in (False, True):
                key = (python, self._settled(environment), plain)
                self._alone[key] = why
                if key in self._servers:
                    self._servers[key].unfit(why)

    def _settled(self, environment: Mapping[str, str]) -> frozenset[tuple[str, str]]:
        return frozenset(item for item in environment.items() if item[0] not in self._late)


@contextmanager
def opened(pool: Interpreters | None) -> Iterator[Interpreters]:
    """The given interpreters, or some that end with the block."""
    if pool is not None:
        yield pool
        return
    with Interpreters() as own:
        yield own


class Alone:
    """A process of its own that runs a script, with its own import of TensorFlow."""

    def __init__(self, python: str, job: Path, environment: Mapping[str, str], folder: Path) -> None:
        self._process = _probe(python, [str(job)], environment, folder)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin, self.output, self.pid = self._process.stdin, Line(self._process.stdout), self._process.pid

    def write(self, line: bytes) -> None:
        """Sends a line; raises BrokenPipeError when nobody reads it any more."""
        self._stdin.write(line)
        self._stdin.flush()

    def status(self) -> int | None:
        """The exit status, None while the process runs."""
        return self._process.poll()

    def close(self) -> None:
        """Closes the pipe and waits for the process, which has been ended."""
        if not hasattr(os, "killpg") and self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self.output.close()
        with contextlib.suppress(OSError):
            self._stdin.close()


class Forked:
    """A process that a server has forked to run a script; raises Unfit where it cannot."""

    def __init__(self, server: Server, job: Path, environment: Mapping[str, str], imports: Iterable[str] = ()) -> None:
        self._server = server
        commands, events = job.with_suffix(".commands"), job.with_suffix(".events")
        with contextlib.ExitStack() as undo:
            for path in (commands, events):
                try:
                    os.mkfifo(path, 0o600)
                except OSError as error:
                    raise Unfit(f"no pipe can be made in the temporary folder ({error.strerror})") from None
                undo.callback(path.unlink, missing_ok=True)
            reading = os.open(events, os.O_RDONLY | os.O_NONBLOCK)
            undo.callback(lambda: os.close(reading) if reading >= 0 else None)
            holding = os.open(commands, os.O_RDWR)  # so that the process finds a writer
            undo.callback(os.close, holding)
            self.pid = server.fork(job, environment, commands, events, imports)
            self._commands = os.open(commands, os.O_WRONLY)
            os.set_blocking(reading, True)
            self.output, reading = Line(os.fdopen(reading, "rb")), -1

    def write(self, line: bytes) -> None:
        """Sends a line; raises BrokenPipeError when nobody reads it any more."""
        while line:
            line = line[os.write(self._commands, line) :]

    def status(self) -> int | None:
        """The exit status, None while the process runs; -9 if it cannot be known."""
        try:
            return self._server.status(self.pid)
        except Unfit:
            return -9

    def close(self) -> None:
        """Closes the pipe; the server forgets the process, which has been ended."""
        os.close(self._commands)
        self.output.close()
        until = time.monotonic() + ANSWER
        while self.status() is None and time.monotonic() < until:
            time.sleep(0.01)


class Line:
    """The reading end of a process's pipe. Whatever was read from it has been told once another thread may look."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._lock = stream, threading.Lock()

    def tell(self, told: Told) -> None:
        """Calls `told` with each line, until one end is closed."""
        if not hasattr(select, "poll"):  # there `select` takes sockets alone
            for line in self._stream:
                told(line)
            return
        rest, data = b"", b"begun"
        while data:
            self._readable(WAKE)
            with self._lock:
                if self._stream.closed:
                    return
                if not self._readable(0):
                    continue
                data = os.read(self._stream.fileno(), PIECE)
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    told(line)

    def unread(self) -> bool:
        """Whether there is something to read, or the other end was closed; False where a system cannot tell."""
        with self._lock:
            return self._readable(0)

    def _readable(self, seconds: float) -> bool:
        try:
            return bool(select.select([self._stream], [], [], seconds)[0])
        except (OSError, ValueError):
            return False

    def close(self) -> None:
        """Closes this end."""
        with self._lock, contextlib.suppress(OSError):
            self._stream.close()


def _why_alone(environment: Mapping[str, str]) -> str:
    """Why scripts in this environment cannot share an import of TensorFlow on this system."""
    if not hasattr(os, "mkfifo") or not hasattr(os, "killpg"):
        return "this system cannot fork"
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    if "PYTHONPATH" in environment and not all(map(os.path.isabs, filter(None, folders))):
        return "PYTHONPATH is relative to each script's folder"
    return ""


def _latins(environment: Mapping[str, str]) -> dict[str, str]:
    return {_latin(name): _latin(value) for name, value in environment.items()}


def _latin(text: str) -> str:
    return os.fsencode(text).decode("latin-1")
