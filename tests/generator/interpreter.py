"""The TensorFlow on which generated scripts run, bare, to their ends."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from tests.bare import BareRuns

IMPORT = "import tensorflow as tf\n"
COMPAT = "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\n"  # what a script says on TensorFlow 2
QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_USE_LEGACY_KERAS": "1",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "PYTHONHASHSEED": "0",
    "CUDA_VISIBLE_DEVICES": "0,1,2,3",
}


@dataclass(frozen=True)
class Ended:
    """How a script ended: `status` 0 where it came to its end, and all that it printed."""

    status: int
    output: str


class Interpreter:
    """Runs scripts under one interpreter, one after the other; use as a context manager."""

    def __init__(self, python: str, seconds: float = 180) -> None:
        self._python, self._seconds, self._runs = python, seconds, BareRuns()
        self._environment = {**os.environ, **QUIET}
        with TemporaryDirectory() as folder:
            Path(folder, "version.py").write_text(IMPORT + "print(tf.__version__)\n")
            self.is_2 = self.run(Path(folder), "version.py").output.startswith("2")

    def spelled(self, text: str) -> str:
        """A script as it imports TensorFlow 1 here."""
        return text.replace(IMPORT, COMPAT) if self.is_2 else text

    def run(self, folder: Path, script: str, args: tuple[str, ...] = ()) -> Ended:
        """Runs a script of a folder in this folder."""
        try:
            done = self._runs.run(self._python, [script, *args], folder, self._environment, self._seconds)
        except subprocess.TimeoutExpired:
            return Ended(-9, f"not done after {self._seconds:g} seconds")
        return Ended(done.returncode, done.stdout + done.stderr)

    def __enter__(self) -> Interpreter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runs.close()
