"""What other threads than the main one save and write belongs to no step, and is not compared as if it did."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import converter.verify.child
from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import Report, VerifySettings, verify
from converter.verify.checks.beyond_steps import check_beside
from converter.verify.data import CheckResult

pytestmark = pytest.mark.one_test_in(2)


def diary(*notes: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    held: dict[str, list[dict[str, Any]]] = {}
    for order, (kind, what) in enumerate(notes):
        held.setdefault(kind, []).append({"steps": 0, "order": order, **what})
    return {"notes": held, "steps": 3, "savers": [], "seeds": [], "graph seed": None, "shuffling": []}


def of(checks: list[CheckResult], name: str) -> list[tuple[str, str]]:
    return [(check.status, check.detail) for check in checks if check.name == name]


SAVED = ("saved", {"file": "model.ckpt", "number": 0, "keys": ["w"]})
LATER = ("saved", {"file": "model.ckpt", "number": 8, "keys": ["w"]})


def test_files_of_the_main_thread_are_compared() -> None:
    [(status, detail)] = of(check_beside(diary(SAVED), diary(LATER), 3, 2), "savers")
    assert status == "failed" and "has the step 8 instead of 0" in detail


@pytest.mark.parametrize("kind", ["saved", "summary", "printed"])
def test_what_other_threads_do_is_named_and_left_open(kind: str) -> None:
    elsewhere = ("elsewhere", {"kind": kind})
    for mine, theirs in ((diary(elsewhere), diary()), (diary(), diary(elsewhere))):
        checks = check_beside(mine, theirs, 3, 2)
        assert all(check.status != "failed" for check in checks)
        assert any("other threads" in detail for _, detail in of(checks, "beside the steps"))


def test_runs_in_other_threads_leave_nothing_open() -> None:
    checks = check_beside(diary(("elsewhere", {"kind": "run"})), diary(), 3, 2)
    assert not any("other threads" in check.detail for check in checks)


# A supervisor's thread writes the graph out with each checkpoint, beside the probe's saver that is being made.
WRITES_BESIDE = """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
import tensorflow as tf
if hasattr(tf, 'compat') and hasattr(tf.compat, 'v1'):
    tf = tf.compat.v1
    tf.disable_eager_execution()
from tmgprobe.session import step
graph, failed, over = tf.get_default_graph(), [], threading.Event()
names = [tf.Variable(0.0, name='v%d' % n, use_resource=False).name for n in range(300)]
graph.finalize()

def write():
    while not over.is_set():
        try:
            graph.as_graph_def(add_shapes=True)
        except KeyError as error:
            failed.append(error)
        time.sleep(0.001)  # else nobody else gets the graph's lock

thread = threading.Thread(target=write)
thread.daemon = True
thread.start()
for _ in range(8):
    step.saver(tf, graph, names)
over.set()
thread.join()
sys.exit('%d times: %s' % (len(failed), failed[0]) if failed else 0)
"""


@pytest.mark.matrix
@pytest.mark.parametrize(
    "_version", [pytest.param("1.15", marks=pytest.mark.tf1), pytest.param("2", marks=pytest.mark.tf2)]
)
def test_a_thread_may_write_the_graph_while_the_probe_makes_its_saver(_version: str, tensorflow_python: str) -> None:
    child = Path(converter.verify.child.__file__).parent
    command = [tensorflow_python, "-c", WRITES_BESIDE, str(child)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr[-500:]


TRAINS = """
import threading
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
w = tf.get_variable('w', [4, 1])
b = tf.get_variable('b', [])
loss = tf.reduce_mean((tf.matmul(x, w) + b) ** 2)
one = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[w])
two = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=[b])
data = np.random.RandomState(0).rand(64, 4)
sess = tf.Session()
sess.run(tf.global_variables_initializer())

def work(train=one):
    for begin in range(0, 64, 8):
        sess.run(train, {x: data[begin:begin + 8]})
"""
STARTED = "for thread in threads: thread.start()\n"


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    "threads",
    [
        "threads = [threading.Thread(target=work) for _ in range(4)]\n" + STARTED,
        "threads = [threading.Thread(target=work, args=(op,)) for op in (one, two)]\n" + STARTED,
        "threads = [threading.Thread(target=work)]\n" + STARTED + "work(two)\n",
    ],
)
def test_steps_that_overlap_are_not_comparable(threads: str, tmp_path: Path, tensorflow_python: str) -> None:
    for _ in range(3):  # whichever thread comes first
        report = told(tmp_path, threads, tensorflow_python)
        assert (report.verdict, report.steps) == ("not comparable", 0)
        assert "training steps in several threads at once (single.py:17)" in report.reason


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("threads", "steps"),
    [
        ("thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n", 8),
        ("threading.Thread(target=work).start()\n", 8),  # Python waits for it
        ("for _ in range(4):\n    thread = threading.Thread(target=work)\n    thread.start()\n    thread.join()\n", 12),
    ],
)
def test_threads_that_take_turns_are_compared(threads: str, steps: int, tmp_path: Path, tensorflow_python: str) -> None:
    """Nine steps more than the three asked for are compared, or all that there are, as one train op never runs."""
    report = told(tmp_path, threads, tensorflow_python)
    assert (report.verdict, report.steps) == ("passed", steps), report


def told(folder: Path, threads: str, python: str) -> Report:
    """The verification of a script and itself, as one tower."""
    for name in ("single.py", "multi.py"):
        (folder / name).write_text(TRAINS + threads)
    return verify(folder / "single.py", folder / "multi.py", VerifySettings(gpus=1, python=python))


# The supervisor's thread for summaries runs the model at once, and each run of the model moves the average.
SUPERVISED = """\
import time
import numpy as np
import tensorflow as tf

batch_size = 4
x, y = tf.train.batch([tf.constant([1.0, 2.0]), tf.constant([3.0])], batch_size)
h = tf.layers.dense(x, 3)
h = tf.contrib.layers.batch_norm(h, is_training=True, updates_collections=None)
loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
tf.summary.scalar('loss', loss)
supervisor = tf.train.Supervisor(logdir='log', save_model_secs=0)
with supervisor.managed_session() as sess:
    time.sleep(1)
    for step in range(6):
        sess.run(train_op)
"""


@pytest.mark.tf1
def test_a_supervisors_summaries_change_no_variable_before_the_first_step(
    tensorflow_python: str, tmp_path: Path
) -> None:
    single, multi = tmp_path / "single.py", tmp_path / "multi.py"
    single.write_text(SUPERVISED)
    multi.write_text(convert(read(str(single)), Options(line_length=100)).text or "")
    report = verify(single, multi, VerifySettings(gpus=2, python=tensorflow_python))
    assert report.verdict == "passed", report
    assert [status for status, _ in of(report.checks, "initial values")] == ["passed"]
