"""Recurrent nets that a script unrolls itself, by the sizes that its cells tell."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts

SCRIPT = """\
import numpy as np
import tensorflow as tf
from tensorflow.python.ops.rnn_cell_impl import RNNCell, _concat, _Linear
from tensorflow.python.util import nest

batch_size = 8


class Gated(RNNCell):
    def __init__(self, units):
        super(Gated, self).__init__()
        self.units = units
        self.linear = None

    @property
    def state_size(self):
        return {sizes}

    @property
    def output_size(self):
        return self.units

    def __call__(self, inputs, state):
        if self.linear is None:
            self.linear = _Linear([inputs, state], 2 * self.units, True)
        gate, new = tf.split(self.linear([inputs, state]), 2, 1)
        made = tf.sigmoid(gate) * state + tf.tanh(new)
        return made, made


def unrolled(cell, inputs, lengths):
    inputs = tf.transpose(inputs, [1, 0, 2])
    steps, rows = tf.shape(inputs)[0], tf.shape(inputs)[1]
    zeros = [tf.zeros(tf.stack(_concat(rows, size)), tf.float32) for size in nest.flatten(cell.output_size)]
    state = cell.zero_state(rows, tf.float32)
    arrays = tuple(tf.TensorArray(tf.float32, steps) for _ in zeros)

    def step(time, arrays, state):
        output, new = cell(inputs[time], state)
        over = time >= lengths
        made = [tf.where(over, zero, one) for zero, one in zip(zeros, nest.flatten(output))]
        kept = [tf.where(over, old, one) for old, one in zip(nest.flatten(state), nest.flatten(new))]
        arrays = tuple(array.write(time, one) for array, one in zip(arrays, made))
        return time + 1, arrays, nest.pack_sequence_as(structure=state, flat_sequence=kept)

    _, arrays, state = tf.while_loop(lambda time, *_: time < steps, step, (tf.constant(0), arrays, state))
    return tf.transpose(arrays[0].stack(), [1, 0, 2]), state


x = tf.placeholder(tf.float32, [None, None, 5])
n = tf.placeholder(tf.int32, [None])
y = tf.placeholder(tf.float32, [None, 6])
outputs, state = unrolled({cell}, x, n)
loss = tf.reduce_mean(tf.square(tf.reduce_mean(outputs, 1) + {last} - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    for step in range(100):
        a, b, c = next_batch(batch_size)
        sess.run(train_op, {{x: a, n: b, y: c}})
"""


@pytest.mark.parametrize(
    ("cell", "last", "sizes"),
    [
        ("tf.nn.rnn_cell.GRUCell(6)", "state", "self.units"),
        ("tf.nn.rnn_cell.BasicRNNCell(num_units=6)", "state", "self.units"),
        ("tf.nn.rnn_cell.LSTMCell(6)", "state.h", "self.units"),
        ("tf.nn.rnn_cell.LSTMCell(9, num_proj=6)", "state.h", "self.units"),
        ("Gated(6)", "state", "self.units"),
    ],
)
def test_cells_that_tell_their_sizes_are_followed(cell: str, last: str, sizes: str) -> None:
    _, inside, _ = parts(SCRIPT.format(cell=cell, last=last, sizes=sizes))
    assert any("shard([x_batch, n_batch, y_batch], gpu)" in line for line in inside)
    assert "tower_loss.append(loss * weight)" in inside


@pytest.mark.parametrize(
    ("cell", "last", "sizes"),
    [
        ("make_cell(6)", "state", "self.units"),
        ("tf.nn.rnn_cell.MultiRNNCell(cells)", "state[0]", "self.units"),
        ("Gated(6)", "state", "sizes_of(self)"),
    ],
)
def test_cells_whose_sizes_are_not_known_are_not_followed(cell: str, last: str, sizes: str) -> None:
    assert "TMG241" in codes(SCRIPT.format(cell=cell, last=last, sizes=sizes))
