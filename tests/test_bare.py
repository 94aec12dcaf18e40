"""A script that is run in a fork ends as one that is run by its interpreter."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.bare import BareRuns

VERSIONS = [
    pytest.param("1.15", marks=pytest.mark.tf1),
    *(pytest.param(v, marks=[pytest.mark.tf1(version=v), pytest.mark.matrix]) for v in ("1.4", "1.12")),
]
SAYS = """
from __future__ import print_function
import atexit, json, os, sys, tempfile, threading, time
import tensorflow as tf
import beside
assert 'left' not in vars(tf) and not hasattr(os, 'left')
tf.left = os.left = 1
print(__name__, sys.argv, os.getcwd(), tempfile.gettempdir(), os.environ['GIVEN'], 1 / 2)
names = sorted(name for name in vars(sys.modules["__main__"]) if name[0] != "_")
print(json.dumps([names, sys.path[0], os.environ.get("LEFT")]))
os.environ['LEFT'] = '1'
sys.stderr.write('to the error stream\\n')
def late():
    time.sleep(0.2)
    print('from a thread')
threading.Thread(target=late).start()
atexit.register(print, 'at exit')
"""
ENDS = {
    "to the end": ("", 0),
    "with a status": ("sys.exit(5)", 5),
    "with a message": ("sys.exit('it is over')", 1),
    "with an error": ("open('absent')", 1),
    "at once": ("sys.stdout.flush(); os._exit(7)", 7),
    "by a signal": ("os.kill(os.getpid(), 15)", -15),
}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("end", ENDS)
def test_a_fork_does_what_a_process_does(
    end: str, version: str, tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns
) -> None:
    line, status = ENDS[end]
    (tmp_path / "main.py").write_text(SAYS + line + "\n")
    (tmp_path / "beside.py").write_text("")
    environment = {
        **os.environ,
        "GIVEN": "this",
        "TMPDIR": str(tmp_path),
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONWARNINGS": "ignore",
    }
    done = bare_runs.run(tensorflow_python, ["main.py", "-x", "a b"], tmp_path, environment)
    assert done.returncode == status
    plain = subprocess.run(
        [tensorflow_python, "main.py", "-x", "a b"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    said, wanted = (text.rpartition("to the error stream\n")[2] for text in (done.stderr, plain.stderr))
    assert said.splitlines()[-1:] == wanted.splitlines()[-1:]
