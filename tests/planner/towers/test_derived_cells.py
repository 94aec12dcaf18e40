"""Classes of a script that are derived from cells and layers, whose methods call those of the library."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted, run

LOSS = "loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))\n" + STEP + TRAINING
CELL = """\
class Attending(tf.contrib.rnn.{base}):
    def __init__(self, units, seen):
        super(Attending, self).__init__(units{more})
        self.seen = seen
{body}

cell = Attending(4, tf.layers.dense(X, 4))
"""
CALLED = """\
    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope(scope or type(self).__name__):
            out, state = super(Attending, self).__call__(tf.concat([inputs, self.seen], 1), state)
        return out * 2, state
"""
OWN = """\
    def call(self, inputs, state):
        return anything(inputs), state
"""
SIZED = "    state_size = property(lambda self: sizes)\n"
START = "state = cell.zero_state(tf.shape(X)[0], tf.float32)\n"
LSTM = CELL.format(base="LSTMCell", more=", state_is_tuple=True", body=CALLED)
WHILE = """\
def turn(t, state, made):
    out, new = cell(X, state)
    if isinstance(cell, tf.contrib.rnn.LSTMCell):
        new = tf.contrib.rnn.LSTMStateTuple(tf.where(done, state[0], new[0]), tf.where(done, state[1], new[1]))
    else:
        new = tf.where(done, state, new)
    return t + 1, new, made.write(t, out)


done = tf.zeros([tf.shape(X)[0]], tf.bool)
_, _, made = tf.while_loop(lambda t, *_: t < 2, turn, (0, {state}, tf.TensorArray(tf.float32, 2)))
h = made.stack()[1]
"""


@pytest.mark.parametrize(
    "model",
    [
        LSTM + START + "h, state = cell(X, state)\n",
        LSTM + START + "h, (c, m) = cell(X, state)\nh += c + m\n",
        CELL.format(base="GRUCell", more="", body=CALLED) + START + "h, state = cell(X, state)\nh += state\n",
        CELL.format(base="GRUCell", more="", body="") + START + "h, _ = cell(X, state)\n",
        "class Own(tf.contrib.rnn.GRUCell):\n    pass\n\n\ncell = Own(4)\n" + START + "h, _ = cell(X, state)\n",
        LSTM + START + WHILE.format(state="state"),
        LSTM + "c = tf.layers.dense(X, 4)\n" + WHILE.format(state="tf.contrib.rnn.LSTMStateTuple(c, c)"),
    ],
    ids=["called", "state taken apart", "one state", "not overridden", "no method", "loop", "one tensor twice"],
)
def test_a_derived_cell_is_followed_into_the_library(model: str) -> None:
    assert "reuse=gpu > 0" in converted(INPUTS + model + LOSS)


@pytest.mark.parametrize(
    "model",
    [
        CELL.format(base="LSTMCell", more="", body=CALLED + OWN) + START + "h, state = cell(X, state)\n",
        CELL.format(base="LSTMCell", more="", body=OWN) + START + "h, state = cell(X, state)\n",
        CELL.format(base="LSTMCell", more="", body=CALLED).replace("tf.contrib.rnn.", "cells.")
        + "h, state = cell(X, [X, X])\n",
        CELL.format(base="GRUCell", more="", body="    def build(self, shape):\n        self.w = anything(shape)\n")
        + START
        + "h, _ = cell(X, state)\n",
    ],
    ids=["own call under the library's", "own call", "another library", "own build"],
)
def test_methods_that_ask_for_what_a_class_defines_itself_are_not_followed(model: str) -> None:
    assert "TMG241" in codes(INPUTS + model + LOSS)


@pytest.mark.parametrize(("body", "merged"), [("", "tf.concat("), (SIZED, "map_structure(")])
def test_the_state_of_a_cell_with_a_size_of_its_own_may_be_several_tensors(body: str, merged: str) -> None:
    model = CELL.format(base="GRUCell", more="", body=body) + START + "h, _ = cell(X, state)\n"
    assert f"state = {merged}" in converted(INPUTS + model + LOSS + "last = state\n")


WRAPPER = """\
class Attending(tf.contrib.rnn.RNNCell):
    def __init__(self, inner):
        super(Attending, self).__init__()
        self.inner = inner

    @property
    def state_size(self):
        return {sizes}

    @property
    def output_size(self):
        return 4

    def call(self, inputs, state):
        before, seen = state
        out, after = self.inner(tf.concat([inputs, seen], 1), before)
        return out, (after, tf.layers.dense(out, 3))


cells = tf.contrib.rnn.MultiRNNCell([Attending(tf.contrib.rnn.{inner}(4)) for _ in range(layers)])
_, states = tf.nn.static_rnn(cells, [X, X], dtype=tf.float32)
h = tf.concat([states[i][1] for i in range(layers)], 1)
"""
SIZES = "(self.inner.state_size, 3)"


@pytest.mark.parametrize(
    ("sizes", "inner", "refused"),
    [
        (SIZES, "GRUCell", False),
        (SIZES, "LSTMCell", False),
        (SIZES, "LSTMBlockCell", False),
        ("tuple(anything())", "GRUCell", True),
        ("7", "GRUCell", True),
    ],
)
def test_the_state_of_an_own_cell_has_the_parts_of_its_sizes(sizes: str, inner: str, refused: bool) -> None:
    model = WRAPPER.format(sizes=sizes, inner=inner).replace("layers)", "2)")
    assert (codes(INPUTS + model + LOSS) != []) == refused
    if not refused:
        last = converted(INPUTS + model + LOSS + "last = states[0][1]\n")
        assert "map_structure(lambda *parts: tf.concat(parts, 0), *tower_states)" in last


def test_a_loop_that_is_not_followed_says_where_the_batch_was_lost() -> None:
    model = (
        "part = tf.layers.dense(X, 4)[:7]\n" + LSTM + WHILE.format(state="tf.contrib.rnn.LSTMStateTuple(part, part)")
    )
    (found,) = [d for d in run(INPUTS + model + LOSS).diagnostics if d.code == "TMG241"]
    assert "tf.while_loop makes of a batch, which is not followed from line 6 on: " in found.message
    assert found.message.endswith("a part of the batch is taken")
