"""Inputs without a shape: what is fed, or what the model does with it, tells whether the towers share it."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

SCRIPT = """\
import argparse
import json
import numpy as np
import tensorflow as tf

batch_size = 32
args = argparse.ArgumentParser().parse_args()
config = json.load(open('config.json'))
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
z = tf.placeholder(tf.float32{shape})
{model}
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
sess = tf.Session()
for step in range(len(data) // batch_size):
    rows = slice(step * batch_size, (step + 1) * batch_size)
    sess.run(train_op, {{X: data[rows], Y: labels[rows], z: {fed}}})
"""
ERROR = "loss = tf.reduce_mean({}tf.square(tf.layers.dense(X, 1) - Y))"
WEIGHED = ERROR.format("z * ")
DROPPED = "loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.nn.dropout(X, z), 1) - Y))"
ADDED = ERROR.format("") + " + z * tf.reduce_mean(tf.square(X))"
WRAPPED = """\
cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=z)
_, state = tf.nn.dynamic_rnn(cell, tf.expand_dims(X, 2), dtype=tf.float32)
loss = tf.reduce_mean(tf.square(tf.layers.dense(state, 1) - Y))
"""


def script(model: str, fed: str, shape: str = "") -> str:
    return SCRIPT.format(model=model, fed=fed, shape=shape)


def cut(text: str, **options: object) -> list[str]:
    """The lines that cut inputs for the towers."""
    return [line.strip() for line in body(text, **options) if " = shard(" in line]


def of(*inputs: str) -> list[str]:
    """The one line that cuts these inputs and no other."""
    whole = ", ".join(f"{name}_batch" for name in inputs)
    return [f"({', '.join(inputs)}{',' if len(inputs) == 1 else ''}), tower_rows, weight = shard([{whole}], gpu)"]


@pytest.mark.parametrize(
    "fed", ["0.5", "args.scale", "max(0.1, 1 - step / 9.0)", "np.float32(step)", "np.exp(-step)", "float(step) / 9"]
)
@pytest.mark.parametrize("model", [WEIGHED, DROPPED, ADDED])
def test_a_number_is_shared(model: str, fed: str) -> None:
    assert cut(script(model, fed)) == of("X", "Y")


@pytest.mark.parametrize("fed", ["config['keep']", "schedule(step)", "anneal.value(step)"])
@pytest.mark.parametrize("model", [DROPPED, ADDED, WRAPPED])
def test_what_the_model_reads_as_one_number_is_shared(model: str, fed: str) -> None:
    assert cut(script(model, fed)) == of("X", "Y")


@pytest.mark.parametrize(
    "fed",
    ["weights[rows]", "np.ones((batch_size, 1))", "parts[step]", "data[parts[step]]", "data[index]", "next_batch(9)"],
)
def test_rows_are_cut(fed: str) -> None:
    loop = "parts = np.split(np.arange(288), 9)\nfor step, index in enumerate(parts):\n"
    text = script(WEIGHED, fed).replace("for step in range(len(data) // batch_size):\n", loop)
    assert codes(text) == [] and cut(text) == of("X", "Y", "z")


@pytest.mark.parametrize("fed", ["weigh(step)", "config['scale']"])
def test_what_may_be_either_is_refused(fed: str) -> None:
    assert codes(script(WEIGHED, fed)) == ["TMG253"]
    assert codes(script(WEIGHED, fed, ", []")) == codes(script(WEIGHED, fed, ", [None, 1]")) == []
    assert cut(script(WEIGHED, fed, ", []")) == of("X", "Y")
    assert cut(script(WEIGHED, fed, ", [None, 1]")) == of("X", "Y", "z")


def test_an_option_tells() -> None:
    assert cut(script(WEIGHED, "weigh(step)"), shared=("z",)) == of("X", "Y")
    assert cut(script(WEIGHED, "weigh(step)"), batch_axes=(("z", 0),)) == of("X", "Y", "z")


def test_feeds_that_are_not_seen() -> None:
    text = script(WEIGHED, "0.5").replace("{X: data[rows], Y: labels[rows], z: 0.5}", "feeds(X, Y, z, batch_size)")
    assert codes(text) == ["TMG253"]
    assert codes(text.replace(WEIGHED, DROPPED)) == ["TMG303"]


CROSSED = "loss = tf.reduce_mean(tf.nn.{}softmax_cross_entropy_with_logits(logits=tf.layers.dense(X, 4), labels=z))"


@pytest.mark.parametrize("kind", ["", "sparse_"])
@pytest.mark.parametrize("fed", ["list(targets[rows])", "targets_of(rows)", "chunk"])
def test_labels_have_as_many_rows_as_the_logits(kind: str, fed: str) -> None:
    assert cut(script(CROSSED.format(kind), fed)) == of("X", "z")


def test_labels_that_the_user_calls_shared() -> None:
    assert cut(script(CROSSED.format(""), "chunk"), shared=("z",)) == of("X")


def test_weights_of_classes_are_no_labels() -> None:
    weighed = CROSSED.format("").replace("labels=z", "labels=Y").replace("tf.layers", "z * tf.layers")
    assert "TMG253" in codes(script(weighed, "chunk"))


def test_an_entry_of_numbers_is_one_value() -> None:
    assert cut(script(WEIGHED, "np.linspace(0, 1, 9)[step]")) == of("X", "Y")
    assert codes(script(WEIGHED, "np.zeros([9, 32])[step]")) == ["TMG253"]


SPACE = "space = make_env().observation_space\nz = tf.placeholder("


@pytest.mark.parametrize(
    "shape",
    [
        "[None] + list(space.shape)",
        "(None,) + space.shape",
        "(None,) + tuple(space.shape)",
        "[None, *space.shape]",
        "(batch_size,) + space.shape",
        "[batch_size] + list(space.shape) + [1]",
        "[] + [None] + list(space.shape)",
    ],
)
@pytest.mark.parametrize("fed", ["weigh(step)", "np.stack(memory)"])
def test_a_shape_that_begins_with_the_batch(shape: str, fed: str) -> None:
    text = script(WEIGHED, fed, f", {shape}").replace("z = tf.placeholder(", SPACE)
    assert cut(text) == of("X", "Y", "z")


@pytest.mark.parametrize("shape", ["space.shape", "list(space.shape) + [None]", "[4] + list(space.shape)"])
def test_a_shape_that_only_a_run_knows(shape: str) -> None:
    text = script(WEIGHED, "weigh(step)", f", {shape}").replace("z = tf.placeholder(", SPACE)
    assert codes(text) == ["TMG253"]
    assert cut(text, shared=("z",)) == of("X", "Y")


def test_what_is_fed_tells_of_such_a_shape() -> None:
    text = script(WEIGHED, "weights[rows]", ", space.shape").replace("z = tf.placeholder(", SPACE)
    assert cut(text) == of("X", "Y", "z")
    assert cut(text.replace("weights[rows]", "0.5")) == of("X", "Y")


STATEFUL = """\
import numpy as np
import tensorflow as tf

batch_size = 32
cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(4) for _ in range(2)])
X = tf.placeholder(tf.float32, [batch_size, 5, 4])
Y = tf.placeholder(tf.float32, [batch_size, 1])
zero = cell.zero_state(batch_size, tf.float32)


def like(state):
    if isinstance(state, tf.nn.rnn_cell.LSTMStateTuple):
        c, h = state
        return tf.nn.rnn_cell.LSTMStateTuple(tf.placeholder(c.dtype, c.shape), tf.placeholder(h.dtype, {shape}))
    if isinstance(state, tf.Tensor):
        return tf.placeholder(state.dtype, state.shape)
    return tuple([like(part) for part in state])


start = like(zero)
outputs, last = tf.nn.dynamic_rnn(cell, X, initial_state=start)
loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[:, -1], 1) - Y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    state = sess.run(zero)
    for step in range(10):
        feed = {{X: data(batch_size), Y: labels(batch_size)}}
        for layer, value in zip(start, state):
            feed[layer.c], feed[layer.h] = value.c, value.h
        state, _ = sess.run([last, train_op], feed)
"""


def test_a_placeholder_in_the_shape_of_a_state_has_its_rows() -> None:
    lines = body(STATEFUL.format(shape="h.shape"))
    assert any("start = map_structure(lambda t: " in line for line in lines)
    assert codes(STATEFUL.format(shape="h.get_shape()")) == []


@pytest.mark.parametrize(
    ("shape", "found"), [("tf.zeros([4]).shape", ["TMG205"]), ("load().shape", ["TMG253", "TMG205"])]
)
def test_a_placeholder_in_another_shape_may_have_none(shape: str, found: list[str]) -> None:
    assert codes(STATEFUL.format(shape=shape)) == found


ONE_ARRAY = """\
import numpy as np
import tensorflow as tf

batch_size = 8
photos = np.random.rand(64, 6)
style = np.random.rand(3, 6)
X = tf.placeholder(tf.float32, [None, 6])
S = tf.placeholder(tf.float32, style.shape)
weights = tf.get_variable('weights', [6, 2])
target = tf.reduce_mean(tf.matmul(S, weights), 0, keep_dims=True)
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 2) - target))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size):
        print(sess.run([train_op, loss], {X: photos[begin:begin + batch_size], S: style}))
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("[None, 6]", "[batch_size, 6]"),
        ("photos[begin:begin + batch_size]", "next_batch(batch_size)"),
    ],
    ids=["slices", "a batch size in the shape", "a call that gives batches"],
)
def test_one_array_beside_batches_is_no_batch(old: str, new: str) -> None:
    script = ONE_ARRAY.replace(old, new)
    assert codes(script) == []
    (cut,) = (line for line in body(script) if " = shard" in line)
    assert "[X_batch]" in cut


def test_a_part_of_the_array_may_be_a_batch() -> None:
    parted = ONE_ARRAY.replace("S: style}", "S: style if begin else style[::-1]}")
    assert codes(parted) == ["TMG253"]


def test_one_array_beside_the_whole_data_is_a_part_of_it() -> None:
    whole = ONE_ARRAY.replace("[None, 6]", "photos.shape").replace("photos[begin:begin + batch_size]", "photos")
    assert "[X_batch, S_batch]" in " ".join(body(whole))


def test_batches_in_the_shape_of_the_first_one() -> None:
    first = ONE_ARRAY.replace("style = np.random.rand(3, 6)", "first = next_batch(batch_size)")
    first = first.replace("style.shape", "first.shape").replace("S: style}", "S: next_batch(batch_size)}")
    first = first.replace("target = tf.reduce_mean(tf.matmul(S, weights), 0, keep_dims=True)", "target = S[:, :2]")
    assert "S_batch" in " ".join(body(first))
