"""Wrong conversions whose steps are right: each fails a check, or its blind side is a line of what is not checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import read
from converter.verify import Report, VerifySettings, verify

pytestmark = pytest.mark.one_test_in(2)

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 8
rng = np.random.RandomState(0)
data, other = rng.rand(64, 4), rng.rand(24, 4)
x = tf.placeholder(tf.float32, [None, 4])
z = tf.placeholder(tf.float32, [None, 3])
made = tf.layers.dense(z, 4, name='made')
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1, name='out') - 1.0))
second = tf.reduce_mean(tf.square(made - 1.0))
optimizer = tf.train.AdamOptimizer(0.01)
pairs = optimizer.compute_gradients(loss, tf.trainable_variables('out'))
step = optimizer.apply_gradients([(tf.clip_by_norm(g, 100.0), v) for g, v in pairs])
other_step = tf.train.AdamOptimizer(0.01).minimize(second, var_list=tf.trainable_variables('made'))
saver = tf.train.Saver(max_to_keep=3)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(2):
        for begin in range(0, 64, batch_size):
            rows = data[begin:begin + batch_size]
            sess.run(step, {x: rows})
            noise = rng.rand(len(rows), 3)
            sess.run(other_step, {z: noise})
        print('%.4f' % sess.run(loss, {x: other}))
    saver.save(sess, 'kept')
"""

# what stands in the right conversion, what the wrong one has instead, the number of epochs, the check that fails
WRONG = {
    "half of the noise": ("{z: noise}", "{z: noise[:len(noise) // 2]}", 0, "batch"),
    "other files are kept": ("max_to_keep=3", "max_to_keep=1", 0, "savers"),
    "a file for good": ("max_to_keep=3", "max_to_keep=3, keep_checkpoint_every_n_hours=2", 0, "savers"),
    "clipped by each tower, with a norm that is not reached": (
        "[grad for grad, _ in pairs if",
        "[tf.clip_by_norm(grad, 50.0) for grad, _ in pairs if",
        0,
        "changed gradients",
    ),
    "the training data are evaluated": ("{x: other}", "{x: data}", 2, "data of evaluations, whole run"),
    "half of the data are evaluated": ("{x: other}", "{x: other[:12]}", 2, "data of evaluations, whole run"),
    "one batch is evaluated": ("{x: other}", "{x: other[:batch_size]}", 2, "data of evaluations, whole run"),
}


def proof(
    folder: Path, python: str, change: tuple[str, str] = ("", ""), epochs: int = 0, script: str = SCRIPT
) -> Report:
    (folder / "single.py").write_text(script)
    text = convert(read(str(folder / "single.py")), Options()).text
    assert text is not None and change[0] in text
    (folder / "multi.py").write_text(text.replace(*change) if change[0] else text)
    return verify(folder / "single.py", folder / "multi.py", VerifySettings(python=python, epochs=epochs))


@pytest.mark.one_in(8)
@pytest.mark.tf1
@pytest.mark.parametrize(("old", "new", "epochs", "check"), WRONG.values(), ids=WRONG)
def test_found(tmp_path: Path, tensorflow_python: str, old: str, new: str, epochs: int, check: str) -> None:
    report = proof(tmp_path, tensorflow_python, (old, new), epochs)
    assert check in {found.name for found in report.checks if found.status == "failed"}, report.checks


@pytest.mark.tf1
def test_the_right_one_passes_and_names_what_is_not_checked(tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tmp_path, tensorflow_python, epochs=2)
    assert report.verdict == "passed", report.checks
    named = {entry.what for entry in report.ledger if entry.fate == "unchecked"}
    assert "other numbers of towers" in named and "changed gradients" not in named
    (found,) = (check for check in report.checks if check.name == "changed gradients")
    assert found.status == "passed" and found.detail.endswith("with losses a million times as large it acts alike")


@pytest.mark.tf1
def test_clipping_that_acts_is_compared(tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tmp_path, tensorflow_python, script=SCRIPT.replace("g, 100.0", "g, 1e-3"))
    assert report.verdict == "passed", report.checks
    assert "changed gradients" not in {check.name for check in report.checks}


@pytest.mark.tf1
@pytest.mark.parametrize("towers", ["tower_loss[:1] * 2", "tower_loss"])
def test_values_after_training_are_compared_though_not_all_steps_are(
    tmp_path: Path, tensorflow_python: str, towers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first two steps are compared; the scripts go on to their ends for what they run there."""
    monkeypatch.setattr("converter.verify.run.ALL_STEPS", 2)
    (tmp_path / "single.py").write_text(SCRIPT.replace("range(2)", "range(1)"))
    text = convert(read(str(tmp_path / "single.py")), Options()).text
    assert text is not None and "loss = tf.add_n(tower_loss)" in text
    (tmp_path / "multi.py").write_text(text.replace("loss = tf.add_n(tower_loss)", f"loss = tf.add_n({towers})"))
    settings = VerifySettings(python=tensorflow_python, steps="all", timeout=200)
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", settings)
    (found,) = (check for check in report.checks if check.name == "fetches")
    assert found.status == ("passed" if towers == "tower_loss" else "failed"), report.checks
    assert towers == "tower_loss" or "a run after the last step" in found.detail


METRIC = (
    SCRIPT.replace("saver = tf.train", "mean, count = tf.metrics.mean(tf.square(made))\nsaver = tf.train")
    .replace(
        "    for epoch in range(2):\n",
        "    for epoch in range(5):\n        sess.run(tf.local_variables_initializer())\n",
    )
    .replace("sess.run(loss, {x: other})", "sess.run([count, loss], {x: other, z: other[:, :3]})[1]")
)


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("when", "status"), [("if epoch < 9", "passed"), ("if epoch < 1", "failed"), ("if epoch < 3", "skipped")]
)
def test_metrics_that_are_not_reset(tmp_path: Path, tensorflow_python: str, when: str, status: str) -> None:
    """Their counts go on from one epoch to the next, which no single step shows."""
    reset = "sess.run(tf.local_variables_initializer())"
    report = proof(tmp_path, tensorflow_python, (reset, f"{reset} {when} else None"), 9, METRIC)
    (found,) = (check for check in report.checks if check.name == "resets, whole run")
    assert found.status == status, report.checks


NOISY = SCRIPT.replace("name='out') - 1.0", "name='out') - DRAWN")


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("drawn", "change", "status"),
    [
        ("tf.random_normal([tf.shape(x)[0], 1])", "", "passed"),
        ("tf.random_normal([tf.shape(x)[0], 1])", "tf.random_normal([1, 1])", "failed"),
        ("tf.random_normal([1])", "", "passed"),  # once for each run in the original, too
    ],
)
def test_numbers_that_a_tower_draws_once(
    tmp_path: Path, tensorflow_python: str, drawn: str, change: str, status: str
) -> None:
    """Random numbers are held still, so that only their number tells."""
    script = NOISY.replace("DRAWN", drawn)
    report = proof(tmp_path, tensorflow_python, (drawn, change) if change else ("", ""), 0, script)
    (found,) = (check for check in report.checks if check.name == "draws of the towers")
    assert found.status == status, report.checks
    assert status == "passed" or "a step draws 2 random numbers, the original 16" in found.detail


CARRIED = """\
import numpy as np
import tensorflow as tf
batch_size = 4
text = np.random.RandomState(2).rand(batch_size, 40).astype('float32')
x = tf.placeholder(tf.float32, [None, 5])
first = tf.placeholder(tf.float32, [None, 3])
last = tf.tanh(tf.layers.dense(x, 3) + tf.layers.dense(first, 3))
loss = tf.reduce_mean(tf.square(tf.reduce_sum(last, 1) - x[:, 0]))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    state = np.zeros([batch_size, 3])
    for begin in range(0, 40, 5):
        _, state = sess.run([train_op, last], {x: text[:, begin:begin + 5], first: state})
"""


@pytest.mark.tf1
@pytest.mark.parametrize("change", [("", ""), ("_, state = sess", "_, unused = sess")], ids=["carried", "not carried"])
def test_a_state_that_the_steps_hand_on(tmp_path: Path, tensorflow_python: str, change: tuple[str, str]) -> None:
    report = proof(tmp_path, tensorflow_python, change, script=CARRIED)
    failed = [check.detail for check in report.checks if check.status == "failed"]
    assert bool(failed) is bool(change[0])
    assert not failed or failed[0].startswith("what a run gave to the script is not fed to the next step")
