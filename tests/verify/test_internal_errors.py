"""Faults of verify itself are told as such, and not as the script's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from converter.verify import Report, VerifySettings, verify
from converter.verify.processes import interpreters
from converter.verify.processes.interpreters import Interpreters  # in tests the module has another one in its place

SCRIPT = """\
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int32, [None])
out = tf.py_func(lambda rows: 1 / rows, [x], tf.float32)
out.set_shape([None, 4])
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.layers.dense(out, 3))
loss = tf.reduce_mean(losses)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step in range(9):
    sess.run([train, loss], {x: np.ones([8, 4]), y: np.zeros([8])FAULT})
"""
UNFED = "one.call.run(one.batch[0], {})"
CAUSE = "You must feed a value for placeholder"


@contextmanager
def faulty(folder: Path, monkeypatch: pytest.MonkeyPatch, file: str, place: str, fault: str) -> Iterator[Interpreters]:
    """Interpreters whose probe has a statement more in front of a line."""
    child = Path(shutil.copytree(interpreters.PROBE.parent, folder / "child"))
    path = child / "tmgprobe" / file
    text = path.read_text()
    assert text.count(place) == 1
    indent = place[: len(place) - len(place.lstrip())]
    path.write_text(text.replace(place, f"{indent}{fault}\n{place}"))
    monkeypatch.setattr(interpreters, "PROBE", child / "probe.py")
    with Interpreters() as pool:
        yield pool


def proof(folder: Path, python: str, fault: str = "", pool: Interpreters | None = None) -> Report:
    script = folder / "single.py"
    script.write_text(SCRIPT.replace("FAULT", fault))
    return verify(script, script, VerifySettings(gpus=1, python=python), pool=pool)


@pytest.mark.one_in(2)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("file", "place", "fault", "words"),
    [
        ("reference/merge.py", "    reference, found = Reference(one, gates), []", UNFED, CAUSE),
        (
            "roles/record.py",
            "        apart = fetched.recorded(call, store, before)",
            "call.run(call.step.losses, {})",
            CAUSE,
        ),
        ("reference/merge.py", "    reference, found = Reference(one, gates), []", "np.zeros(2).reshape(3)", "reshape"),
        ("session/watch.py", "            watch.part(self.graph)\n            return on_run(", "None + 1", "NoneType"),
    ],
    ids=["the original's step", "the conversion's step", "NumPy", "around the script"],
)
def test_a_fault_of_verify(
    file: str,
    place: str,
    fault: str,
    words: str,
    tmp_path: Path,
    tensorflow_python: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with faulty(tmp_path, monkeypatch, file, place, fault) as pool:
        try:
            told = proof(tmp_path, tensorflow_python, pool=pool).reason
            assert "this is an internal error of verify: please report it" in told
        except RuntimeError as error:  # the command's words for it: internal error; please report it with this text
            told = str(error)
            assert "the probe failed in the" in told
    assert words in told and file in told and "failed in its first training steps" not in told


@pytest.mark.one_in(3)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("fault", "words"),
    [(" + 3", "label value"), (", loss: 'a'", "could not convert"), ("} if step else {x: 0", "Cannot feed")],
)
def test_a_fault_of_the_script(fault: str, words: str, tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tmp_path, tensorflow_python, fault)
    assert report.verdict != "passed" and "internal error" not in report.reason and words in report.reason, report
