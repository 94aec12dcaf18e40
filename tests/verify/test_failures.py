"""What verify says when there is nothing to compare."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest

from converter.verify import Report, VerifyError, VerifySettings, verify

pytestmark = pytest.mark.one_test_in(2)

TRAINS = """
import tensorflow as tf
w = tf.get_variable('w', [2])
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w * w))
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for _ in range({steps}):
    sess.run(train)
"""


def run(tmp_path: Path, single: str, multi: str | None = None, timeout: float = 120) -> Report:
    for name, text in (("single.py", single), ("multi.py", single if multi is None else multi)):
        (tmp_path / name).write_text(text)
    return verify(tmp_path / "single.py", tmp_path / "multi.py", VerifySettings(gpus=1, timeout=timeout))


@pytest.mark.one_in(4)
@pytest.mark.tf2
@pytest.mark.parametrize(
    ("script", "reason", "log"),
    [
        (
            "import tensorflow as tf\nopen('absent.txt')\n",
            "FileNotFoundError",
            ['File "single.py", line 2, in <module>', "open('absent.txt')", "FileNotFoundError: "],
        ),
        ("import tensorflow as tf\nraise SystemExit(5)\n", "exit status 5", []),
        ("def broken(:\n", "SyntaxError", ['File "single.py", line 1', "def broken(:", "SyntaxError: invalid syntax"]),
        ("import os\nos._exit(7)\n", "ended its process (status 7)", []),
        ("import tensorflow as tf\nprint(1)\n", "without a training step", ["1"]),
        (
            "import tensorflow as tf\ntf.contrib.seq2seq.sequence_loss\n",
            "tensorflow.contrib.seq2seq is not in",
            ['File "single.py", line 2, in <module>', "tf.contrib.seq2seq.sequence_loss", "AttributeError: "],
        ),
        (
            "from tensorflow.contrib import crf\n",
            "tensorflow.contrib.crf is not in",
            ['File "single.py", line 1, in <module>', "from tensorflow.contrib import crf", "ImportError: "],
        ),
        (
            "import tensorflow.contrib.crf\n",
            "--python",
            ['File "single.py", line 1, in <module>', "import tensorflow.contrib.crf", "ModuleNotFoundError: "],
        ),
    ],
)
def test_an_original_that_cannot_run_is_not_comparable(
    tmp_path: Path, script: str, reason: str, log: list[str]
) -> None:
    """The log has the script's own lines alone: neither the folder that it ran in, nor what watched it."""
    report = run(tmp_path, script)
    assert report.verdict == "not comparable"
    assert "the original script" in report.reason
    assert reason in report.reason
    shown = [line.strip() for line in report.log.splitlines() if line.strip(" ^~")]
    assert len(shown) == len(log)
    assert all(line.startswith(begin) for line, begin in zip(shown, log, strict=True))


FED = """
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
w = tf.get_variable('w', [4])
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(x * w))
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for _ in range(9):
    sess.run(train, {{x: np.ones((8, {width}))}})
"""


@pytest.mark.tf1
@pytest.mark.parametrize(("own", "verdict"), [(5, "not comparable"), (4, "failed")])
def test_a_first_step_that_fails(tensorflow_python: str, tmp_path: Path, own: int, verdict: str) -> None:
    """Where it fails in the original, too, the conversion has nothing to be like."""
    (tmp_path / "single.py").write_text(FED.format(width=own))
    (tmp_path / "multi.py").write_text(FED.format(width=5))
    settings = VerifySettings(gpus=1, python=tensorflow_python)
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", settings)
    assert report.verdict == verdict and "Cannot feed value of shape (8, 5)" in report.reason
    assert ("the original script fails in its first training step by itself" in report.reason) is (own == 5)


@pytest.mark.tf2
def test_a_conversion_that_cannot_run_has_failed(tmp_path: Path) -> None:
    report = run(tmp_path, TRAINS.format(steps=9), "import tensorflow as tf\nprint('so far')\nundefined\n")
    assert report.verdict == "failed"
    assert "the converted script failed before its first training step: NameError" in report.reason
    assert 'File "multi.py", line 3' in report.log


@pytest.mark.tf2
def test_the_clock_ends_a_script_and_what_it_started(tmp_path: Path) -> None:
    begin = time.monotonic()
    report = run(tmp_path, "import subprocess\nsubprocess.call(['sleep', '60'])\n", timeout=8)
    assert report.verdict == "not comparable"
    assert "no result after 8 seconds" in report.reason
    assert time.monotonic() - begin < 20


@pytest.mark.tf2
def test_fewer_steps_than_asked_are_noted(tmp_path: Path) -> None:
    report = run(tmp_path, TRAINS.format(steps=2))
    assert (report.verdict, report.steps) == ("passed", 2)
    assert "the scripts took only 2 of 3 training steps" in report.notes


@pytest.mark.tf2
def test_the_scripts_own_folder_stays_as_it_is(tmp_path: Path) -> None:
    writes = TRAINS.format(steps=9).replace("sess = ", "open('written.txt', 'w').close()\nsess = ")
    assert run(tmp_path, writes).verdict == "passed"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["multi.py", "single.py"]


@pytest.mark.tf2
def test_modules_of_the_script_come_first(tmp_path: Path) -> None:
    (tmp_path / "converter.py").write_text("ours = True\n")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "__init__.py").write_text("ours = True\n")
    check = "import converter, rules, sys\nassert converter.ours and rules.ours and sys.argv[0] == __file__\n"
    assert run(tmp_path, check + TRAINS.format(steps=3)).verdict == "passed"


def test_wrong_usage(tmp_path: Path) -> None:
    script = tmp_path / "single.py"
    script.write_text("")
    with pytest.raises(VerifyError, match=rf"^{re.escape(str(tmp_path))}/mg/single\.py: no such file$"):
        verify(script, tmp_path / "mg/single.py")  # which has the original's name
    with pytest.raises(VerifyError, match="no such interpreter"):
        verify(script, script, VerifySettings(python="no-such-python"))
    with pytest.raises(VerifyError, match="1 or more"):
        verify(script, script, VerifySettings(gpus=0))


def test_an_interpreter_without_tensorflow(tmp_path: Path) -> None:
    script = tmp_path / "single.py"
    script.write_text("")
    launcher = tmp_path / "python"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    launcher.chmod(0o755)
    with pytest.raises(VerifyError, match=r"pip install '\.\[verify\]'"):
        verify(script, script, VerifySettings(python=str(launcher)))


IN_PARTS = """\
import tensorflow as tf
x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
guess = tf.layers.dense(x, 1)
loss = tf.reduce_mean((guess - y) ** 2)
with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.1).minimize(loss)]):
    done = tf.identity(loss)
late = tf.reduce_sum(y)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(4):
        run = sess.partial_run_setup([guess, done, late], [x, y])
        rows = sess.partial_run(run, guess, {x: [[1.0, 2.0], [2.0, 3.0]]})
        assert rows.shape == (2, 1)
        sess.partial_run(run, done, {y: rows + 1.0})
"""


@pytest.mark.tf2
@pytest.mark.parametrize(
    ("after", "verdict", "reason"),
    [
        ("", "passed", ""),
        (
            "        sess.partial_run(run, late)\n",
            "not comparable",
            "goes on with a run in parts (Session.partial_run) after an update",
        ),
    ],
)
def test_a_step_in_parts(after: str, verdict: str, reason: str, tmp_path: Path, tensorflow_python: str) -> None:
    script = tmp_path / "parts.py"
    script.write_text(IN_PARTS + after)
    report = verify(script, script, VerifySettings(gpus=1, python=tensorflow_python))
    assert report.verdict == verdict and reason in report.reason, report


FIXED = """
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [{rows}, 2], name='x')
w = tf.get_variable('w', [2], initializer=tf.ones_initializer())
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(x * w))
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range(5):
    sess.run(train, {{x: np.full([{fed} if step else {first}, 2], step, 'float32')}})
"""


@pytest.mark.tf2
def test_a_batch_that_fits_no_fixed_shape_of_the_original(tmp_path: Path) -> None:
    single, multi = FIXED.format(rows=8, fed=8, first=8), FIXED.format(rows=None, fed=5, first=8)
    report = run(tmp_path, single, multi)
    assert report.verdict == "failed", report
    assert report.reason == "no part of the conversion's batch fits the fixed shapes of the original's inputs"
