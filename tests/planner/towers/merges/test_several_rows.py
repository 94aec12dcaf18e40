"""What is made in a shape of several rows for each example keeps all of them behind the towers."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, body

MODEL = """\
count = tf.shape(X)[0]
made = {}
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y)) + tf.reduce_mean(made)
"""
TRAINING = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        _, held = sess.run([train_op, made], {X: xs, Y: ys})
"""
WHOLE = "tower_made.append(made[:tf.shape(made)[0] * tf.minimum(rows, 1)])"


@pytest.mark.parametrize(
    ("made", "cut"),
    [
        ("tf.layers.dense(tf.ones([2 * count, 4]), 1)", WHOLE),
        ("tf.layers.dense(tf.random_normal([count * 3, 4]), 1)", WHOLE),
        ("tf.layers.dense(tf.ones([2 * batch_size, 4]), 1)", WHOLE),
        ("tf.reshape(X, [-1]) * tf.ones([tf.size(X)])", WHOLE),
        ("tf.to_float(tf.range(tf.size(X)))", WHOLE),
        ("tf.layers.dense(tf.ones([count, 4]), 1)", "tower_made.append(made[:rows])"),
        ("tf.layers.dense(tf.ones([batch_size, 4]), 1)", "tower_made.append(made[:rows])"),
    ],
)
def test_all_rows_are_kept(made: str, cut: str) -> None:
    lines = [line.strip() for line in body(INPUTS + MODEL.format(made) + STEP + TRAINING)]
    lines = [line.replace("rows_drawn", "rows") for line in lines]  # those of a batch that only its size tells
    assert cut in lines and "made = tf.concat(tower_made, 0)" in lines
