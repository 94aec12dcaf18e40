"""A network that sees two batches at once, one behind the other: each half is a whole batch of the tower's."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts

SCRIPT = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [batch_size, 4, 2])
Z = tf.placeholder(tf.float32, [batch_size, 4, 2])
both = {both}
seen = tf.layers.dense(both, 1)
{loss}
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, zs = next_batch(batch_size)
        keep(sess.run([train_op, {shown}], {{X: xs, Z: zs}}))
"""
HALVES = """\
real, made = tf.split(seen, 2)
loss = tf.reduce_mean(tf.square(real - 1)) + tf.reduce_mean(tf.square(made))"""
WHOLE = """\
wanted = tf.concat([tf.ones([batch_size, 1]), tf.zeros([batch_size, 1])], 0)
loss = tf.reduce_mean(tf.square(seen - wanted))"""


def script(both: str, loss: str = HALVES, shown: str = "loss") -> str:
    return SCRIPT.format(both=both, loss=loss, shown=shown)


@pytest.mark.parametrize(
    "both",
    [
        "tf.reshape(tf.concat([X, Z], 0), [-1, 8])",
        "tf.reshape(tf.concat([X, Z], 0), [2 * batch_size, 8])",
        "tf.concat([tf.reshape(X, [-1, 8]), tf.reshape(Z, [-1, 8])], 0)",
    ],
)
def test_halves_behind_a_reshape(both: str) -> None:
    towers = parts(script(both))[1]
    assert any("real, made = tf.split(seen, 2)" in line for line in towers)


@pytest.mark.parametrize(
    ("both", "code"),
    [
        ("tf.reshape(tf.concat([X, Z], 0), [-1, 16])", "TMG218"),  # rows of two examples
        # of 4 and of 1 row an example
        ("tf.concat([tf.reshape(X, [-1, 2]), tf.reshape(Z, [-1, 8])[:, :2]], 0)", "TMG215"),
        ("tf.concat([tf.reshape(X, [-1, 8]), tf.ones([4, 8])], 0)", "TMG215"),
    ],
)
def test_halves_that_are_no_whole_batches(both: str, code: str) -> None:
    assert codes(script(both)) == [code]


@pytest.mark.parametrize("size", ["-1", "2 * batch_size"])
def test_two_batches_are_not_in_the_order_of_the_examples(size: str) -> None:
    both = f"tf.reshape(tf.concat([X, Z], 0), [{size}, 8])"
    assert codes(script(both, WHOLE, "seen")) == ["TMG210"]
    assert "TMG210" not in codes(script(both, WHOLE))
