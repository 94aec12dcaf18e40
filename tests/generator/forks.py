"""Runs many scripts under one interpreter that imports TensorFlow once: each script in a fork, as if it ran alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

# Run by the interpreter under test (3.7 and up): reads jobs as lines of JSON, answers each with a line.
SERVER = r"""
import json, os, signal, sys, warnings
warnings.filterwarnings('ignore')
lines, answers = sys.stdin, os.fdopen(os.dup(1), 'w')
import numpy, tensorflow
if tensorflow.__version__.startswith('2'):
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    sys.modules['tensorflow'] = tf
def run(job):
    os.setsid()
    os.chdir(job['folder'])
    log = os.open('log', os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1); os.dup2(log, 2); os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout = open(1, 'w', closefd=False); sys.stderr = open(2, 'w', closefd=False)
    sys.argv[:] = [job['script']] + job['args']
    sys.path.insert(0, job['folder'])
    signal.alarm(job['seconds'])
    import runpy, traceback
    code = 1
    try:
        runpy.run_path(job['script'], run_name='__main__')
        code = 0
    except SystemExit as ending:
        code = ending.code or 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush(); sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)
for line in lines:
    job = json.loads(line)
    pid = os.fork()
    if not pid:
        run(job)
    _, status = os.waitpid(pid, 0)
    answers.write(json.dumps({'status': status}) + '\n')
    answers.flush()
"""


@dataclass(frozen=True)
class Ended:
    """How a script ended: `status` 0 where it came to its end, and all that it printed."""

    status: int
    output: str


class Interpreter:
    """A process with TensorFlow that runs scripts one after the other; use as a context manager."""

    def __init__(self, python: str, seconds: int = 60) -> None:
        self._seconds = seconds
        quiet = {
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TF_USE_LEGACY_KERAS": "1",
            "TF_ENABLE_ONEDNN_OPTS": "0",
            "PYTHONHASHSEED": "0",
            "CUDA_VISIBLE_DEVICES": "0,1,2,3",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._process = subprocess.Popen(
            [python, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **quiet},
            start_new_session=True,
        )

    def run(self, folder: Path, script: str, args: tuple[str, ...] = ()) -> Ended:
        """Runs a script of a folder in this folder."""
        assert self._process.stdin is not None and self._process.stdout is not None
        job = {"folder": str(folder), "script": script, "args": list(args), "seconds": self._seconds}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the interpreter that imports TensorFlow has ended")
        return Ended(json.loads(answer)["status"], (folder / "log").read_text(errors="replace"))

    def __enter__(self) -> Interpreter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
