"""Updates that one run orders: what reads a variable behind one reads it so on GPUs, or the proof fails."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from converter.options import Options
from converter.verify import Report
from tests.proofs import proof_of

pytestmark = pytest.mark.one_test_in(2)

CHILD = Path(__file__).resolve().parents[2] / "converter" / "verify" / "child"
sys.path.insert(0, str(CHILD))
try:
    from tmgprobe.graph import copies, graphs, races
finally:
    sys.path.remove(str(CHILD))

HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = 8
rng = np.random.RandomState(0)
data = rng.rand(64, 4)
x = tf.placeholder(tf.float32, [None, 4])
"""
TAIL = """
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size):
        _, seen = sess.run([train_op, loss], {x: data[begin:begin + batch_size]})
        print(seen)
"""
ONE = """\
score = tf.layers.dense(tf.layers.dense(x, 6, activation=tf.tanh), 1)
loss = tf.reduce_mean(tf.square(score - 1.0))
step = tf.train.AdamOptimizer(0.05).minimize(loss)
with tf.control_dependencies([step]):
    train_op = {behind}"""
TWO = """\
with tf.variable_scope('generator'):
    made = tf.layers.dense(x, 4)
with tf.variable_scope('critic'):
    score = tf.layers.dense(tf.layers.dense(made, 6, activation=tf.tanh), 1)
loss = tf.reduce_mean(tf.square(score - 1.0))
cheated = tf.reduce_mean(tf.square(score))
step = tf.train.AdamOptimizer(0.05).minimize(loss, var_list=tf.trainable_variables('critic'))
with tf.control_dependencies([step]):
    train_op = tf.train.AdamOptimizer(0.05).minimize(cheated, var_list=tf.trainable_variables('generator'))"""
CLIPPED = ONE.format(behind="tf.group(*[v.assign(tf.clip_by_value(v, -0.3, 0.3)) for v in tf.trainable_variables()])")
AVERAGED = ONE.format(behind="tf.train.ExponentialMovingAverage(0.9).apply(tf.trainable_variables())")
UNORDERED = TWO.replace("with tf.control_dependencies([step]):\n    train_op = ", "second = ")
UNORDERED += "\ntrain_op = tf.group(step, second)"

# model, the checks that fail where operations behind an update read what was there before it
ORDERED = {
    "two steps": (TWO, {"gradients", "weights", "uneven batch", "fewer examples than towers"}),
    "clipped": (CLIPPED, {"update", "weights"}),
    "averaged": (AVERAGED, {"update", "weights"}),
}
LOST = ("with after_updates(", "with tf.control_dependencies(")


def proof(folder: Path, python: str, model: str, change: tuple[str, str] = ("", "")) -> Report:
    (folder / "single.py").write_text(HEAD + model + TAIL)
    return proof_of(folder / "single.py", python, folder, Options(), change)


def failed(report: Report) -> set[str]:
    return {check.name for check in report.checks if check.status == "failed"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(row[0], marks=version, id=f"{name} {version.name}")
        for name, row in ORDERED.items()
        for version in (pytest.mark.tf1, pytest.mark.tf2)
    ],
)
def test_the_order_is_kept(tmp_path: Path, tensorflow_python: str, model: str) -> None:
    report = proof(tmp_path, tensorflow_python, model)
    assert report.verdict == "passed", (report.reason, report.checks)
    passed = {check.name for check in report.checks if check.status == "passed"}
    assert {"gradients", "update"} <= passed, report.checks


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize(("model", "checks"), ORDERED.values(), ids=ORDERED)
def test_a_lost_order_fails(tmp_path: Path, tensorflow_python: str, model: str, checks: set[str]) -> None:
    report = proof(tmp_path, tensorflow_python, model, LOST)
    assert failed(report) == checks, (report.reason, report.checks)


@pytest.mark.tf1
def test_what_the_original_does_not_order_is_not_compared(tmp_path: Path, tensorflow_python: str) -> None:
    report = proof(tmp_path, tensorflow_python, UNORDERED)
    assert report.verdict == "passed", (report.reason, report.checks)


@pytest.fixture(scope="module")
def tf() -> Any:
    """TensorFlow's first API."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    return tf


@pytest.mark.tf2
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ordered", [True, False])
def test_updates_in_no_order(tf: Any, ordered: bool) -> None:
    """The second update reads what the first one writes."""
    tf.reset_default_graph()
    sgd = tf.train.GradientDescentOptimizer(0.1)
    first, second = [tf.get_variable(name, [2], use_resource=False) for name in ("first", "second")]
    one = sgd.apply_gradients([(tf.ones([2]), first)])
    with tf.control_dependencies([one] if ordered else []):
        two = sgd.apply_gradients([(first * 2.0, second)])
    assert races.updates_in_no_order(graphs.ancestors([one, two]), {"first", "second"}) is not ordered


@pytest.mark.tf2
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("variable", "reader", "resource", "copied"),
    [("/cpu:0", "/cpu:1", False, True), ("/cpu:0", "/cpu:0", False, False), ("/cpu:0", "/cpu:1", True, False),
     ("", "", False, False), ("", "/cpu:1", False, False), ("/cpu:0", "", False, True)],
)  # fmt: skip
def test_other_devices_read_copies(tf: Any, variable: str, reader: str, resource: bool, copied: bool) -> None:
    """What names no device runs on the first GPU, which is the device cpu:1."""
    tf.reset_default_graph()
    with tf.device(variable):
        weights = tf.get_variable("w", initializer=tf.constant([2.0]), use_resource=resource)
    with tf.device(reader):
        read = tf.reshape(weights, [1, 1]) * 1.0
        with tf.control_dependencies([tf.train.GradientDescentOptimizer(1.0).minimize(read)]):
            behind = read.op.inputs[0] * 1.0
    parts = copies.Copies(tf, tf.get_default_graph())
    parts.renew()
    parts.renew()
    assert sum(op.type == "DeepCopy" for op in tf.get_default_graph().get_operations()) == copied
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
        session.run(tf.global_variables_initializer())
        assert session.run(behind) == [[2.0 if copied or resource else 1.0]]
        parts.renew()
        grown = tf.gradients(read * 3.0, weights)[0]  # goes through what was copied
        parts.renew()
        assert session.run(grown) == [3.0]
