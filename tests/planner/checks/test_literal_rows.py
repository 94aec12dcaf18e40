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
