"""What a loop that feeds states back begins with: as many examples as a batch has."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted

SCRIPT = """\
import argparse
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=8)
parser.add_argument('--hidden', type=int, default=8)
args = parser.parse_args()
data, labels = np.random.rand(44, 16), np.random.rand(44, 5)
x = tf.placeholder(tf.float32, [None, 16])
y = tf.placeholder(tf.float32, [None, 5])
s = tf.placeholder(tf.float32, [None, 8])
outputs, last = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(8), tf.reshape(x, [-1, 4, 4]), initial_state=s)
loss = tf.reduce_mean(tf.square(tf.layers.dense(last, 5) - y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    state = {first}
    for step in range(9):
        rows = np.random.choice(44, {size})
        _, state = sess.run([train_op, last], {{x: data[rows], y: labels[rows], s: state}})
"""


@pytest.mark.parametrize(
    ("size", "first", "made"),
    [
        ("8", "np.zeros((8, 8))", "np.zeros((8 * num_gpus, 8))"),  # the width is another number
        ("8", "np.zeros([8, 8], 'float32')", "np.zeros([8 * num_gpus, 8], 'float32')"),
        ("8", "np.random.rand(8, 8)", "np.random.rand(8 * num_gpus, 8)"),
        ("args.batch_size", "np.zeros((8, 8))", "np.zeros((8 * num_gpus, 8))"),
        ("args.batch_size", "np.zeros((args.batch_size, 8))", "np.zeros((args.batch_size * num_gpus, 8))"),
    ],
)
def test_the_first_state_grows_with_the_batch(size: str, first: str, made: str) -> None:
    assert f"state = {made}" in converted(SCRIPT.format(size=size, first=first))


@pytest.mark.parametrize(
    ("size", "first"), [("8", "np.zeros((args.hidden, 8))"), ("8", "np.zeros((2 * 4, 8))")]
)  # fmt: skip
def test_a_number_that_may_be_another_one_keeps_the_batch(size: str, first: str) -> None:
    script = SCRIPT.format(size=size, first=first)
    assert codes(script) == ["TMG303"]
    assert f"state = {first}" in converted(script) and "np.random.choice(44, 8)" in converted(script)


@pytest.mark.parametrize("first", ["sess.run(last, {x: data[:8], s: np.zeros((8, 8))})", "load('state.npy')"])
def test_a_state_of_unseen_size_is_fed_as_it_is(first: str) -> None:
    made = converted(SCRIPT.format(size="args.batch_size", first=first))
    assert f"state = {first}" in made and "args.batch_size * num_gpus" in made


def test_a_state_for_a_loop_of_its_own_is_no_training_state() -> None:
    script = SCRIPT.format(size="8", first="np.zeros((8, 8))")
    script += "    state = np.zeros((8, 8))\n    for i in range(4):\n"
    script += "        state = sess.run(last, {x: data[i * 8:(i + 1) * 8], s: state})\n"
    made = converted(script)
    assert made.count("np.zeros((8 * num_gpus, 8))") == 1 and made.count("np.zeros((8, 8))") == 1


def test_states_of_several_layers_lie_along_their_second_axis() -> None:
    script = SCRIPT.format(size="8", first="np.zeros((2, 8, 8))")
    script = script.replace("tf.float32, [None, 8]", "tf.float32, [2, None, 8]")
    script = script.replace("GRUCell(8)", "MultiRNNCell([tf.nn.rnn_cell.GRUCell(8), tf.nn.rnn_cell.GRUCell(8)])")
    script = script.replace("initial_state=s", "initial_state=tuple(tf.unstack(s, axis=0))")
    script = script.replace("(last, 5)", "(last[-1], 5)").replace("[train_op, last]", "[train_op, tf.stack(last)]")
    assert "np.zeros((2, 8 * num_gpus, 8))" in converted(script)
