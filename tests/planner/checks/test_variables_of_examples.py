"""Variables with a row for each example of a batch: the edit that is told, and that it helps."""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

SCRIPT = """\
import numpy as np
import tensorflow as tf

{size} = 16
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 8])
{state}
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 8) + {read} - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        sess.run(train_op, {{x: np.random.rand({size}, 4), y: np.random.rand({size}, 8){fed}}})
"""
HELD = "state = tf.get_variable('state', [{}, 8], initializer=tf.zeros_initializer(){})"


def script(size: str, state: str, read: str = "state", fed: str = "") -> str:
    return SCRIPT.format(size=size, state=state, read=read, fed=fed)


@pytest.mark.parametrize(("size", "code"), [("batch_size", "TMG224"), ("num", "TMG233")])
def test_a_state_is_to_be_fed(size: str, code: str) -> None:
    (found,) = run(script(size, HELD.format(size, ", trainable=False"))).diagnostics
    assert found.code == code
    assert found.hint.startswith("write a placeholder of that shape in its place, feed zeros to the first step")
    fed = script(size, "state = tf.placeholder(tf.float32, [None, 8])", fed=f", state: np.zeros([{size}, 8])")
    assert codes(fed) == []


@pytest.mark.parametrize(
    ("size", "code", "hint"),
    [
        ("batch_size", "TMG224", "make its shape independent of the batch size: [1, …] for all examples"),
        ("num", "TMG233", "feed the numbers of some rows, and tf.gather these"),
    ],
)
def test_weights_are_shared_or_looked_up(size: str, code: str, hint: str) -> None:
    (found,) = run(script(size, HELD.format(size, ""))).diagnostics
    assert found.code == code and found.hint.startswith(hint)


def test_the_edits_for_weights() -> None:
    assert codes(script("batch_size", HELD.format("1", ""))) == []
    rows = HELD.format("50", "") + "\nrows = tf.placeholder(tf.int32, [None])"
    assert codes(script("batch_size", rows, "tf.gather(state, rows)", ", rows: np.arange(batch_size)")) == []


WHOLE = """\
import numpy as np
import tensorflow as tf

{data}
x = tf.placeholder(tf.float32, {shape})
y = tf.placeholder(tf.float32, {shape})
v = {variable}
loss = tf.reduce_mean({loss})
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        sess.run(train_op, {{x: xs, y: ys}})
"""
LOADED = "xs, ys = np.load('x.npy'), np.load('y.npy')\nn = len(xs)"
MODULE = "from samples import load\nxs, ys = load()"
SCALED = "tf.square(x * v - y)"
GIVEN = "tf.Variable(ys / 2.0, dtype=tf.float32)"
MADE = "tf.get_variable('v', [n, 1])"


@pytest.mark.parametrize(
    ("data", "variable", "loss"),
    [
        (LOADED, GIVEN, SCALED),
        (MODULE, GIVEN, SCALED),
        (LOADED, GIVEN, "tf.square(tf.pow(x, v - 1.0) - y)"),
        (LOADED, GIVEN, "tf.square(tf.igamma(v, x) - y)"),
        (LOADED, GIVEN, "tf.square(x / tf.exp(tf.lgamma(v)) - y)"),
        (LOADED, GIVEN, "tf.layers.dense(tf.concat([x, v], 1), 1) - y"),
        (LOADED, "tf.Variable(xs[:, :1].astype('float32'))", SCALED),
        (LOADED, "tf.get_variable('v', xs.shape)", SCALED),
        (LOADED, MADE, SCALED),
        (LOADED, MADE, "tf.square(tf.layers.dense(v, 1) - y)"),
        (LOADED, MADE, "tf.square(tf.where(x > 0, v, x) - y)"),
        (LOADED, MADE, "tf.losses.mean_squared_error(y, v) + tf.square(x)"),
        (LOADED, "tf.get_variable('v', [xs.shape[0], 1])", SCALED),
        (LOADED, "tf.Variable(tf.zeros([n, 1]))", SCALED),
        (LOADED, "tf.Variable(np.zeros((n, 1), 'float32'))", SCALED),
        (LOADED, "tf.get_variable('v', [n])", "v * tf.reduce_sum(tf.square(tf.layers.dense(x, 1) - y), 1)"),
        (LOADED, "tf.get_variable('v', [64])", "v * tf.reduce_sum(tf.square(tf.layers.dense(x, 1) - y), 1)"),
    ],
)
def test_a_row_for_each_example_that_is_fed(data: str, variable: str, loss: str) -> None:
    text = WHOLE.format(data=data, shape="[None, 1]", variable=variable, loss=loss)
    (found,) = [finding for finding in run(text).diagnostics if finding.severity == "error"]
    assert (found.code, found.line) == ("TMG233", text[: text.index(loss)].count("\n") + 1)


def test_a_row_for_each_example_where_no_shape_tells_it() -> None:
    text = WHOLE.format(data=LOADED, shape="None", variable=MADE, loss=SCALED)
    assert "TMG233" in codes(text)


@pytest.mark.parametrize(
    ("data", "variable", "loss"),
    [
        (LOADED, "tf.Variable(np.load('bias.npy'))", SCALED),
        (LOADED, "tf.Variable(xs.mean(0), dtype=tf.float32)", SCALED),
        (LOADED, "tf.Variable(np.mean(ys, axis=0), dtype=tf.float32)", SCALED),
        (LOADED, "tf.get_variable('v', [xs.shape[1]])", SCALED),
        (LOADED, "tf.get_variable('v', [1, xs.shape[1]])", SCALED),
        (LOADED, "tf.Variable(xs.max(), dtype=tf.float32)", SCALED),
        (MODULE, "tf.get_variable('v', [ys.shape[1]])", SCALED),
        (LOADED, "tf.Variable(xs, dtype=tf.float32)", "tf.square(tf.layers.dense(x, 1) - y) + tf.reduce_sum(v)"),
        (LOADED, "tf.get_variable('v', [n, 4])", "tf.square(tf.layers.dense(x, 1) - y) + tf.nn.l2_loss(v)"),
        (LOADED, MADE, "tf.square(tf.tile(tf.reduce_mean(v, 0, keepdims=True), [tf.shape(x)[0], 1]) * x - y)"),
    ],
)
def test_variables_that_are_the_same_for_all_that_is_fed(data: str, variable: str, loss: str) -> None:
    shape = "[None, 4]" if "shape[1]" in variable else "[None, 1]"
    assert codes(WHOLE.format(data=data, shape=shape, variable=variable, loss=loss)) == ["TMG304"]


MANY = """\
import numpy as np
import tensorflow as tf

batch_size = 16
layers = 3
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 4])
{made}
loss = tf.reduce_mean(tf.square(x * tf.add_n(parts) - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        sess.run(train_op, {{x: np.random.rand(batch_size, 4), y: np.random.rand(batch_size, 4)}})
"""
LISTED = "parts = [tf.get_variable('v%d' % i, [4]) for i in range({})]"
LOOPED = "parts = []\nfor i in range({}):\n    parts.append(tf.get_variable('v%d' % i, [4]))"


@pytest.mark.parametrize("made", [LISTED, LOOPED])
@pytest.mark.parametrize(("number", "found"), [("batch_size", ["TMG224"]), ("layers", [])])
def test_as_many_variables_as_examples(made: str, number: str, found: list[str]) -> None:
    assert codes(MANY.format(made=made.format(number))) == found


@pytest.mark.parametrize(
    "state",
    [
        "state = tf.get_variable('state', [batch_size, 8])",
        "state = tf.Variable(tf.zeros([batch_size, 8]))",
        "state = tf.Variable(tf.tile(tf.zeros([1, 8]), [batch_size, 1]))",
        "state = tf.Variable(np.zeros((batch_size, 8), 'float32'))",
        "state = tf.Variable([[0.0] * 8] * batch_size)",
    ],
)
def test_the_batch_size_in_a_shape_is_named_as_such(state: str) -> None:
    assert codes(script("batch_size", state)) == ["TMG224"]


TURNS = """\
import tensorflow as tf

batch_size = 32
x = tf.placeholder(tf.float32, [None, 5, 4])
first = tf.get_variable('first', [{size}, 4])
turn = tf.get_variable('turn', [4, 4])
state = first
for step in tf.unstack(x, 5, 1):
    state = tf.tanh(tf.matmul(state, turn) + step)
loss = tf.reduce_mean(tf.square(state))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(20):
        sess.run(train_op, {{x: next_batch(batch_size)}})
"""


@pytest.mark.parametrize(("size", "found"), [("batch_size", [("TMG224", 5)]), ("32", [("TMG233", 9)]), ("1", [])])
def test_a_first_state_with_the_batch_size_in_its_shape(size: str, found: list[tuple[str, int]]) -> None:
    """Behind the first turn it meets the batch; the variable itself is the line to change."""
    assert [(one.code, one.line) for one in run(TURNS.format(size=size)).diagnostics] == found
