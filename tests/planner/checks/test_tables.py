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


FACTORS = (
    "import numpy as np\nimport tensorflow as tf\n\nratings = tf.placeholder(tf.float32{shape})\n"
    "P = tf.Variable({rows}, dtype=tf.float32)\nQ = tf.Variable(np.random.rand(6, 2), dtype=tf.float32)\n"
    "B = tf.Variable(0.1)\n"
    "loss = tf.reduce_sum(tf.square({product} - ratings))\n" + STEP + "with tf.Session() as sess:\n"
    "    sess.run(tf.global_variables_initializer())\n    for step in range(100):\n"
    "        sess.run(train_op, {{ratings: load()}})\n"
)


@pytest.mark.parametrize("shape", ["", ", [None, 6]", ", [8, 6]", ", [None, None]"])
@pytest.mark.parametrize("rows", ["np.random.rand(8, 2)", "load_rows()"])
@pytest.mark.parametrize(
    "product", ["tf.matmul(P, Q, transpose_b=True)", "2 * tf.sigmoid(tf.matmul(P, Q, False, True) + B)"]
)
def test_factors_of_all_that_is_fed(shape: str, rows: str, product: str) -> None:
    assert codes(FACTORS.format(shape=shape, rows=rows, product=product)) == ["TMG233"]


@pytest.mark.parametrize(
    "model",
    [
        "h = X * tf.Variable(tf.ones([4])) + tf.get_variable('b', [1, 4])",
        "h = X + tf.matmul(tf.get_variable('a', [1, 3]), tf.get_variable('b', [3, 4]))",
        "h = tf.expand_dims(X, 1) - tf.get_variable('centers', [8, 4])",
        "h = tf.expand_dims(X, 2) * tf.get_variable('v', [4, 8])",
        "h = X + tf.gather(tf.get_variable('rows', [50, 4]), tf.argmax(X, 1))",
        "h = X * tf.get_variable('diagonal', [4, 4])[0]",
        "h = tf.matmul(X, tf.matmul(tf.get_variable('u', [4, 2]), tf.get_variable('v', [2, 4])))",
        "h = tf.transpose(tf.transpose(X) * tf.get_variable('w', [4, 1]))",
    ],
)
def test_variables_that_are_spread_over_the_examples(model: str) -> None:
    text = f"{model}\nloss = tf.reduce_mean(tf.square(tf.layers.dense(tf.layers.flatten(h), 1) - Y))\n"
    assert codes(INPUTS + text + STEP + TRAINING) == []


def test_a_line_that_is_fitted_to_numbers_without_a_shape() -> None:
    names = "batch_size = 32\nX = tf.placeholder(tf.float32)\nY = tf.placeholder(tf.float32)\n"
    inputs = "import tensorflow as tf\n" + names
    model = "w, b = tf.Variable([0.1]), tf.Variable([0.2])\nloss = tf.reduce_mean(tf.square(X * w + b - Y))\n"
    assert "TMG233" not in codes(inputs + model + STEP + TRAINING)
