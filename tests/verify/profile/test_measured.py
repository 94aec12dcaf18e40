"""What a step moves and computes, against figures worked out by hand, on TensorFlow 1.15 and 2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from converter.verify.profile import Profile, ProfileSettings, profile
from converter.verify.profile.data import EXCHANGED

pytestmark = pytest.mark.one_test_in(2)

VERSIONS = [pytest.param("2", marks=pytest.mark.tf2), pytest.param("1.15", marks=pytest.mark.tf1)]

# 98 % of the parameters' 2000 bytes are one variable's.
DENSE = """\
import numpy as np
import tensorflow as tf

batch_size = 8
x = tf.placeholder(tf.float32, [None, 49])
w = tf.get_variable('w', [49, 10])
b = tf.get_variable('b', [10])
loss = tf.reduce_mean(tf.matmul(x, w) + b)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(4):
        sess.run(train_op, {x: np.ones([batch_size, 49])})
"""
PARAMETERS = (49 * 10 + 10) * 4

CONVOLUTIONS = """\
import numpy as np
import tensorflow as tf

batch_size = 6
x = tf.placeholder(tf.float32, [None, 8, 8, 2])
first = tf.get_variable('first', [3, 3, 2, 5])
second = tf.get_variable('second', [3, 3, 5, 1])
hidden = tf.nn.conv2d(x, first, [1, 1, 1, 1], 'SAME')
hidden = tf.nn.depthwise_conv2d(hidden, second, [1, 2, 2, 1], 'SAME')
loss = tf.reduce_mean(hidden)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(4):
        sess.run(train_op, {x: np.ones([batch_size, 8, 8, 2])})
"""


@dataclass(frozen=True)
class Case:
    """One profile of a script, kept for the tests that look at it from different sides."""

    single: str
    python: str
    variables: str = "cpu"
    batch: str = "per-gpu"
    gpus: tuple[int, ...] = (2, 4, 8)
    replaced: tuple[str, str] = ("", "")


@cache
def profiled(case: Case) -> Profile:
    options = Options(variables=case.variables, batch=case.batch)
    conversion = convert(from_bytes("single.py", case.single.encode()), options)
    assert conversion.text is not None, conversion.diagnostics
    assert case.replaced[0] in conversion.text
    with TemporaryDirectory() as folder:
        single, multi = Path(folder, "single.py"), Path(folder, "multi.py")
        single.write_text(case.single)
        multi.write_text(conversion.text.replace(*case.replaced) if case.replaced[0] else conversion.text)
        return profile(single, multi, ProfileSettings(case.gpus, python=case.python))


@pytest.mark.one_in(5)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("variables", "factors", "device"),
    [
        ("cpu", {2: 2, 4: 4, 8: 8}, "host"),
        ("gpu:0", {2: 1, 4: 3, 8: 7}, "gpu:0"),
        # the GPU with 98 % sends them to N - 1 others, and 2 % of the gradients to where these variables are
        ("balanced", {2: 1, 4: 2.96, 8: 6.88}, "gpu:0"),
    ],
)
def test_parameters_and_gradients_through_the_busiest_device(
    tensorflow_python: str, version: str, variables: str, factors: dict[int, float], device: str
) -> None:
    found = profiled(Case(DENSE, tensorflow_python, variables))
    assert found.parameters == PARAMETERS
    assert (found.original.rows, [one.rows for one in found.measured]) == (8, [16, 32, 64])
    busiest = {one.towers: one.busiest(*EXCHANGED) for one in found.measured}
    assert {towers: size for towers, (_, size) in busiest.items()} == pytest.approx(
        {towers: factor * PARAMETERS for towers, factor in factors.items()}, rel=1e-9
    )
    assert {name for _, (name, _) in list(busiest.items())[1:]} == {device}
    assert {towers: found.bound(towers) / PARAMETERS for towers in factors} == {2: 1, 4: 1.5, 8: 1.75}
    assert not found.warnings


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("batch", ["per-gpu", "total"])
def test_batches_cross_once(tensorflow_python: str, version: str, batch: str) -> None:
    found = profiled(Case(DENSE, tensorflow_python, batch=batch))
    one_batch = 8 * 49 * 4
    assert (found.batch, found.original.fed, found.original.edges) == (batch, one_batch, ())
    for one in found.measured:
        assert one.fed == one_batch * (one.towers if batch == "per-gpu" else 1)
        crossed = sum(size for edge in one.edges for kind, size in edge.kinds if kind == "inputs")
        assert one.fed <= crossed <= one.fed + 16 * one.towers  # beside the rows each tower's weight
        assert all(dict(edge.kinds).get("inputs", 0) == 0 for edge in one.edges if edge.source != "host")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS)
def test_work_of_a_tower(tensorflow_python: str, version: str) -> None:
    found = profiled(Case(DENSE, tensorflow_python))
    # Forward, the gradient of w, and that of x, which TensorFlow computes beside it.
    products = 3 * (2 * 8 * 49 * 10)
    others = 4 * 8 * 10  # adding b and its gradient, the mean and its gradient
    for one in (found.original, *found.measured):
        devices = [f"gpu:{gpu}" for gpu in range(one.towers)] if one is not found.original else ["host"]
        for device in devices:
            assert products <= dict(one.flops)[device] <= products + others + 20
    assert dict(found.measured[0].flops)["host"] >= 500  # adds two gradients of 500 numbers


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS)
def test_work_of_convolutions(tensorflow_python: str, version: str) -> None:
    found = profiled(Case(CONVOLUTIONS, tensorflow_python, gpus=(2,)))
    # Forward; each of the gradients, of the filters and of what came in, takes as much.
    plain = 2 * (6 * 8 * 8 * 5) * (3 * 3 * 2)
    depthwise = 2 * (6 * 4 * 4 * 5) * (3 * 3)
    work = dict(found.measured[0].flops)
    for gpu in ("gpu:0", "gpu:1"):
        assert 3 * (plain + depthwise) <= work[gpu] <= 3 * (plain + depthwise) + 1000  # twice the mean's 480
    assert not found.notes


@pytest.mark.tf2
def test_another_number_of_towers_than_asked_is_said(tensorflow_python: str) -> None:
    two = ("for gpu in range(num_gpus)", "for gpu in range(2)")
    found = profiled(Case(DENSE, tensorflow_python, gpus=(2, 4), replaced=two))
    assert found.warnings == ("2 towers computed gradients where 4 were asked for",)
    assert [one.towers for one in found.measured] == [2]


@pytest.mark.tf2
def test_a_number_of_towers_that_fails_leaves_the_others(tensorflow_python: str) -> None:
    broken = ("batch_size = 8 * num_gpus", "batch_size = 8 * num_gpus\nassert num_gpus != 4, 'not four'")
    found = profiled(Case(DENSE, tensorflow_python, gpus=(2, 4), replaced=broken))
    assert [one.towers for one in found.measured] == [2]
    assert found.warnings == (
        "not measured: the converted script with 4 towers failed before or in its first training steps: "
        "AssertionError: not four",
    )
    assert {row.gpus for row in found.predictions} == {1, 2}  # too few to tell about others


@pytest.mark.tf2
def test_batches_of_a_dataset_are_read(tensorflow_python: str) -> None:
    data = Path(__file__).parents[1] / "data" / "dataset"
    found = profile(data / "single.py", data / "multi.py", ProfileSettings((2,), python=tensorflow_python))
    (two,) = found.measured
    assert (two.fed, two.read, found.original.read) == (0, 240, 120)
    # cut on the towers: the whole batch goes to each
    given = {edge.target: dict(edge.kinds).get("inputs", 0) for edge in two.edges if edge.source == "host"}
    assert given == {"gpu:0": 240, "gpu:1": 240}


LOOKUP = """\
import numpy as np
import tensorflow as tf

batch_size = 8
ids = tf.placeholder(tf.int32, [None, 3])
table = tf.get_variable('table', [1000, 4])
loss = tf.reduce_mean(tf.nn.embedding_lookup(table, ids))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(4):
        sess.run(train_op, {ids: np.ones([batch_size, 3])})
"""


@pytest.mark.tf2
def test_only_the_rows_that_are_looked_up_cross(tensorflow_python: str) -> None:
    found = profiled(Case(LOOKUP, tensorflow_python, gpus=(2,)))
    assert found.parameters == 1000 * 4 * 4
    rows = 8 * 3 * 4 * 4
    kinds = {(edge.source, edge.target): dict(edge.kinds) for edge in found.measured[0].edges}
    for gpu in ("gpu:0", "gpu:1"):
        assert kinds["host", gpu]["parameters"] == rows
        assert rows <= kinds[gpu, "host"]["gradients"] <= rows + 8 * 3 * 4  # and their indices
