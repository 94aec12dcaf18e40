"""Placeholders with the examples along both axes, beside matrices over all examples that the model makes itself."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import tensorflow as tf

batch_size = 8
A = tf.placeholder(tf.float32, [None, {columns}])
X = tf.placeholder(tf.float32, [None, 20])
h = tf.layers.dense(X, 5)
degrees = tf.reduce_sum(A, 1)
{pairs}
loss = tf.trace(tf.matmul(tf.matmul(tf.transpose(h), pairs), h)) + tf.reduce_sum(tf.square(h))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 96, batch_size):
        ids = slice(i, i + batch_size)
        sess.run(train_op, {{X: table[ids], A: table[ids][:, ids]}})
"""


@pytest.mark.parametrize(
    "pairs", ["tf.diag(degrees) - A", "tf.matrix_diag(degrees) - A", "A + tf.linalg.tensor_diag(degrees)"]
)
def test_what_is_fed_for_all_pairs_meets_a_diagonal_of_the_examples(pairs: str) -> None:
    assert codes(SCRIPT.format(columns=None, pairs=f"pairs = {pairs}")) == ["TMG233"]


@pytest.mark.parametrize(
    ("columns", "pairs"),
    [
        (None, "tf.diag(degrees)"),  # a tower's own pairs, of its own rows
        (6, "tf.diag(tf.reduce_sum(A, 1))"),
        (6, "tf.matmul(h, h, transpose_b=True) * tf.matrix_diag(tf.reduce_mean(A, 1))"),
    ],
)
def test_matrices_that_a_tower_makes_of_its_own_rows(columns: int | None, pairs: str) -> None:
    assert codes(SCRIPT.format(columns=columns, pairs=f"pairs = {pairs}")) == ["TMG302"]
