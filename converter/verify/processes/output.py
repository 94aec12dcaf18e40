"""Captures what a script prints: however much it is, the beginning and the end are kept."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from pathlib import Path

HEAD = 64 * 2**10  # bytes that are kept of the beginning
TAIL = 192 * 2**10  # and of the end
_PIECE = 2**16  # bytes that a pipe holds
_DRAINED = 32  # pieces that are still read of a script that has ended; its daemons may print for ever


class Output:
    """Reads what is written to a pipe in the file system, where the system has such; else the file is read later."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._head, self._end, self._all = bytearray(), bytearray(), 0
        self._lock = threading.Lock()
        self._pipe: _Pipe | None = None
        self._closed = False
        with contextlib.suppress(OSError, AttributeError):
            self._pipe = _Pipe(path)
            self._thread = threading.Thread(target=self._listen, args=(self._pipe,), daemon=True)
            self._thread.start()

    def _listen(self, pipe: _Pipe) -> None:
        while pipe.wait():
            with self._lock:
                self._keep(pipe.read())

    def _keep(self, data: bytes) -> None:
        self._all += len(data)
        room = HEAD - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._end += data
        if len(self._end) > 2 * TAIL:
            del self._end[:-TAIL]

    def text(self) -> str:
        """All that is kept, with a line where something is not."""
        if self._pipe is None:
            return _of_file(self._path)
        with self._lock:
            for _ in range(0 if self._closed else _DRAINED):
                data = self._pipe.read()
                if not data:
                    break
                self._keep(data)
            end = bytes(self._end[-TAIL:])
            return _joined(bytes(self._head), self._all - len(self._head) - len(end), end)

    def close(self) -> None:
        """Reads no more; what was kept stays."""
        if self._pipe is not None and not self._closed:
            self._pipe.stop()
            self._thread.join()
            self.text()  # what is still in the pipe
            self._closed = True
            self._pipe.close()


class _Pipe:
    """The reading end of a pipe in the file system; it stays open whoever stops writing."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        self._reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._holding = os.open(path, os.O_WRONLY)
        self._stopped, self._stop = os.pipe()

    def wait(self) -> bool:
        """Waits until there is something to read; False when it was stopped."""
        ready, _, _ = select.select([self._reading, self._stopped], [], [])
        return self._stopped not in ready

    def read(self) -> bytes:
        """The bytes that are there, up to one piece; empty if there are none."""
        try:
            return os.read(self._reading, _PIECE)
        except BlockingIOError:
            return b""

    def stop(self) -> None:
        """Ends the waiting."""
        os.write(self._stop, b"x")

    def close(self) -> None:
        """Closes all ends."""
        for end in (self._reading, self._holding, self._stopped, self._stop):
            os.close(end)


def _of_file(path: Path) -> str:
    """The same for a plain file: only the parts that are kept are read."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD)
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(len(head), size - TAIL))
            end = stream.read(TAIL)
    except OSError:
        return ""
    return _joined(head, size - len(head) - len(end), end)


def _joined(head: bytes, lost: int, end: bytes) -> str:
    size = f"{lost / 2**20:,.1f} MB" if lost >= 2**20 else f"{lost:,} bytes"
    middle = f"\n[{size} of output not kept]\n".encode() if lost > 0 else b""
    return (head + middle + end).decode("utf-8", "replace")
