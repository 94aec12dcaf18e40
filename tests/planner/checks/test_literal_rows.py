"""With --batch total a number of the model that is as large as the batch size is refused."""

from __future__ import annotations

import pytest

from tests.scripts import codes

LITERAL = "import tensorflow as tf\n\nbatch_size = 32\nsize = batch_size\n"
FLAG = (
    "import tensorflow as tf\n\nflags = tf.app.flags\nflags.DEFINE_integer('batch_size', 32, '')\nFLAGS = flags.FLAGS\n"
)
ARGUMENT = (
    "import argparse\nimport tensorflow as tf\n\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--batch_size', type=int, default=32)\nFLAGS = parser.parse_args()\n"
)
SCRIPT = """\
X = tf.placeholder(tf.float32, [None, 4])
{model}
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    for step in range(9):
        sess.run(train_op, {{X: next_batch({size})}})
"""
MEAN = "loss = tf.reduce_mean(tf.square(h))"


def script(head: str, model: str) -> str:
    size = "batch_size" if head == LITERAL else "FLAGS.batch_size"
    return head + SCRIPT.format(model=model.replace("SIZE", size), size=size)


@pytest.mark.parametrize("head", [LITERAL, FLAG, ARGUMENT], ids=["number", "flag", "argument"])
@pytest.mark.parametrize(
    ("model", "per_gpu"),
    [
        (f"h = tf.layers.dense(tf.reshape(tf.layers.dense(X, 6), [32, 2, 3]), 2)\n{MEAN}", ["TMG302"]),
        (f"noise = tf.random_normal([32, 4])\nh = tf.layers.dense(X + noise, 2)\n{MEAN}", []),
        (f"h = tf.layers.dense(X * tf.ones([32, 1]), 2)\n{MEAN}", []),
    ],
)
def test_a_number_that_counts_rows(head: str, model: str, per_gpu: list[str]) -> None:
    assert codes(script(head, model), batch="total") == ["TMG254"]
    assert codes(script(head, model)) == per_gpu


CELL = "cell = tf.nn.rnn_cell.GRUCell(6)\nx = tf.reshape(tf.layers.dense(X, 12), [-1, 3, 4])\n"
STARTS = [
    "cell.zero_state(32, tf.float32)",
    "cell.zero_state(batch_size=32, dtype=tf.float32)",
    "tf.zeros([32, 6])",
    "np.zeros((32, 6), 'float32')",
    "tf.tile(start, [32, 1])",
]
RECURRENT = [
    "out, h = tf.nn.dynamic_rnn(cell, x, initial_state={})",
    "begin = {}\nout, h = tf.nn.dynamic_rnn(cell, x, initial_state=begin)",
    "out, h = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), initial_state={})",
    "h = {}\nfor t in range(3):\n    out, h = cell(x[:, t], h)",
    "(out, back), (h, last) = tf.nn.bidirectional_dynamic_rnn(cell, tf.nn.rnn_cell.GRUCell(6), x, initial_state_fw={})",
]
BESIDE = [
    "out, h = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, sequence_length={}.fill([SIZE], 3))".replace("{}", "tf"),
    "out, h = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, sequence_length=np.full(SIZE, 3))",
    "h = tf.concat([X, np.ones((SIZE, 1), 'float32')], 1)",
    "h = tf.concat([X, tf.tile(start, [SIZE, 1])], 1)",
    "h = tf.concat([X, tf.one_hot(tf.range(SIZE), 40)], 1)",
    "h = tf.gather_nd(X, tf.stack([tf.range(SIZE), tf.zeros([SIZE], tf.int32)], 1))[:, None]",
    "h = tf.nn.conv2d_transpose(X[:, None, :, None], w, [SIZE, 2, 8, 1], [1, 2, 2, 1])",
]
NUMPY = "import numpy as np\n"
START = "start = tf.get_variable('start', [1, 6])\nw = tf.get_variable('w', [3, 3, 1, 1])\n"


def recurrent(line: str) -> str:
    return f"{START}{CELL}{line}\nloss = tf.reduce_mean(tf.square(tf.layers.dense(h, 2)))"


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("line", RECURRENT)
def test_states_of_as_many_rows_as_a_number_says(line: str, start: str) -> None:
    assert codes(NUMPY + script(LITERAL, recurrent(line.format(start))), batch="total") == ["TMG254"]
    named = line.format(start.replace("32,", "SIZE,"))
    assert codes(NUMPY + script(LITERAL, recurrent(named)), batch="total") == []
    assert codes(NUMPY + script(LITERAL, recurrent(line.format(start)))) == []


@pytest.mark.parametrize("line", BESIDE)
def test_values_beside_a_batch(line: str) -> None:
    assert codes(NUMPY + script(LITERAL, recurrent(line.replace("SIZE", "32"))), batch="total") == ["TMG254"]
    assert "TMG254" not in codes(NUMPY + script(LITERAL, recurrent(line)), batch="total")


@pytest.mark.parametrize(
    "line",
    [
        "cell = tf.nn.rnn_cell.GRUCell(32)\nout, h = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)",
        "h = tf.concat([X, tf.tile(start, [tf.shape(X)[0], 32])], 1)",
        "h = tf.concat([tf.layers.dense(X, 32), X], 1)",
        "table = tf.constant(np.ones((32, 6), 'float32'))\nh = tf.gather(table, tf.to_int32(X[:, 0]))",
        "h = tf.matmul(tf.layers.dense(X, 32), tf.ones([32, 6]))",
        "h = tf.layers.dense(X, 6) + tf.reduce_sum(tf.zeros([32, 6]), 0)",
        "h = tf.one_hot(tf.to_int32(X[:, 0]), 32)",
    ],
)
def test_numbers_that_count_no_rows(line: str) -> None:
    assert codes(NUMPY + script(LITERAL, recurrent(line)), batch="total") == []


@pytest.mark.parametrize("head", [LITERAL, FLAG, ARGUMENT], ids=["number", "flag", "argument"])
@pytest.mark.parametrize(
    "model",
    [
        f"h = tf.reshape(tf.layers.dense(X, 6), [32, 2, 3])\n{MEAN}",
        "each = tf.reduce_sum(tf.square(tf.layers.dense(X, 2)), 1)\nloss = tf.reduce_mean(tf.slice(each, [0], [32]))",
    ],
)
def test_a_loss_that_is_computed_of_all_rows_may_count_them(head: str, model: str) -> None:
    assert codes(script(head, model), batch="total") == []
    assert codes(script(head, model), loss="global") != []


@pytest.mark.parametrize(
    "model",
    [
        f"h = tf.reshape(tf.layers.dense(X, 6), [SIZE, 2, 3])\n{MEAN}",
        f"h = tf.reshape(tf.layers.dense(X, 32), [-1, 32])\n{MEAN}",
        f"h = tf.layers.dense(X + tf.random_normal([SIZE, 4]), 2)\n{MEAN}",
        f"w = tf.get_variable('w', [32, 2])\nh = tf.matmul(tf.layers.dense(X, 32), w)\n{MEAN}",
        f"h = tf.layers.dense(X, 32) * tf.ones([32])\n{MEAN}",
        f"h = tf.layers.dense(X + tf.random_normal([1, 4]), 2)\n{MEAN}",
        "each = tf.square(tf.layers.dense(X, 2))\nloss = tf.reduce_mean(tf.slice(each, [0, 0], [SIZE, 2]))",
    ],
)
def test_others_are_none_of_the_batch(model: str) -> None:
    assert codes(script(LITERAL, model), batch="total") == []
