"""Only sizes that reach an input of training are multiplied: those of validation and of loaders stay."""

from __future__ import annotations

import pytest

from tests.scripts import body

HEAD = """\
import tensorflow as tf

train = tf.data.Dataset.from_tensor_slices((xs, ys)).shuffle(100).batch(16).repeat()
valid = tf.data.Dataset.from_tensor_slices((vx, vy)).batch(50)
"""
NET = """\
def net(x):
    return tf.layers.dense(x, 1, name='net', reuse=tf.AUTO_REUSE)


loss = tf.reduce_mean(tf.square(net(X) - Y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
"""
STRUCTURE = """\
iterator = tf.data.Iterator.from_structure(train.output_types, train.output_shapes)
start, start_valid = iterator.make_initializer(train), iterator.make_initializer(valid)
X, Y = iterator.get_next()
"""
HANDLE = """\
handle = tf.placeholder(tf.string, [])
X, Y = tf.data.Iterator.from_string_handle(handle, train.output_types, train.output_shapes).get_next()
read, read_valid = train.make_one_shot_iterator(), valid.make_one_shot_iterator()
"""
OWN = """\
X, Y = train.make_one_shot_iterator().get_next()
VX, VY = valid.make_one_shot_iterator().get_next()
"""
FUNCTION = """\
import tensorflow as tf


def pipeline(x, y, size, repeats=None):
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(repeats).batch(size)


train, valid = pipeline(xs, ys, 16), pipeline(vx, vy, 50, 1)
"""
ONE = "train = tf.data.Dataset.from_tensor_slices((xs, ys)).shuffle(100).batch(16 * num_gpus).repeat()"


def scaled(text: str) -> list[str]:
    return [line.strip() for line in body(text) if "num_gpus" in line and "for gpu in" not in line]


@pytest.mark.parametrize(
    ("inputs", "runs"),
    [
        (
            STRUCTURE,
            "for epoch in range(9):\n    sess.run(start)\n    sess.run(train_op)\n    sess.run(start_valid)\n"
            "    print(sess.run(loss))\n",
        ),
        (
            STRUCTURE,
            "sess.run(start)\nfor step in range(9):\n    sess.run(train_op)\n    if step % 3 == 0:\n"
            "        sess.run(start_valid)\n        print(sess.run(loss))\n        sess.run(start)\n",
        ),
        (
            HANDLE,
            "mine, other = sess.run([read.string_handle(), read_valid.string_handle()])\nfor step in range(9):\n"
            "    sess.run(train_op, {handle: mine})\n    print(sess.run(loss, {handle: other}))\n",
        ),
        (
            HANDLE,
            "mine = sess.run(read.string_handle())\nother = sess.run(read_valid.string_handle())\n"
            "for step in range(9):\n    sess.run(train_op, feed_dict={handle: mine})\n"
            "print(sess.run(loss, feed_dict={handle: other}))\n",
        ),
        (OWN, "for step in range(9):\n    sess.run(train_op)\nprint(sess.run(tf.reduce_mean(net(VX) - VY)))\n"),
    ],
)
@pytest.mark.parametrize("head", [HEAD, FUNCTION])
def test_the_batches_of_validation_stay(head: str, inputs: str, runs: str) -> None:
    line = ONE if head == HEAD else "train, valid = pipeline(xs, ys, 16 * num_gpus), pipeline(vx, vy, 50, 1)"
    assert scaled(head + inputs + NET + "sess = tf.Session()\n" + runs) == [line]


def test_iterators_that_a_run_is_not_seen_to_start() -> None:
    """Any of the data sets may be that of training."""
    runs = "sess = tf.Session()\nbegin(sess)\nfor step in range(9):\n    sess.run(train_op)\n"
    assert scaled(HEAD + STRUCTURE + NET + runs) == [
        ONE,
        "valid = tf.data.Dataset.from_tensor_slices((vx, vy)).batch(50 * num_gpus)",
    ]


LOADED = """\
import tensorflow as tf

batch_size = 16
rows = tf.data.Dataset.from_tensor_slices(files).map(read).batch(1000).make_one_shot_iterator().get_next()
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
"""


@pytest.mark.parametrize(
    ("runs", "line"),
    [
        (
            "xs, ys = sess.run(rows)\nfor i in range(0, 1000, batch_size):\n"
            "    sess.run(train_op, {X: xs[i:i + batch_size], Y: ys[i:i + batch_size]})\n",
            "batch_size = 16 * num_gpus",
        ),
        (
            "for step in range(9):\n    xs, ys = sess.run(rows)\n    sess.run(train_op, {X: xs, Y: ys})\n",
            "rows = tf.data.Dataset.from_tensor_slices(files).map(read).batch(1000 * num_gpus)"
            ".make_one_shot_iterator().get_next()",
        ),
    ],
)
def test_a_pipeline_whose_batches_are_fetched(runs: str, line: str) -> None:
    """In one piece, of which batches are cut, or as the batches that are fed."""
    assert scaled(LOADED + NET + "sess = tf.Session()\n" + runs) == [line]


@pytest.mark.parametrize(
    ("graph", "line"),
    [
        (
            "batch_size, eval_batch = 16, 100\nX = tf.placeholder(tf.float32, [batch_size, 4])\n"
            "Y = tf.placeholder(tf.float32, [batch_size, 1])\nVX = tf.placeholder(tf.float32, [eval_batch, 4])\n"
            + NET
            + "sess = tf.Session()\nfor step in range(9):\n"
            "    sess.run(train_op, {X: random.sample(xs, batch_size), Y: random.sample(ys, batch_size)})\n"
            "print(sess.run(net(VX), {VX: vx[:eval_batch]}))\n",
            "batch_size, eval_batch = 16 * num_gpus, 100",
        ),
        (
            "X, Y = tf.train.shuffle_batch(tf.train.slice_input_producer([xs, ys]), 16, 100, 10)\n"
            "VX, VY = tf.train.batch(tf.train.slice_input_producer([vx, vy]), 50)\n"
            + NET
            + "sess = tf.Session()\nfor step in range(9):\n    sess.run(train_op)\nprint(sess.run(net(VX)))\n",
            "X, Y = tf.train.shuffle_batch(tf.train.slice_input_producer([xs, ys]), 16 * num_gpus, 100, 10)",
        ),
    ],
)
def test_other_inputs_of_evaluation_stay(graph: str, line: str) -> None:
    assert scaled("import tensorflow as tf\n\n" + graph) == [line]
