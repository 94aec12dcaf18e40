"""Whether a tower's weight, which is float32, is cast to the type of the loss."""

from __future__ import annotations

import pytest

from tests.scripts import MODEL, SCRIPT, STEP, converted

CAST = "loss * tf.cast(weight, loss.dtype)"
ITERATOR = """\
import numpy as np
import tensorflow as tf

batch_size = 32
data = tf.data.Dataset.from_tensor_slices((load(), load())).batch(batch_size)
X, Y = data.make_one_shot_iterator().get_next()
"""
RUN = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op)
"""
XENT = "loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=prediction, labels={}))\n"
DENSE = "prediction = tf.layers.dense({}, 3)\n"


def is_cast(script: str) -> bool:
    text = converted(script)
    assert (CAST in text) != ("loss * weight" in text)
    return CAST in text


@pytest.mark.parametrize(
    ("model", "cast"),
    [
        (MODEL, True),
        ("X = tf.cast(X, tf.float32)\n" + MODEL, False),
        ("X = tf.cast(X, 'float32')\n" + MODEL, False),
        ("X = tf.cast(X, dtype)\n" + MODEL, True),
        ("X = tf.cast(X, Y.dtype)\n" + MODEL, True),
        ("X = tf.to_float(X)\n" + MODEL, False),
        (MODEL + "loss = tf.cast(loss, tf.float32)\n", False),
        (MODEL.replace("X, 1", "X * tf.get_variable('w', [4]), 1"), False),
        (MODEL.replace("X, 1", "X * tf.get_variable('w', [4], DTYPE), 1"), True),
        (MODEL.replace("X, 1", "X * tf.get_variable('w', initializer=array), 1"), True),
        (MODEL.replace("X, 1", "X * tf.get_variable('w', [4], initializer=tf.zeros_initializer()), 1"), False),
        (MODEL.replace("X, 1", "X * tf.get_variable('w', [4], **options), 1"), True),
        (MODEL.replace("X, 1", "tf.matmul(X, tf.Variable(tf.random_normal([4, 4]))), 1"), False),
        (MODEL.replace("X, 1", "tf.matmul(X, tf.Variable(tf.zeros([4, 4], DTYPE))), 1"), True),
        (MODEL.replace("X, 1", "tf.matmul(X, tf.Variable(np.random.rand(4, 4))), 1"), True),
        (MODEL.replace("X, 1", "X + tf.constant(0.5), 1"), False),
        (MODEL.replace("X, 1", "X * 0.5, 1"), True),
        ("prediction = tf.layers.dense(X, 1)\nloss = tf.losses.mean_squared_error(Y, prediction)\n", False),
        (DENSE.format("X") + XENT.format("Y"), True),
        (DENSE.format("X") + XENT.format("tf.to_float(Y)"), True),  # logits of any type take such labels
        (DENSE.format("tf.to_float(X)") + XENT.format("tf.to_float(Y)"), False),
        (DENSE.format("tf.to_float(X)") + XENT.format("tf.cast(Y, tf.int32)"), False),
        (DENSE.format("tf.to_float(X)") + XENT.format("Y"), True),
    ],
)
def test_data_of_an_unknown_type(model: str, cast: bool) -> None:
    assert is_cast(ITERATOR + model + STEP + RUN) == cast


@pytest.mark.parametrize(
    ("old", "new", "cast"),
    [
        ("", "", False),
        ("X = tf.placeholder(tf.float32,", "X = tf.placeholder(TYPE,", False),  # Y, of the same type, is float32
        ("tf.placeholder(tf.float32,", "tf.placeholder(TYPE,", True),
        ("tf.placeholder(tf.float32,", "tf.placeholder('float',", False),
        ("tf.placeholder(tf.float32,", "tf.placeholder(tf.float64,", True),
        ("next_batch(batch_size)", "next_batch(batch_size, np.float64)", True),
    ],
)
def test_placeholders(old: str, new: str, cast: bool) -> None:
    assert is_cast(SCRIPT.replace(old, new)) == cast


def test_a_number_takes_any_type() -> None:
    script = SCRIPT.replace("tf.float32, [None,", "TYPE, [batch_size,")
    assert "loss * weight)" in converted(script, num_gpus=2)  # of a batch of a fixed size it is known at once
