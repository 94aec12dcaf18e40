"""Towers written by hand that count the GPUs they see, and steps that they count for themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.verify import Report, VerifySettings, verify
from converter.verify.profile import ProfileSettings as ProfileSettings
from converter.verify.profile import profile

VERSIONS = [pytest.param("2", marks=pytest.mark.tf2), pytest.param("1.15", marks=pytest.mark.tf1)]

HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = 8
x = tf.placeholder(tf.float32, [None, 3])


def model(x):
    return tf.reduce_mean(tf.square(tf.matmul(x, tf.get_variable('w', [3, 2]))))


optimizer = tf.train.AdamOptimizer(0.01)
"""

SINGLE = f"""{HEAD}
assert not tf.test.is_gpu_available()  # no virtual device runs the kernels of GPUs
train_op = optimizer.minimize(model(x))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size):
        sess.run(train_op, {{x: np.random.RandomState(begin).rand(batch_size, 3)}})
"""

LOCAL = """
from tensorflow.python.client import device_lib
gpus = [device.name for device in device_lib.list_local_devices() if device.device_type == 'GPU']
"""

IMPORTED = """
from tensorflow.python.client.device_lib import list_local_devices
gpus = [d.name.replace('device:', '').lower() for d in list_local_devices() if 'GPU' in d.name]
assert [d.memory_limit > 0 for d in list_local_devices()]
"""

PHYSICAL = """
devices = tf.config.experimental.list_physical_devices('GPU')
for device in devices:
    tf.config.experimental.set_memory_growth(device, True)
tf.config.experimental.set_visible_devices(devices, 'GPU')
gpus = ['/gpu:%d' % number for number in range(len(devices))]
"""

TOWERS = """
assert not tf.test.is_gpu_available()
pairs = []
for number, gpu in enumerate(gpus):
    with tf.device(gpu), tf.variable_scope(tf.get_variable_scope(), reuse=number > 0):
        pairs.append(optimizer.compute_gradients(model(tf.split(x, len(gpus))[number])))
mean = [(tf.add_n([g for g, _ in pair]) / len(gpus), pair[0][1]) for pair in zip(*pairs)]
train_op = optimizer.apply_gradients(mean)
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size * len(gpus)):
        parts = [np.random.RandomState(begin + batch_size * n).rand(batch_size, 3) for n in range(len(gpus))]
        sess.run(train_op, {x: np.concatenate(parts)})
"""

COUNTER = "step = tf.get_variable('global_step', [], initializer=tf.zeros_initializer(), trainable=False)\n"


def proof(folder: Path, count: str, python: str, towers: str = TOWERS) -> Report:
    (folder / "single.py").write_text(SINGLE)
    (folder / "multi.py").write_text(HEAD + count + towers)
    return verify(folder / "single.py", folder / "multi.py", VerifySettings(gpus=2, python=python))


def told(report: Report, *names: str) -> dict[str, str]:
    return {check.name: check.status for check in report.checks if check.name in names}


@pytest.mark.parametrize("count", [LOCAL, IMPORTED, PHYSICAL], ids=["names", "imported", "physical"])
@pytest.mark.parametrize("version", VERSIONS)
def test_scripts_that_count_gpus(tmp_path: Path, tensorflow_python: str, version: str, count: str) -> None:
    report = proof(tmp_path, count, tensorflow_python)
    names = ("gradients", "weights", "batch", "placement", "session config")
    assert told(report, *names) == dict.fromkeys(names, "passed")
    # what tf.split says to a batch that the towers cannot share evenly
    failed = [check.detail for check in report.checks if check.status == "failed"]
    assert len(failed) == 2 and all("InvalidArgumentError: Number of ways to split" in detail for detail in failed)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS)
def test_towers_of_batches_that_are_always_even(tmp_path: Path, tensorflow_python: str, version: str) -> None:
    (tmp_path / "single.py").write_text(SINGLE)
    (tmp_path / "multi.py").write_text(HEAD + LOCAL + TOWERS)
    report = verify(
        tmp_path / "single.py", tmp_path / "multi.py", VerifySettings(steps="all", python=tensorflow_python)
    )
    uneven = [check for check in report.checks if check.name in ("uneven batch", "fewer examples than towers")]
    assert {check.status for check in uneven} == {"skipped"}, report.reason
    assert all("no step of the whole run has such a batch: all have 16 examples" in check.detail for check in uneven)
    assert report.verdict == "passed", report.reason


@pytest.mark.parametrize("version", VERSIONS)
def test_profiles_of_scripts_that_count_gpus(tmp_path: Path, tensorflow_python: str, version: str) -> None:
    (tmp_path / "single.py").write_text(SINGLE)
    (tmp_path / "multi.py").write_text(HEAD + LOCAL + TOWERS)
    found = profile(tmp_path / "single.py", tmp_path / "multi.py", ProfileSettings(gpus=(2,), python=tensorflow_python))
    assert [measured.towers for measured in found.measured] == [2]


@pytest.mark.parametrize("how", ["get_variable", "collection"])
@pytest.mark.parametrize("version", VERSIONS)
def test_steps_that_the_towers_alone_count(tmp_path: Path, tensorflow_python: str, version: str, how: str) -> None:
    made = COUNTER if how == "get_variable" else "step = tf.train.get_or_create_global_step()\n"
    counting = made + TOWERS.replace("apply_gradients(mean)", "apply_gradients(mean, global_step=step)")
    report = proof(tmp_path, LOCAL, tensorflow_python, counting)
    names = ("variables", "writes", "collections", "between the steps", "update")
    names += tuple(f"checkpoint of the {kind}" for kind in (
        "conversion, read by the original", "original, read by the conversion"))  # fmt: skip
    assert told(report, *names) == dict.fromkeys(names, "passed")
    assert any("global_step:0 counts the conversion's steps" in note for note in report.notes)
