"""Batch sizes that are fed: each tower counts its own rows."""

from __future__ import annotations

import pytest

from tests.scripts import ABOVE, BELOW, INPUTS, STEP, TRAINING, codes, converted, parts

SIZE = "bsz = tf.placeholder(tf.int32, [])\n"
MODEL = "out = tf.layers.dense(tf.reshape(X, tf.stack([bsz, 4])), 1)\nloss = tf.reduce_mean(tf.square(out - Y))\n"


def script(model: str = MODEL, size: str = SIZE, fed: str = "batch_size", behind: str = "", more: str = "") -> str:
    training = TRAINING.replace("Y: ys", f"Y: ys, bsz: {fed}")
    return INPUTS + size + model + STEP + behind + training.replace("sess.run(train_op", f"sess.run([train_op{more}]")


@pytest.mark.parametrize(
    ("size", "line"),
    [
        (SIZE, "bsz = tf.shape(X)[0]"),
        (SIZE.replace("int32", "int64"), "bsz = tf.shape(X, out_type=tf.int64)[0]"),
        ("bsz = tf.placeholder(tf.int32)\n", "bsz = tf.shape(X)[0]"),
        ("bsz = tf.placeholder_with_default(32, [])\n", "bsz = tf.shape(X)[0]"),
    ],
)
def test_it_is_counted_in_each_tower(size: str, line: str) -> None:
    _, inside, after = parts(script(size=size))
    assert inside == [*ABOVE, line, *MODEL.splitlines(), *BELOW]
    assert after[0] == "X, Y, bsz = X_batch, Y_batch, global_bsz"


def test_what_it_is_of_is_read_along_its_batch_axis() -> None:
    model = "out = tf.layers.dense(tf.reshape(tf.transpose(X), tf.stack([bsz, 4])), 1)\n"
    model += "loss = tf.reduce_mean(tf.square(out - tf.transpose(Y)))\n"
    text = converted(script(model).replace("[None, 4]", "[4, None]").replace("[None, 1]", "[1, None]"))
    assert "        bsz = tf.shape(X)[1]\n" in text


def test_a_sum_that_is_divided_by_it_is_a_mean() -> None:
    model = "out = tf.layers.dense(X, 1)\nloss = tf.reduce_sum(tf.square(out - Y)) / tf.cast(bsz, tf.float32)\n"
    assert codes(script(model)) == codes(script(model), batch="total") == []


@pytest.mark.parametrize(
    ("size", "model"),
    [
        (SIZE.replace("int32", "float32"), "loss = tf.reduce_sum(tf.square(tf.layers.dense(X, 1) - Y)) / bsz\n"),
        (SIZE, MODEL + "Z = tf.placeholder(tf.float32, [None, 4])\nloss += tf.reduce_mean(Z[..., None] * Y[0])\n"),
    ],
    ids=["no whole number", "a batch that is none"],
)
def test_where_it_cannot_be_counted(size: str, model: str) -> None:
    found = codes(script(model, size))
    assert found and not set(found).isdisjoint({"TMG207", "TMG205", "TMG302"})


@pytest.mark.parametrize(
    ("fed", "found"),
    [("32", ["TMG207"]), ("batch_size", []), ("len(xs)", []), ("xs.shape[0]", [])],
)
def test_what_is_computed_of_the_whole_batch_takes_what_is_fed(fed: str, found: list[str]) -> None:
    behind = "error = tf.reduce_sum(tf.abs(out - Y)) / tf.cast(bsz, tf.float32)\n"
    assert codes(script(fed=fed, behind=behind, more=", error")) == found
    assert codes(script(fed=fed, behind=behind)) == []  # training does not compute it


def test_it_is_counted_on_the_input_that_is_always_fed() -> None:
    text = """
import tensorflow as tf
from data import next_batch
batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
Z = tf.placeholder(tf.float32, [None, 2])
bsz = tf.placeholder(tf.int32, [])
noise = tf.random_normal(tf.stack([bsz, 4]))
with tf.variable_scope('g'):
    fake = tf.layers.dense(Z, 4)
with tf.variable_scope('d'):
    real_out = tf.layers.dense(X + noise, 1, name='out')
with tf.variable_scope('d', reuse=True):
    fake_out = tf.layers.dense(fake, 1, name='out')
d_loss = tf.reduce_mean(fake_out) - tf.reduce_mean(real_out)
g_loss = -tf.reduce_mean(fake_out)
d_step = tf.train.AdamOptimizer().minimize(d_loss, var_list=tf.trainable_variables('d'))
g_step = tf.train.AdamOptimizer().minimize(g_loss, var_list=tf.trainable_variables('g'))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        x, z = next_batch(batch_size)
        sess.run(d_step, {X: x, Z: z, bsz: batch_size})
        sess.run(g_step, {Z: z})
"""
    assert "        bsz = tf.shape(Z)[0]\n" in converted(text)


CELL = """\
cell = tf.nn.rnn_cell.BasicLSTMCell(3)
state = cell.zero_state(n, tf.float32)
outputs, last = tf.nn.dynamic_rnn(cell, X[:, None], initial_state=state)
loss = tf.reduce_mean(tf.square(tf.layers.dense(last[1], 1) - Y))
"""


@pytest.mark.parametrize("size", ["tf.placeholder(tf.int32, [])", "tf.placeholder(tf.int32)"])
def test_what_a_starting_state_is_made_with_counts_the_rows_whatever_its_name(size: str) -> None:
    text = script(CELL, f"n = {size}\n").replace("bsz: ", "n: ")
    _, inside, after = parts(text)
    assert inside[3:5] == ["n = tf.shape(X)[0]", "state = cell.zero_state(n, tf.float32)"]
    assert after[0] == "X, Y, n = X_batch, Y_batch, global_n"


def test_a_number_that_no_starting_state_is_made_with_stays() -> None:
    model = CELL.replace("zero_state(n", "zero_state(batch_size").replace("3)", "3)\nX = X * tf.cast(n, tf.float32)", 1)
    _, inside, _ = parts(script(model, "n = tf.placeholder(tf.int32, [])\n", fed="7").replace("bsz: ", "n: "))
    assert not any(line.startswith("n = ") for line in inside)


MEAN = """\
import numpy as np
import tensorflow as tf
from data import pick
batch_size = 8
rows = [(np.random.rand(4), np.random.rand()) for _ in range(64)]
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None])
n = tf.placeholder(tf.int32, [])
out = tf.layers.dense(X, 1)[:, 0]
loss = tf.reduce_sum(tf.square(out - Y)) / tf.to_float(n)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, batch_size):
        part = rows[i:i + batch_size]
        xs = np.array([p[0] for p in part])
        ys = [p[1] for p in part]
        sess.run(train_op, {X: xs, Y: ys, n: len(part)})
"""


@pytest.mark.parametrize(
    "fed", ["len(part)", "len(xs)", "len(ys)", "xs.shape[0]", "batch_size", "int(batch_size)", "len(list(part))"]
)
def test_what_counts_the_rows_beside_it_is_a_batch_size_whatever_its_name(fed: str) -> None:
    text = MEAN.replace("n: len(part)", f"n: {fed}")
    assert "        n = tf.shape(X)[0]\n" in converted(text)
    assert codes(text) == []  # and the loss is a mean, not a sum


@pytest.mark.parametrize("fed", ["3", "len(rows)", "len(rows) // batch_size", "len(rows[0])"])
def test_other_numbers_stay_settings(fed: str) -> None:
    text = MEAN.replace("n: len(part)", f"n: {fed}")
    assert "n = tf.shape" not in converted(text)
    assert codes(text) == ["TMG301"]


@pytest.mark.parametrize(
    "fed",
    ["1.0 / len(part)", "2 * len(part)", "np.float32(xs.shape[0])", "float(batch_size)", "len(pick(part))"],
)
def test_what_is_computed_of_the_rows_beside_it_is_refused(fed: str) -> None:
    dtype = "float32" if "len(pick" not in fed else "int32"
    text = MEAN.replace("n: len(part)", f"n: {fed}").replace("tf.int32", f"tf.{dtype}")
    assert codes(text) == ["TMG207"]


def test_one_step_that_feeds_another_number_is_refused() -> None:
    text = MEAN + "        sess.run(train_op, {X: xs, Y: ys, n: 5})\n"
    assert codes(text) == ["TMG207"]
