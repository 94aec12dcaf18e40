"""Batch norms beside the loss: each tower takes the statistics of its own examples there, too."""

from __future__ import annotations

import pytest

from tests.scripts import parts

SCRIPT = """\
import tensorflow as tf

batch_size = 32
x = tf.placeholder(tf.float32, [None, 4])
training = tf.placeholder(tf.bool, [])
other = {other}


def decode(code, reuse=False):
    with tf.variable_scope('decoder', reuse=reuse):
        h = tf.layers.dense(code, 6)
        h = {norm}
        return tf.layers.dense(tf.nn.relu(h), 4)


code = tf.layers.dense(x, 3)
{model}
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
{behind}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs = next_batch(batch_size)
        sess.run([train_op, loss], {{x: xs, training: True}})
    print(sess.run(shown, {{x: xs, training: False}}))
"""
NORM = "tf.layers.batch_normalization(h, training=training)"
MADE, SHOWN = "made = decode(tf.tanh(code))", "shown = decode(code, reuse=True)"
LOSS = "loss = tf.reduce_mean(tf.square(made - x))"
SCOPE = f"with tf.variable_scope('model'):\n    {MADE}\n    {SHOWN}\n{LOSS}"
BETWEEN, BEHIND = f"{MADE}\n{SHOWN}\n{LOSS}", f"{MADE}\n{LOSS}\n{SHOWN}"


def in_towers(model: str, norm: str = NORM, other: str = "None", behind: str = "", line: str = SHOWN) -> bool:
    _, inside, after = parts(SCRIPT.format(model=model, norm=norm, other=other, behind=behind))
    assert (line in inside) is not (line in after)
    return line in inside


@pytest.mark.parametrize("model", [SCOPE, BETWEEN, BEHIND], ids=["in a scope of the model", "between", "behind"])
def test_a_norm_of_the_same_examples_is_the_towers(model: str) -> None:
    assert in_towers(model)


@pytest.mark.parametrize("model", [SCOPE, BETWEEN, BEHIND], ids=["in a scope of the model", "between", "behind"])
@pytest.mark.parametrize("norm", ["h", "tf.layers.batch_normalization(h)"], ids=["none", "not in training"])
def test_without_statistics_it_waits(model: str, norm: str) -> None:
    assert not in_towers(model, norm)


def test_behind_the_training_step_it_waits() -> None:
    assert not in_towers(f"{MADE}\n{LOSS}", behind=SHOWN)


def test_a_norm_of_other_examples_waits() -> None:
    pipeline = "tf.data.TFRecordDataset('t').map(parse).batch(batch_size).make_one_shot_iterator().get_next()"
    line = "shown = decode(tf.reshape(other, [-1, 3]), reuse=True)"
    assert not in_towers(f"{MADE}\n{LOSS}\n{line}", other=pipeline, line=line)


def test_what_the_towers_cannot_execute_waits() -> None:
    """The statement makes an input of its own."""
    line = "shown = decode(code + 0.0 * tf.placeholder_with_default(tf.zeros_like(code), [None, 3]), reuse=True)"
    assert not in_towers(f"{MADE}\n{LOSS}\n{line}", line=line)
