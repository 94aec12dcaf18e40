"""Where a script stood when the time of a verification was up: by file and line, on every Python and TensorFlow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from converter.verify import VerifySettings, verify
from converter.verify.child import __file__ as child_file

pytestmark = pytest.mark.one_test_in(2)

STEPS = """import sys
sys.path.insert(0, 'lib')
import tensorflow as tf
import slow
w = tf.get_variable('w', [])
step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(w - 1.0))
sess = tf.Session()
sess.run(tf.global_variables_initializer())
sess.run(step)
slow.after()
sess.run(step)
sess.run(step)
"""
SLOW = "import time\n\n\ndef after():\n    time.sleep({after})\n\n\ntime.sleep({before})\n"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "version",
    [
        pytest.param("1.15", marks=pytest.mark.tf1),
        pytest.param("1.12", marks=[pytest.mark.tf1(version="1.12"), pytest.mark.matrix]),  # with Python 2.7
    ],
)
@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        (60, 0, "had not come to its first training step, at lib/slow.py:8"),
        (0, 60, "script had taken 1 training step, at lib/slow.py:5"),
    ],
)
def test_the_reason_names_the_line(
    tmp_path: Path, tensorflow_python: str, version: str, before: int, after: int, wanted: str
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "slow.py").write_text(SLOW.format(before=before, after=after), encoding="utf-8")
    script = tmp_path / "train.py"
    script.write_text(STEPS, encoding="utf-8")
    report = verify(script, script, VerifySettings(gpus=1, python=tensorflow_python, timeout=15))
    assert report.verdict == "not comparable"
    assert wanted in report.reason
    assert "take arguments behind --" in report.reason


PLACES = """
import os, sys, threading
sys.path.insert(0, sys.argv[1])
from tmgprobe.process import standing

job = {'script': os.path.join(sys.argv[2], 'scripts', 'train.py'), 'root': sys.argv[2]}
code = 'def inner(call):\\n    return call()\\n\\ndef outer(call):\\n    return inner(call)\\n'
held = {}
exec(compile(code, os.path.join(sys.argv[2], sys.argv[3]), 'exec'), held)
found = []
held['outer'](lambda: found.append(standing.place(job, sys._current_frames(), standing.get_ident())))
print(found[0])
print(threading.active_count())
"""


@pytest.mark.parametrize(
    ("file", "wanted"),
    [("scripts/train.py", "train.py:2"), ("lib/data.py", "../lib/data.py:2"), ("../other/data.py", "")],
)
def test_the_innermost_line_in_the_scripts_own_files(tmp_path: Path, file: str, wanted: str) -> None:
    words = [sys.executable, "-c", PLACES, str(Path(child_file).parent), str(tmp_path), file]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == [wanted, "1"]
