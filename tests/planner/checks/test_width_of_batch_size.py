"""A batch size that is a width of the model, too, is refused where the width would change."""

from __future__ import annotations

import pytest

from tests.scripts import codes

NAME = "batch_size = 32\nSIZE = batch_size\n"
FLAG = "flags = tf.app.flags\nflags.DEFINE_integer('batch_size', 32, '')\nFLAGS = flags.FLAGS\n"
ARGUMENT = (
    "import argparse\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--batch_size', type=int, default=32)\nargs = parser.parse_args()\n"
)
ATTRIBUTE = "class Config(object):\n    batch_size = 32\nconfig = Config()\n"
HEADS = {NAME: "batch_size", FLAG: "FLAGS.batch_size", ARGUMENT: "args.batch_size", ATTRIBUTE: "config.batch_size"}
IDS = ["name", "flag", "argument", "attribute"]
SCRIPT = """\
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
{model}
loss = tf.reduce_mean(tf.square(h - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        xs, ys = next_batch(SIZE)
        sess.run(train_op, {X: xs, Y: ys})
"""


def script(head: str, model: str) -> str:
    return "import tensorflow as tf\n" + head + SCRIPT.replace("{model}", model).replace("SIZE", HEADS[head])


IDS_OF_X = "tf.cast(X[:, 0], tf.int32)"
INSIDE = [
    "h = tf.layers.dense(tf.layers.dense(X, SIZE), 1)",
    "h = tf.layers.dense(tf.layers.dense(X, 2 * SIZE), 1)",
    "h = tf.layers.dense(tf.layers.dense(X, units=SIZE // 2), 1)",
    "units = SIZE\nh = tf.layers.dense(tf.layers.dense(X, units), 1)",
    "h = tf.layers.dense(tf.keras.layers.Dense(SIZE)(X), 1)",
    "h = tf.layers.dense(tf.contrib.slim.fully_connected(X, SIZE), 1)",
    "h = tf.layers.dense(tf.layers.flatten(tf.layers.conv1d(tf.expand_dims(X, 2), SIZE, 2)), 1)",
    f"h = tf.layers.dense(tf.contrib.layers.embed_sequence({IDS_OF_X}, 50, SIZE), 1)",
    f"h = tf.layers.dense(tf.one_hot({IDS_OF_X}, SIZE), 1)",
    f"h = tf.layers.dense(tf.sequence_mask({IDS_OF_X}, SIZE, dtype=tf.float32), 1)",
    "h = tf.reduce_mean(tf.nn.top_k(tf.layers.dense(X, 64), SIZE)[0], 1, keep_dims=True)",
    "h = tf.layers.dense(tf.reshape(tf.layers.dense(X, 64), [-1, 2, SIZE])[:, 0], 1)",
]


@pytest.mark.parametrize("head", HEADS, ids=IDS)
@pytest.mark.parametrize("model", INSIDE)
def test_a_width_inside_the_towers_is_a_share_of_the_script_s_with_batch_total(head: str, model: str) -> None:
    assert codes(script(head, model), batch="total") == ["TMG255"]
    assert codes(script(head, model)) == []  # there it is the script's


OUTSIDE = [
    "layer = tf.keras.layers.Dense(SIZE)\nh = tf.layers.dense(layer(X), 1)",
    "cell = tf.nn.rnn_cell.GRUCell(SIZE)\n"
    "h = tf.layers.dense(tf.nn.dynamic_rnn(cell, X[:, None], dtype=tf.float32)[1], 1)",
    "cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(num_units=SIZE), 0.5)\n"
    "h = tf.layers.dense(tf.nn.dynamic_rnn(cell, X[:, None], dtype=tf.float32)[1], 1)",
    "cells = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(SIZE) for _ in range(2)])\n"
    "h = tf.layers.dense(tf.nn.dynamic_rnn(cells, X[:, None], dtype=tf.float32)[0][:, -1], 1)",
]


@pytest.mark.parametrize("head", HEADS, ids=IDS)
@pytest.mark.parametrize("model", OUTSIDE)
def test_a_width_in_front_of_the_towers_grows_with_the_batch(head: str, model: str) -> None:
    assert codes(script(head, model)) == ["TMG255"]
    assert codes(script(head, model), batch="total") == []  # there it is the script's


@pytest.mark.parametrize("batch", ["per-gpu", "total"])
@pytest.mark.parametrize(
    "model",
    [
        "h = tf.layers.dense(tf.layers.dense(X, 32), 1)",
        "h = tf.layers.dense(tf.reshape(X, [SIZE, -1]), 1)",
        "h = tf.layers.dense(tf.reshape(X, [SIZE, 2, 2])[:, 0], 1)",
        "cell = tf.nn.rnn_cell.GRUCell(8)\nstate = cell.zero_state(SIZE, tf.float32)\n"
        "h = tf.layers.dense(tf.nn.dynamic_rnn(cell, X[:, None], initial_state=state)[1], 1)",
        "cell = tf.nn.rnn_cell.GRUCell(8)\nlengths = [1] * SIZE\n"
        "h = tf.layers.dense(tf.nn.dynamic_rnn(cell, X[:, None], lengths, dtype=tf.float32)[1], 1)",
        "layer = tf.keras.layers.Dense(8, batch_input_shape=(SIZE, 4))\nh = tf.layers.dense(layer(X), 1)",
        "h = tf.layers.dense(X + tf.random_normal([SIZE, 4]), 1)",
        "h = tf.layers.dense(X, 1) + tf.reduce_sum(tf.one_hot(tf.range(SIZE), SIZE), 1, keep_dims=True)",
    ],
)
def test_numbers_of_rows_are_no_widths(model: str, batch: str) -> None:
    assert codes(script(NAME, model), batch=batch) == []
