"""Blocks that make graphs or sessions: the towers stand inside of one."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

HEAD = "import tensorflow as tf\n\nbatch_size = 32\n"
FIRST = """\
with {opened} as sess:
    X = tf.placeholder(tf.float32, [{rows}, 4])
    hidden = sess.run(tf.square(X), {{X: photos}})
"""
SECOND = """\
with {opened} as sess:
    Z = tf.placeholder(tf.float32, [None, 4])
    Y = tf.placeholder(tf.float32, [None, 1])
    loss = tf.reduce_mean(tf.square(tf.layers.dense({read}, 1) - Y))
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {{Z: xs, Y: ys}})
"""
NEW = "tf.Graph().as_default(), tf.Session()"


@pytest.mark.parametrize("opened", [NEW, "tf.Session(graph=tf.Graph())", "tf.Session()"])
def test_a_batch_that_one_graph_hands_to_another(opened: str) -> None:
    script = HEAD + FIRST.format(opened=opened, rows="None") + SECOND.format(opened=opened, read="hidden")
    assert "TMG276" in codes(script)


@pytest.mark.parametrize(("rows", "read"), [("1", "Z"), ("None", "Z"), ("1", "Z + hidden")])
def test_an_earlier_graph_that_the_model_reads_no_batch_of(rows: str, read: str) -> None:
    script = HEAD + FIRST.format(opened=NEW, rows=rows) + SECOND.format(opened=NEW, read=read)
    assert codes(script) == []


FEATURES = """\
import numpy as np
import tensorflow as tf

batch_size = 32


def frozen(x):
    return tf.nn.relu(tf.matmul(x, tf.constant(filters)))


def train(picture):
    with {opened} as sess:
        X = tf.placeholder(tf.float32, (1,) + picture.shape)
        found = {read}
        gram = np.matmul(found.T, found) / found.size
    with tf.Graph().as_default(), tf.Session() as sess:
        Z = tf.placeholder(tf.float32, [batch_size, 4])
        made = frozen(tf.layers.dense(Z, 4))
        grams = tf.matmul(tf.expand_dims(made, 2), tf.expand_dims(made, 1))
        loss = tf.reduce_mean(tf.square(grams - {wanted}))
        train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
        sess.run(tf.global_variables_initializer())
        for step in range(9):
            sess.run(train_op, {{Z: next_batch(batch_size)}})


train(load())
"""
ONE = "frozen(X).eval({X: np.array([picture])})"


@pytest.mark.parametrize("opened", [NEW, "tf.Graph().as_default(), tf.device('/cpu:0'), tf.Session()"])
@pytest.mark.parametrize("read", [ONE, "sess.run(frozen(X), {X: np.array([picture])})", ONE.replace("np.array", "")])
def test_features_of_one_picture_are_numbers_for_the_graph_that_is_trained(opened: str, read: str) -> None:
    text = FEATURES.format(opened=opened, read=read, wanted="gram")
    assert codes(text) == []
    lines = [line.strip() for line in body(text)]
    assert lines.index("gram = np.matmul(found.T, found) / found.size") < lines.index("for gpu in range(num_gpus):")


def test_features_of_many_pictures_are_no_constant() -> None:
    many = ONE.replace("np.array([picture])", "np.array(pictures)")
    assert codes(FEATURES.format(opened=NEW, read=many, wanted="found"))
