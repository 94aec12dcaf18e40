"""Runs scripts by themselves, without anything of the tool around them, and with one import of TensorFlow for many."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

SERVER = Path(__file__).with_name("bare_server.py")


class BareRuns:
    """One process that has imported plain TensorFlow for each interpreter; it forks one for every script."""

    def __init__(self) -> None:
        self._servers: dict[str, tuple[subprocess.Popen[bytes], queue.Queue[bytes]]] = {}

    def run(
        self, python: str, words: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float = 240
    ) -> subprocess.CompletedProcess[str]:
        """What `python WORDS` in a folder comes to."""
        if python not in self._servers:
            self._servers[python] = _started(python)
        process, answers = self._servers[python]
        assert process.stdin is not None
        with tempfile.TemporaryDirectory() as place:
            files = [os.path.join(place, name) for name in ("out", "err")]
            request = {"words": words, "folder": str(folder), "environment": dict(environment), "files": files}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            pid = int(answers.get(timeout=timeout))
            try:
                status = int(answers.get(timeout=timeout))
            except queue.Empty:
                os.killpg(pid, signal.SIGKILL)
                answers.get(timeout=timeout)
                raise subprocess.TimeoutExpired([python, *words], timeout) from None
            out, err = (Path(file).read_text(encoding="utf-8", errors="replace") for file in files)
        return subprocess.CompletedProcess([python, *words], status, out, err)

    def close(self) -> None:
        for process, _ in self._servers.values():
            assert process.stdin is not None and process.stdout is not None
            with contextlib.suppress(OSError):
                process.stdin.close()
            process.wait(60)
            process.stdout.close()


def _started(python: str) -> tuple[subprocess.Popen[bytes], queue.Queue[bytes]]:
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("TF2_BEHAVIOR", None)  # TensorFlow 2 leaves it behind; TensorFlow 1 would start eagerly with it
    process = subprocess.Popen(
        [python, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    )
    answers: queue.Queue[bytes] = queue.Queue()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answers.put(line)
        answers.put(b"the process that forks scripts has ended")

    threading.Thread(target=listen, daemon=True).start()
    return process, answers
