"""Towers written by hand that count the GPUs they see, and steps that they count for themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.verify import Report, VerifySettings, verify
from converter.verify.profile import ProfileSettings as ProfileSettings
from converter.verify.profile import profile

pytestmark = pytest.mark.one_test_in(2)

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


@pytest.mark.one_in(2)
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


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS)
def test_profiles_of_scripts_that_count_gpus(tmp_path: Path, tensorflow_python: str, version: str) -> None:
    (tmp_path / "single.py").write_text(SINGLE)
    (tmp_path / "multi.py").write_text(HEAD + LOCAL + TOWERS)
    found = profile(tmp_path / "single.py", tmp_path / "multi.py", ProfileSettings(gpus=(2,), python=tensorflow_python))
    assert [measured.towers for measured in found.measured] == [2]


@pytest.mark.one_in(3)
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


OF_SIZES = """\
import numpy as np
import tensorflow as tf

batch_size, units = 8, 8
x = tf.placeholder(tf.float32, [None, 3])
optimizer = tf.train.AdamOptimizer(0.01)


def errors(x):
    return tf.reduce_sum(tf.square(tf.matmul(x, tf.get_variable('w', [3, 2]))), 1)


STEP
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, size):
        print(sess.run([train_op, shown], {x: np.random.RandomState(3).rand(64, 3)[begin:begin + size]})[1:])
"""
ALONE = """\
error, size = errors(x), batch_size
train_op = optimizer.minimize(tf.reduce_mean(error))
shown = tf.reduce_sum(error) / DIVISOR
"""
ON_TWO = """\
each, gradients, size = [], [], 2 * batch_size
for gpu in range(2):
    with tf.device('/gpu:%d' % gpu), tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):
        each.append(errors(tf.split(x, 2)[gpu]))
        gradients.append(optimizer.compute_gradients(tf.reduce_mean(each[-1]) / 2))
shown = tf.reduce_sum(tf.concat(each, 0)) / DIVISOR
train_op = optimizer.apply_gradients([(tf.add_n([g for g, _ in pair]), pair[0][1]) for pair in zip(*gradients)])
"""


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("own", "by_hand", "failed"),
    [
        ("batch_size", "(2 * batch_size)", set()),
        ("batch_size", "batch_size", {"fetches"}),
        ("units", "units", set()),  # as large by chance
    ],
)
def test_sums_divided_by_the_batch_size(
    tmp_path: Path, tensorflow_python: str, own: str, by_hand: str, failed: set[str]
) -> None:
    """Where the original reads its batch size its own text tells, though no plan says what the towers give."""
    for name, step, divisor in (("single", ALONE, own), ("multi", ON_TWO, by_hand)):
        (tmp_path / f"{name}.py").write_text(OF_SIZES.replace("STEP", step.replace("DIVISOR", divisor)))
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", VerifySettings(gpus=2, python=tensorflow_python))
    found = {check.name for check in report.checks if check.status == "failed"}
    assert found - {"uneven batch", "fewer examples than towers"} == failed, report.reason  # what tf.split refuses


NORM_HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = 8
rng = np.random.RandomState(1)
data, target = rng.rand(64, 3).astype('float32'), rng.randint(0, 3, 64)
x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
tf.set_random_seed(3)


def model(x, y):
    net = tf.layers.dense(x, 6, name='a')
    net = tf.nn.relu(tf.layers.batch_normalization(net, training=True, name='n'))
    scores = tf.layers.dense(net, 3, name='b')
    return scores, tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))


def with_average(scores, y):
    right = tf.reduce_sum(tf.nn.softmax(scores) * tf.one_hot(y, 3), 1)
    return tf.train.ExponentialMovingAverage(0.9).apply([tf.reduce_mean(right, name='right')])


optimizer = tf.train.GradientDescentOptimizer(0.1)
"""
NORM_TAIL = """
with tf.control_dependencies(updates + [average]):
    train_op = optimizer.apply_gradients(gradients)
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, size):
        print(sess.run([train_op, loss], {x: data[begin:begin + size], y: target[begin:begin + size]})[1:])
"""
NORM_SINGLE = """
scores, loss = model(x, y)
updates, average, size = tf.get_collection(tf.GraphKeys.UPDATE_OPS), with_average(scores, y), batch_size
gradients = optimizer.compute_gradients(loss)
"""
NORM_TOWERS = """
of_towers, losses, pairs = [], [], []
for gpu in range(2):
    with tf.device('/gpu:%d' % gpu), tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):
        scores, loss = model(tf.split(x, 2)[gpu], tf.split(y, 2)[gpu])
        of_towers.append(scores)
        losses.append(loss / 2)
        pairs.append(optimizer.compute_gradients(losses[-1]))
kept = tf.get_collection_ref(tf.GraphKeys.UPDATE_OPS)
del kept[2:]
updates, loss, size = list(kept), tf.add_n(losses), 2 * batch_size
average = with_average(tf.concat(of_towers, 0), y)
gradients = [(tf.add_n([g for g, _ in pair]), pair[0][1]) for pair in zip(*pairs)]
"""


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("old", "new", "failed"),
    [
        ("", "", set()),
        ("tf.concat(of_towers, 0), y)", "of_towers[1], tf.split(y, 2)[1])", {"update"}),
        pytest.param("del kept[2:]", "del kept[:2]", {"update"}, marks=pytest.mark.matrix),
    ],
    ids=["right", "of one tower", "statistics of the last tower"],
)
def test_an_average_of_what_depends_on_statistics_of_towers(
    tmp_path: Path, tensorflow_python: str, old: str, new: str, failed: set[str]
) -> None:
    assert not old or old in NORM_TOWERS
    for name, step in (("single", NORM_SINGLE), ("multi", NORM_TOWERS.replace(old, new) if old else NORM_TOWERS)):
        (tmp_path / f"{name}.py").write_text(NORM_HEAD + step + NORM_TAIL)
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", VerifySettings(gpus=2, python=tensorflow_python))
    found = {check.name for check in report.checks if check.status == "failed"}
    assert found - {"uneven batch", "fewer examples than towers"} == failed, report.reason  # what tf.split refuses
