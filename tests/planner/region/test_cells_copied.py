"""Functions that copy the cell they are given: each tower makes its own, as a built cell cannot be copied."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted, run

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 8
{outside}

def build(inputs, targets, weights):
{inside}
    outputs, _ = tf.contrib.legacy_seq2seq.{function}
    return tf.contrib.legacy_seq2seq.sequence_loss(outputs, targets, weights, 9)


inputs = [tf.placeholder(tf.int32, [None]) for _ in range(3)]
targets = [tf.placeholder(tf.int32, [None]) for _ in range(3)]
weights = [tf.placeholder(tf.float32, [None]) for _ in range(3)]
loss = build(inputs, targets, weights)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(10):
        feed = {{}}
        for i in range(3):
            feed[inputs[i]] = np.random.randint(0, 9, batch_size)
            feed[targets[i]] = np.random.randint(0, 9, batch_size)
            feed[weights[i]] = np.ones(batch_size)
        sess.run(train_op, feed)
"""
CELL = "cell = tf.contrib.rnn.BasicLSTMCell(8)"
COPIES = "embedding_rnn_seq2seq(inputs, inputs, cell, 9, 9, 6)"
SHARES = "embedding_tied_rnn_seq2seq(inputs, inputs, cell, 9, 6)"


def script(outside: str = "", inside: str = "    pass", function: str = COPIES) -> str:
    return SCRIPT.format(outside=outside, inside=inside, function=function)


CELLS = """\
    cells = [tf.contrib.rnn.BasicLSTMCell(8) for _ in range(2)]
    cell = tf.contrib.rnn.MultiRNNCell(cells)"""
ONE = "one = tf.contrib.rnn.BasicLSTMCell(8)"
STACKED = "    cell = tf.contrib.rnn.MultiRNNCell([one])"
HELD = """\


def train(inputs, targets, weights):
    loss = build(inputs, targets, weights)
    return tf.train.AdamOptimizer(0.01).minimize(loss)


"""


@pytest.mark.parametrize("inside", [f"    {CELL}", CELLS])
def test_a_cell_beside_the_call_is_made_by_each_tower(inside: str) -> None:
    assert codes(script(inside=inside)) == []


@pytest.mark.parametrize(("outside", "inside"), [(CELL, "    pass"), (ONE, STACKED)])
def test_a_cell_in_the_block_of_the_towers_joins_them(outside: str, inside: str) -> None:
    text = script(outside, inside)
    assert codes(text) == [] and f"\n        {outside}\n" in converted(text)


def in_a_function(text: str) -> str:
    """The loss and the training step in a function of their own, around which the towers stand."""
    steps = text[text.index("loss = build(") : text.index("with tf.Session")]
    text = text.replace(steps, "train_op = train(inputs, targets, weights)\n")
    return text.replace("\n\ninputs = [", f"{HELD}inputs = [")


BRANCHES = """\


def build(inputs, targets, weights, decode=False):
    cell = tf.contrib.rnn.BasicLSTMCell(8)
    xs = []
    for x in inputs:
        xs.append(x)
    if decode:
        outputs, _ = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(xs, xs, cell, 9, 9, 6, feed_previous=True)
        loss = tf.contrib.legacy_seq2seq.sequence_loss(outputs, targets, weights, 9)
    else:
        outputs, _ = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(xs, xs, cell, 9, 9, 6)
        loss = tf.contrib.legacy_seq2seq.sequence_loss(outputs, targets, weights, 9)
    return loss


"""


def test_a_cell_in_front_of_a_branch_that_builds_the_model_joins_the_towers() -> None:
    """The towers stand around the condition: in its branch alone they would share the cell."""
    text = script()
    text = text.replace(text[text.index("\n\ndef build(") : text.index("\n\ninputs = [")], BRANCHES[:-2])
    made = converted(text)
    body = made[made.index("def build(") : made.index("\ninputs = [")]
    assert body.index("for gpu in range(num_gpus):") < body.index("cell = tf.contrib.rnn.BasicLSTMCell(8)")
    assert body.index("cell = tf.contrib.rnn.BasicLSTMCell(8)") < body.index("if decode:")


@pytest.mark.parametrize(("outside", "inside"), [(CELL, "    pass"), (ONE, STACKED)])
def test_a_cell_of_another_block_is_refused(outside: str, inside: str) -> None:
    (found,) = run(in_a_function(script(outside, inside))).diagnostics
    assert (found.code, found.line) == ("TMG231", 5)
    assert found.message.startswith("embedding_rnn_seq2seq makes a copy of this cell")


def test_a_cell_that_is_not_copied_stays_where_it_is() -> None:
    assert codes(script(CELL, function=SHARES)) == []
