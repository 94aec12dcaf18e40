"""A process beside this one: if this one is killed, the guard ends what it started and removes its temporary files."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from converter.verify.processes import family


class Guard:
    """Starts with the first thing that it is told of; close it when all is ended and removed.

    It learns of the end of this process by the end of its own input, so that SIGKILL cannot keep it from its work.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ends(self, token: str) -> None:
        """When this process ends, end all processes that carry this token."""
        self._tell("token", token)

    @contextmanager
    def removes(self, path: Path) -> Iterator[None]:
        """A file or folder that is to go with this process while the block runs; the block removes it itself."""
        self._tell("path", str(path))
        try:
            yield
        finally:
            self._tell("forget", str(path))

    def _tell(self, word: str, what: str) -> None:
        with self._lock, contextlib.suppress(OSError):
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", family.__file__],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps([word, what]).encode() + b"\n")
            self._process.stdin.flush()

    def close(self) -> None:
        """Ends the guard: nothing is left for it to do."""
        if self._process is None:
            return
        self._tell("done", "")
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.wait()
        self._process = None
