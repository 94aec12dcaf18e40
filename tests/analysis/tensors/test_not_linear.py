"""What is computed from a mean over the batch, and is no mean itself: a loss of it is warned of."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 16
data = np.random.rand(320, 12).astype('float32')
x = tf.placeholder(tf.float32, [None, 12])
h = tf.layers.dense(x, 8, tf.nn.relu)
m = tf.reduce_mean(h, 0)
c = tf.constant(np.ones(8, 'float32'))
loss = {}
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 320, batch_size):
        sess.run(train_op, {{x: data[i:i + batch_size]}})
"""


@pytest.mark.parametrize(
    "loss",
    [
        "tf.nn.l2_loss(m - c)",
        "tf.nn.l2_loss(tf.reduce_mean(h))",
        "tf.losses.mean_squared_error(c, m)",
        "tf.losses.absolute_difference(c, m)",
        "tf.losses.softmax_cross_entropy(c[None], m[None])",
        "tf.reduce_sum(tf.nn.top_k(m, 3)[0])",
        "tf.reduce_sum(tf.sort(m))",
        "tf.reduce_sum(tf.layers.dense(m[None], 3, tf.nn.relu))",
        "tf.reduce_sum(tf.layers.dense(m[None], 3, activation=tf.nn.relu))",
        "tf.reduce_sum(tf.layers.batch_normalization(m[None], training=True))",
        "tf.reduce_sum(tf.nn.max_pool(m[None, :, None, None], [1, 2, 1, 1], [1, 2, 1, 1], 'SAME'))",
        "tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits_v2(labels=c[None], logits=m[None]))",
        "tf.reduce_sum(tf.keras.layers.Dense(3, 'relu')(m[None]))",
        "tf.cond(tf.reduce_sum(m) > 1., lambda: tf.reduce_sum(m), lambda: 0.)",
        "tf.reduce_mean(h) * tf.cond(tf.reduce_sum(m) > 1., lambda: 2., lambda: 1.)",
        "tf.reduce_mean(h) * tf.case([(tf.reduce_sum(m) > 1., lambda: tf.constant(2.))], lambda: tf.constant(1.))",
        "tf.reduce_mean(h) * tf.cond(tf.reduce_sum(m) > 1., lambda: (2., 1.), lambda: (1., 1.))[0]",
        "tf.reduce_mean(h) / tf.to_float(tf.size(tf.unique(h[:, 0])[0]))",
        "tf.reduce_mean(h) / tf.to_float(tf.shape(tf.where(h > 0.5))[0] + 1)",
        "tf.reduce_mean(h) / tf.to_float(tf.size(tf.matmul(h, h, transpose_b=True)))",
    ],
)
def test_no_mean_any_more(loss: str) -> None:
    assert codes(SCRIPT.format(loss)) == ["TMG302"]


@pytest.mark.parametrize(
    "loss",
    [
        "tf.reduce_sum(m)",
        "tf.reduce_mean(tf.square(h))",
        "tf.nn.l2_loss(h) / batch_size",
        "tf.losses.compute_weighted_loss(m)",
        "tf.reduce_sum(tf.layers.dense(m[None], 3))",  # the mean of the rows' results is the result of their mean
        "tf.reduce_sum(tf.layers.dense(m[None], 3, None))",
        "tf.reduce_sum(tf.nn.conv1d(m[None, :, None], tf.ones([3, 1, 1]), 1, 'SAME'))",
        "tf.cond(tf.placeholder_with_default(True, []), lambda: tf.reduce_sum(m), lambda: 2 * tf.reduce_sum(m))",
    ],
)
def test_still_a_mean(loss: str) -> None:
    assert codes(SCRIPT.format(loss)) == []


@pytest.mark.parametrize(
    "made",
    [
        "tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), h[None], dtype=tf.float32)[0]",
        "tf.layers.conv1d(h[None], 4, 3, padding='same')",
        "tf.nn.conv1d(tf.expand_dims(h, 0), tf.ones([3, 8, 4]), 1, 'SAME')",
        "tf.nn.max_pool(h[None, :, :, None], [1, 2, 1, 1], [1, 1, 1, 1], 'SAME')",
        "tf.contrib.layers.conv2d(h[None, :, :, None], 3, 3)",
        "tf.layers.dense(tf.transpose(h), 3)",
        "tf.layers.dense(tf.layers.flatten(tf.transpose(h)), 3)",
        "tf.contrib.layers.layer_norm(tf.transpose(h))",
        "tf.keras.layers.Conv1D(4, 3)(h[None])",
        "tf.keras.layers.LSTM(4)(h[None])",
        "tf.keras.layers.Dense(4)(tf.transpose(h))",
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.transpose(h), logits=tf.transpose(h))",
    ],
)
def test_what_runs_over_the_batch_makes_no_mean(made: str) -> None:
    """As where all rows are the steps of one series: `tf.expand_dims(x, 0)`."""
    script = SCRIPT.format(f"tf.reduce_mean({made})")
    assert codes(script) == ["TMG302"]
    whole = f"\nloss = tf.reduce_mean({made})\n" in converted(script, batch="total")
    assert whole or codes(script, batch="total") == ["TMG302"]  # what has no variables is computed once, of all rows


@pytest.mark.parametrize(
    "made",
    [
        "tf.layers.dense(h[None], 3)",
        "tf.layers.dense(h[:, None], 3)",
        "tf.contrib.layers.fully_connected(h[None], 3)",
        "tf.keras.layers.Dense(4)(h[None])",
        "tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), h[None], time_major=True, dtype=tf.float32)[0]",
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels=h[None], logits=h[None])",
        "tf.layers.conv1d(h[:, None], 4, 3, padding='same')",
    ],
)
def test_rows_along_another_axis_are_rows(made: str) -> None:
    assert codes(SCRIPT.format(f"tf.reduce_mean({made})")) == []
