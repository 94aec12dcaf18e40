"""Arguments that a scope gives to functions of the script: `with arg_scope([dense], activation=tf.nn.relu):`."""

from __future__ import annotations

import pytest

from tests.scripts import case_of, codes, parts

SCRIPT = """\
import tensorflow as tf
from tensorflow.contrib.framework import add_arg_scope, arg_scope

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])


@add_arg_scope
def dense(x, width=3, repeat=None):
    x = tf.layers.dense(x, width)
    return x if repeat is None else tf.tile(x, [1, repeat])


{scope}
    h = {calls}
loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{X: xs, Y: ys}})
"""


def widths(scope: str, calls: str) -> list[int | None]:
    made = case_of(SCRIPT.format(scope=scope, calls=calls)).facts.tensors
    return [t.dims[-1] for t in made if t.op == "layers.dense" and t.dims is not None][:-1]


@pytest.mark.parametrize(
    ("scope", "calls", "found"),
    [
        ("with arg_scope([dense], width=7):", "dense(X)", [7]),
        ("with arg_scope([dense], width=7):", "dense(X, width=5)", [5]),
        ("with arg_scope([dense], width=7), arg_scope([dense], width=6):", "dense(X)", [6]),
        ("with arg_scope([dense], width=7), arg_scope([dense], repeat=2):", "dense(X)", [7]),
        ("with arg_scope([tf.layers.dense], width=7):", "dense(X)", [3]),
        ("scope = arg_scope([dense], width=7)\nwith arg_scope(scope):", "dense(X)", [7]),
        ("with arg_scope([dense], width=7):\n    pass\nif True:", "dense(X)", [3]),
        ("scope = tf.contrib.slim.arg_scope\nwith scope([dense], width=7):", "dense(dense(X))", [7, 7]),
    ],
)
def test_what_a_function_is_given(scope: str, calls: str, found: list[int | None]) -> None:
    assert widths(scope, calls) == found


def test_the_model_is_converted() -> None:
    script = SCRIPT.format(scope="with arg_scope([dense], width=7, repeat=2):", calls="dense(X)")
    assert codes(script) == []
    assert "with arg_scope([dense], width=7, repeat=2):" in parts(script)[1]
