"""Steps that only search values for a trained model stay on one GPU; others go into towers, or are refused."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

HEAD = """\
import tensorflow as tf

batch_size = 32


def generator(codes):
    with tf.variable_scope('G', reuse=tf.AUTO_REUSE):
        return tf.layers.dense(codes, 4)


X = tf.placeholder(tf.float32, [batch_size, 4])
"""
MODEL = "loss = tf.reduce_mean(tf.square(generator({read}) - X))\n"
STEP = "train_op = tf.train.AdamOptimizer(0.01).minimize(loss)\n"
SEARCH = """\
codes = tf.get_variable('codes', {shape})
distance = tf.reduce_mean(tf.abs(generator(codes) - X))
search = tf.train.AdamOptimizer(0.1).minimize(distance{given})
"""
TRAINING = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(9):
        sess.run(train_op, {X: next_batch(batch_size)})
"""


def script(
    shape: str = "[batch_size, 2]", given: str = ", var_list=[codes]", read: str = "tf.layers.dense(X, 2)"
) -> str:
    model = MODEL.format(read=read) + STEP
    search = SEARCH.format(shape=shape, given=given)
    return HEAD + (search + model if "codes" in read else model + search) + TRAINING


@pytest.mark.parametrize("shape", ["[batch_size, 2]", "(batch_size, 2)"])
def test_a_search_stays_outside_of_the_towers(shape: str) -> None:
    text = script(shape)
    lines = body(text)
    assert codes(text) == ["TMG379"]
    assert f"codes = tf.get_variable('codes', {shape})" in lines
    assert "search = tf.train.AdamOptimizer(0.1).minimize(distance, var_list=[codes])" in lines


@pytest.mark.parametrize("branch", ["if testing():\n", "with tf.name_scope('test'):\n"])
def test_a_search_in_a_block_of_its_own(branch: str) -> None:
    search = SEARCH.format(shape="[batch_size, 2]", given=", var_list=[codes]")
    inner = branch + "".join(f"    {line}\n" for line in search.splitlines())
    text = HEAD + MODEL.format(read="tf.layers.dense(X, 2)") + STEP + inner + TRAINING
    assert codes(text) == ["TMG379"] and "    search = tf.train" in "\n".join(body(text))


@pytest.mark.parametrize(
    ("shape", "given", "read"),
    [
        ("[batch_size, 2]", "", "tf.layers.dense(X, 2)"),  # the model is trained, too
        ("[batch_size, 2]", ", var_list=[codes]", "codes"),  # the model reads them
        ("[batch_size, 2]", ", var_list=tf.trainable_variables()", "tf.layers.dense(X, 2)"),
    ],
    ids=["all variables", "read by the model", "a list of the graph"],
)
def test_what_trains_the_model_is_no_search(shape: str, given: str, read: str) -> None:
    found = codes(script(shape, given, read))
    assert "TMG379" not in found and found


def test_variables_without_rows_are_trained_in_towers() -> None:
    text = script("[1, 2]")
    assert codes(text) == [] and "minimize" not in "\n".join(body(text))


ONE = """\
codes = tf.get_variable('codes', [1, 2])
picture = tf.placeholder(tf.float32, [1, 4])
distance = tf.reduce_mean(tf.abs(generator(codes) - picture))
search = tf.train.AdamOptimizer(0.1).minimize(distance{given})
"""
ONE_RUN = TRAINING + "    sess.run(search, {picture: load()})\n"


def test_a_search_for_one_picture_takes_no_batch() -> None:
    text = HEAD + MODEL.format(read="tf.layers.dense(X, 2)") + STEP + ONE.format(given=", var_list=[codes]") + ONE_RUN
    assert codes(text) == ["TMG379"]
    assert "search = tf.train.AdamOptimizer(0.1).minimize(distance, var_list=[codes])" in body(text)


@pytest.mark.parametrize(("given", "read"), [("", "tf.layers.dense(X, 2)"), (", var_list=[codes]", "codes + X[:, :2]")])
def test_one_picture_that_trains_the_model_is_no_search(given: str, read: str) -> None:
    one = ONE.format(given=given)
    model = MODEL.format(read=read) + STEP
    text = HEAD + (one + model if "codes" in read else model + one) + ONE_RUN
    assert "TMG379" not in codes(text) and codes(text)


def test_a_search_alone_is_refused() -> None:
    text = HEAD + SEARCH.format(shape="[batch_size, 2]", given=", var_list=[codes]").replace("search =", "train_op =")
    assert "TMG379" not in codes(text + TRAINING) and codes(text + TRAINING)
