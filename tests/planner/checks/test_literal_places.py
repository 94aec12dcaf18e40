"""With --batch total plain numbers that count or pick rows of the batch are refused, whatever operation takes them."""

from __future__ import annotations

import pytest

from tests.scripts import codes

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 8
data = np.random.rand(64, 10).astype('float32')
x = tf.placeholder(tf.float32, [None, 10])
{model}
loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 2)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, batch_size):
        sess.run(train_op, {{x: data[i:i + batch_size]}})
"""


def script(model: str) -> str:
    return SCRIPT.format(model=model)


COUNTED = [
    "h = tf.layers.dense(x, 6)\nh.set_shape([SIZE, 6])",
    "h = tf.layers.dense(x, 6)\nh.set_shape(shape=[SIZE, 6])",
    "h = tf.ensure_shape(x, [SIZE, 10])",
    "h = tf.ensure_shape(tf.layers.dense(x, 3), (SIZE, 3))",
    "h = tf.stack(tf.unstack(x, SIZE))",
    "h = tf.stack(tf.unstack(tf.layers.dense(x, 6), num=SIZE))",
    "h = tf.stack([x[i] for i in range(SIZE)])",
    "rows = []\nfor i in range(SIZE):\n    rows.append(tf.gather(x, i))\nh = tf.stack(rows)",
    "rows = []\nfor i in range(SIZE):\n    rows.append(tf.expand_dims(x[i, :], 0))\nh = tf.concat(rows, 0)",
    "h = tf.map_fn(lambda i: x[i], tf.range(SIZE), dtype=tf.float32)",
    "_, h = tf.while_loop(lambda i, a: i < SIZE, lambda i, a: (i + 1, a + x[i]), [0, tf.zeros([10])])\nh = h[None]",
    "h = tf.TensorArray(tf.float32, SIZE).unstack(x).stack()",
    "h = tf.where(np.ones(SIZE, bool), x, x * 2)",
    "h = tf.where(tf.constant(np.arange(SIZE) % 2 == 0), x, x * 2)",
    "h = tf.where(tf.range(SIZE) < 4, x, x * 2)",
    "h = tf.where(tf.fill([SIZE], True), x, x * 2)",
    "h = tf.where(tf.constant([True] * SIZE), x, x * 2)",
    "h = tf.boolean_mask(x, np.arange(SIZE) % 2 == 0)",
    "h = tf.concat(tf.dynamic_partition(x, np.arange(SIZE) % 2, 2), 0)",
    "h = tf.unsorted_segment_sum(x, tf.range(SIZE), 4)",
    "h = x + tf.zeros_like(tf.ones([SIZE, 10]))",
    "h = x * tf.linspace(0.0, 1.0, SIZE)[:, None]",
    "h = x * tf.sequence_mask(np.full(SIZE, 3), 10, dtype=tf.float32)",
    "h = x + tf.placeholder_with_default(np.zeros((SIZE, 10), 'float32'), [None, 10])",
    "with tf.control_dependencies([tf.assert_equal(tf.shape(x)[0], SIZE)]):\n    h = tf.identity(x)",
    "h = tf.squared_difference(x, tf.ones([SIZE, 10]))",
    "h = tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.ones([SIZE, 10]), logits=x)",
    "h = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=np.zeros(SIZE, 'int32'), logits=x)[:, None]",
    "h = tf.keras.layers.LSTM(4, stateful=True, batch_input_shape=(SIZE, 5, 2))(tf.reshape(x, [-1, 5, 2]))",
]


@pytest.mark.parametrize("model", COUNTED)
def test_numbers_that_count_rows(model: str) -> None:
    assert codes(script(model.replace("SIZE", "8")), batch="total") == ["TMG254"]
    assert "TMG254" not in codes(script(model.replace("SIZE", "8")))
    assert "TMG254" not in codes(script(model.replace("SIZE", "batch_size")), batch="total")


@pytest.mark.parametrize(
    "model",
    [
        "h = x - x[7]",  # a tower of two has four rows
        "h = x[4:]",
        "h = tf.slice(x, [4, 0], [-1, -1])",
        "h = tf.reshape(x, [16, 5])",
        "h = tf.reshape(x, [4, 20])",
        "v, _ = tf.nn.top_k(tf.transpose(x), 8)\nh = tf.transpose(v)",
        "h = tf.gather(x, np.random.randint(0, 8, 3))",
    ],
)
def test_rows_that_no_tower_has(model: str) -> None:
    assert codes(script(model), batch="total") == ["TMG254"]
    assert "TMG254" not in codes(script(model))


STEPS = "h = tf.reshape(tf.layers.dense(x, 16), [-1, 8, 2])\n"
BY_TIME = f"{STEPS}h = tf.transpose(h, [1, 0, 2])\n"


@pytest.mark.parametrize(
    ("shape", "refused"), [("[1, 8, 1]", True), ("[8, 1]", True), ("[8, 1, 1]", False), ("[2]", False)]
)
def test_a_number_is_set_against_the_axis_that_it_meets(shape: str, refused: bool) -> None:
    found = codes(script(f"{BY_TIME}h = tf.reduce_mean(h + tf.ones({shape}), 0)"), batch="total")
    assert found == (["TMG254"] if refused else [])


@pytest.mark.parametrize(
    "model",
    [
        "h = tf.layers.dense(x, 8) + tf.ones([8])",
        "h = tf.layers.dense(x, 8) + [1., 2., 3., 4., 5., 6., 7., 8.]",
        "h = tf.layers.dense(x, 8) * tf.constant([1., 0, 1, 0, 1, 0, 1, 0])",
        "h = tf.layers.dense(x, 8) * tf.cast(tf.range(8) < 4, tf.float32)",
        f"{STEPS}h = tf.reduce_mean(tf.stack([h[:, t] for t in range(8)], 1), 1)",
        f"{STEPS}h = tf.add_n(tf.unstack(h, 8, 1))",
        f"{STEPS}h = tf.add_n(tf.unstack(h, num=8, axis=1))",
        f"{STEPS}h = tf.add_n(tf.unstack(tf.transpose(h, [1, 0, 2]), 8))",
        f"{STEPS}h = tf.transpose(h, [1, 0, 2])\nh = tf.add_n([h[t] for t in range(8)])",
        "h = tf.add_n(tf.split(tf.layers.dense(x, 16), 8, 1))",
        "t = tf.constant(np.ones((8, 4), 'float32'))\nh = tf.gather(t, tf.to_int32(x[:, 0]) % 8)",
        "h = tf.boolean_mask(tf.layers.dense(x, 8), np.arange(8) % 2 == 0, axis=1)",
        "h = tf.layers.dense(x, 8)\nh.set_shape([None, 8])",
        "h = tf.ensure_shape(tf.layers.dense(x, 8), [None, 8])",
        "h = x[:, :8]",
        "h = tf.slice(x, [0, 2], [-1, 8])",
        "_, h = tf.while_loop(lambda t, a: t < 8, lambda t, a: (t + 1, a + x[:, t]), [0, x[:, 0]])\nh = h[:, None]",
        "with tf.control_dependencies([tf.assert_equal(tf.shape(x)[1], 8)]):\n    h = tf.identity(x)",
        "h = tf.layers.flatten(tf.keras.layers.Reshape((8, 1))(tf.layers.dense(x, 8)))",
        "h = tf.keras.layers.Dense(4, batch_input_shape=(8, 10))(x)",  # the shape is of no use to a layer by itself
        "h = x + tf.random_uniform([batch_size, 10], maxval=8.)",
        "h, _ = tf.nn.top_k(x, 8)",
        "h = tf.layers.dense(x, 3) / 8",
    ],
)
def test_numbers_that_count_no_rows(model: str) -> None:
    assert codes(script(model), batch="total") == []


def test_a_placeholder_that_is_given_a_plain_number_of_rows_keeps_it() -> None:
    text = script("x.set_shape([8, 10])\nh = x").replace("[None, 10]", "None")
    assert codes(text) == ["TMG303"]
    assert codes(text, batch="total") == ["TMG303"]
    assert codes(text.replace("[8, 10]", "[None, 10]")) == []
    assert codes(text.replace("[8, 10]", "[batch_size, 10]")) == []
