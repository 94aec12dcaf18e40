"""Squeezes without an axis: where a tower's share of a batch is one example, the batch axis goes, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes

LOSS = "loss = tf.reduce_mean(tf.square(p - tf.squeeze(Y, 1)))\n"
FIXED = INPUTS.replace("[None,", "[batch_size,")


@pytest.mark.parametrize("given", ["", "input="])
def test_squeezes_of_rows_without_an_axis(given: str) -> None:
    model = f"p = tf.squeeze({given}tf.layers.dense(X, 1))\n"
    assert codes(INPUTS + model + LOSS + STEP + TRAINING) == ["TMG385"]


@pytest.mark.parametrize(
    ("inputs", "model"),
    [
        (INPUTS, "p = tf.squeeze(tf.layers.dense(X, 1), 1)"),
        (INPUTS, "p = tf.squeeze(tf.layers.dense(X, 1), axis=[-1])"),
        (INPUTS, "p = tf.layers.dense(X, 1)[:, 0] * tf.squeeze(tf.get_variable('w', [1]))"),
        (INPUTS, "p = tf.layers.dense(X, 1)[:, 0]\nshown = tf.squeeze(p)"),
        (FIXED, "p = tf.squeeze(tf.layers.dense(X, 1))"),
    ],
)
def test_squeezes_that_keep_the_rows(inputs: str, model: str) -> None:
    assert codes(inputs + model + "\n" + LOSS + STEP + TRAINING) == []


VALUES = """\
import numpy as np
import tensorflow as tf

batch_size = 32
x = tf.placeholder(tf.float32, [None, 6])
y = tf.placeholder(tf.float32, [None, {width}])
values = tf.squeeze({of})
loss = tf.reduce_mean(tf.square(values - {target}))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        states, targets = next_batch(batch_size)
        {ask}
        sess.run(train_op, {{x: states, y: targets}})
"""
ONE = "print(np.argmax(sess.run(values, {x: [states[0]]})))"


def values(of: str = "tf.layers.dense(x, 4)", width: int = 4, target: str = "y", ask: str = ONE) -> list[str]:
    return codes(VALUES.format(of=of, width=width, target=target, ask=ask))


@pytest.mark.parametrize("ask", [ONE, "print(values.eval({x: states[:1]}))"])
def test_a_vector_for_one_example(ask: str) -> None:
    assert values(ask=ask) == ["TMG261"]


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(lambda: values("tf.layers.dense(x, 1)", 1, "tf.squeeze(y, 1)"), id="one number an example"),
        pytest.param(lambda: values(ask="print(step)"), id="fetched by no run of its own"),
        pytest.param(
            lambda: values(ask="print(sess.run(loss, {x: states, y: targets}))"), id="only the loss is fetched"
        ),
        pytest.param(lambda: values("tf.reshape(x, [-1, 1, 6])", 6), id="an axis of length one"),
    ],
)
def test_a_squeeze_that_is_only_warned_of(found: Callable[[], list[str]]) -> None:
    assert found() == ["TMG385"]


FEW = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None])
p = tf.squeeze(tf.layers.dense(x, 1){axis})
loss = tf.reduce_mean(tf.square(p - y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
xs = {xs}
with tf.Session() as sess:
    for step in range(100):
        sess.run(train_op, {{x: xs, y: np.ones(len(xs))}})
"""
THREE = "np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])"


@pytest.mark.parametrize(
    ("xs", "axis", "gpus", "found"),
    [
        (THREE, "", 2, ["TMG261"]),
        ("np.ones((7, 4))", "", 4, ["TMG261"]),
        ("np.ones((4, 4))", "", 2, ["TMG385"]),
        ("np.ones((8, 4))", "", 4, ["TMG385"]),
        ("np.load('x.npy')", "", 2, ["TMG385", "TMG303"]),
        (THREE, ", 1", 2, ["TMG303"]),
    ],
)
def test_steps_that_leave_a_tower_one_example(xs: str, axis: str, gpus: int, found: list[str]) -> None:
    assert codes(FEW.format(xs=xs, axis=axis), num_gpus=gpus, batch="total") == found


RESTORED = """\
import tensorflow as tf

batch_size = 16
x = tf.placeholder(tf.float32, [batch_size, 32, 3])
y = tf.placeholder(tf.int64, [batch_size])


def distances(p, q):
    rows = p.get_shape()[0].value
    one = {squeezed}
    if {test}:
        one = {restored}
    return tf.matmul(one, tf.transpose(one, perm=[0, 2, 1]))


logits = tf.layers.dense(tf.reshape(distances(x, y), [batch_size, -1]), 3)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        _, shown = sess.run([train_op, logits], {{x: xs, y: ys}})
        save(shown)
"""


@pytest.mark.parametrize(
    ("test", "restored", "squeezed", "refused"),
    [
        ("rows == 1", "tf.expand_dims(one, 0)", "tf.squeeze(p)", False),
        ("1 == rows", "tf.expand_dims(one, axis=0)", "tf.squeeze(p)", False),
        ("p.get_shape().as_list()[0] == 1", "tf.expand_dims(one, 0)", "tf.squeeze(p)", False),
        ("rows == 2", "tf.expand_dims(one, 0)", "tf.squeeze(p)", True),
        ("rows != 1", "tf.expand_dims(one, 0)", "tf.squeeze(p)", True),
        ("rows // 2 == 1", "tf.expand_dims(one, 0)", "tf.squeeze(p)", True),
        ("rows == 1", "tf.expand_dims(tf.nn.relu(one), 0)", "tf.squeeze(p)", True),
        ("rows == 1", "tf.expand_dims(one, 0)", "tf.squeeze(tf.reshape(p, [batch_size, 1, 32, 3]), axis=1)", True),
        ("flag()", "tf.expand_dims(one, 0)", "tf.squeeze(p)", True),
    ],
)
def test_an_axis_that_is_put_back_where_there_is_one_row(
    test: str, restored: str, squeezed: str, refused: bool
) -> None:
    found = codes(RESTORED.format(test=test, restored=restored, squeezed=squeezed))
    assert found == (["TMG210"] if refused else [])
