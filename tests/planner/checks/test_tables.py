"""Tables that an initializer fills: rows and matrices that are looked up in them, one for each example."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes


@pytest.mark.parametrize("table", ["tf.concat([made([9, 4]), made([7, 4])], 0)", "tf.Variable(made([16, 4]))"])
@pytest.mark.parametrize("initializer", ["tf.contrib.layers.xavier_initializer()", "tf.random_normal_initializer()"])
def test_matrices_that_are_looked_up(table: str, initializer: str) -> None:
    """A matrix for each example, of a table that an initializer fills: no matrix over the examples."""
    model = (
        f"made = {initializer}\nids = tf.placeholder(tf.int32, [None])\n"
        f"rows = tf.nn.embedding_lookup(tf.expand_dims({table}, 1), ids)\n"
        "each = tf.nn.embedding_lookup(tf.Variable(made([5, 4, 1])), ids)\n"
        "h = tf.reshape(tf.matmul(rows, each), [-1, 1]) + tf.layers.dense(X, 1)\n"
        "loss = tf.reduce_mean(tf.square(h - Y))\n"
    )
    fed = TRAINING.replace("{X: xs, Y: ys}", "{X: xs, Y: ys, ids: next_ids(batch_size)}")
    assert codes(INPUTS + model + STEP + fed) == []


def test_a_matrix_over_the_examples_stays_one() -> None:
    graph = "made = tf.random_normal_initializer()\nedges = tf.Variable(made([32, 32]))\n"
    model = graph + "h = tf.layers.dense(tf.matmul(edges, X), 1)\nloss = tf.reduce_mean(tf.square(h - Y))\n"
    assert codes(INPUTS + model + STEP + TRAINING) == ["TMG233"]
