"""Batches that come in as dicts; layers that would be left outside of the towers."""

from __future__ import annotations

import pytest

from tests.scripts import STEP, codes, parts

HEAD = "import tensorflow as tf\n\nbatch_size = 32\n"
PIPE = "batch = tf.data.Dataset.from_tensor_slices({}).repeat().batch(batch_size).make_one_shot_iterator().get_next()\n"
BOTH = PIPE.format("{'x': load_x(), 'y': load_y()}")
MODEL = "\n\ndef model(x):\n    return tf.layers.dense(x, 3)\n\n\n"
XENT = "per = tf.nn.sparse_softmax_cross_entropy_with_logits(labels={}, logits=logits)\nloss = tf.reduce_mean(per)\n"
RUN = "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n    sess.run(train_op)\n"


@pytest.mark.parametrize("x", ["batch['x']", "tf.reshape(batch['x'], [batch_size, 12])", "batch[key]"])
def test_elements_of_a_dict_are_inputs_from_where_the_batch_is_made(x: str) -> None:
    model = "key = 'x'\n" + BOTH + MODEL + f"x = {x}\nlogits = model(x)\n"
    _, inside, after = parts(HEAD + model + XENT.format("batch['y']") + STEP + RUN)
    assert any("batch['y']), rows" in line for line in inside) and "logits = model(x)" in inside
    assert any("batch['y']" in line.partition(" = ")[0] for line in after)


def test_elements_that_get_and_pop_take() -> None:
    taken = "x, y = batch.get('x'), batch.pop('y')\n"
    _, inside, _ = parts(HEAD + BOTH + taken + MODEL + "logits = model(x)\n" + XENT.format("y") + STEP + RUN)
    assert any("(x, y), rows" in line for line in inside)


def test_a_model_that_pops_from_its_batch() -> None:
    """The second tower would not find what the first has taken."""
    model = MODEL.replace("(x)", "(batch)").replace("dense(x,", "dense(batch.pop('x'),")
    script = HEAD + BOTH + model + "logits = model(batch)\n" + XENT.format("batch['y']") + STEP + RUN
    assert codes(script) == ["TMG231"]


def test_a_function_over_the_data_set_that_makes_a_dict() -> None:
    pipe = PIPE.format("(load_x(), load_y())").replace(".repeat()", ".map(lambda x, y: {'x': x, 'y': y}).repeat()")
    _, inside, _ = parts(HEAD + pipe + MODEL + "logits = model(batch['x'])\n" + XENT.format("batch['y']") + STEP + RUN)
    assert "logits = model(batch['x'])" in inside


LATE = PIPE.format("load_y()").replace("batch = ", "labels = ").replace(".get_next()", "")
EARLY = PIPE.format("load_x()").replace("batch = ", "x = ")


def test_layers_before_the_last_input() -> None:
    script = HEAD + EARLY + LATE + MODEL + "logits = model(x)\n{}" + XENT + STEP + RUN
    assert codes(script.replace("{}", "", 1).format("labels.get_next()")) == ["TMG258"]
    assert (
        codes(
            script.replace("logits = model", "y = labels.get_next()\nlogits = model").replace("{}", "", 1).format("y")
        )
        == []
    )


@pytest.mark.parametrize(
    "prepared",
    ["tf.one_hot(tf.cast(labels.get_next(), tf.int32), 3)", "tf.gather(table, labels.get_next())"],
)
def test_what_prepares_a_batch_may_be_computed_once(prepared: str) -> None:
    table = "table = tf.get_variable('table', [10, 3])\n"
    loss = "per = tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits)\nloss = tf.reduce_mean(per)\n"
    script = HEAD + table + EARLY + LATE + MODEL + f"y = {prepared}\nlogits = model(x)\n" + loss + STEP + RUN
    assert codes(script) == []


GRAPH = """\
import numpy as np
import tensorflow as tf

batch_size = 8
U = tf.placeholder(tf.int32, [None])
P = tf.placeholder(tf.int32, [None])
table = tf.get_variable('table', [30, 6])
rows = table
for layer in range(2):
    rows = tf.nn.relu(tf.matmul(load_graph(), rows))
u, p = tf.nn.embedding_lookup(rows, U), tf.nn.embedding_lookup(rows, P)
loss = tf.reduce_mean(tf.nn.softplus(-tf.reduce_sum(u * p, 1)))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        users, items = next_batch(batch_size)
        sess.run(train_op, {U: users, P: items})
"""


@pytest.mark.parametrize("product", ["tf.matmul", "tf.sparse_tensor_dense_matmul", "tf.sparse.sparse_dense_matmul"])
def test_a_graph_convolution_of_which_rows_are_looked_up(product: str) -> None:
    assert codes(GRAPH.replace("tf.matmul", product)) == ["TMG258"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    rows = tf.nn.relu(tf.matmul(load_graph(), rows))\n", "    pass\n"),  # look-ups alone
        ("tf.matmul(load_graph(), rows)", "2. * rows"),
        ("u * p", "tf.layers.dense(u, 6) * p"),  # a layer of the examples
        ("-tf.reduce_sum(u * p, 1)", "-tf.reduce_sum(u * tf.matmul(p, tf.get_variable('w', [6, 6])), 1)"),
        ("tf.matmul(load_graph(), rows)", "rows + tf.matmul(load_graph(), load_table())"),  # no weights
    ],
    ids=["rows", "no product", "a layer", "a product with weights", "of data"],
)
def test_models_whose_towers_compute(old: str, new: str) -> None:
    assert old in GRAPH
    assert "TMG258" not in codes(GRAPH.replace(old, new))


def test_decayed_products_beside_look_ups() -> None:
    """A product of weights in a penalty is no model of its own."""
    plain = GRAPH.replace("    rows = tf.nn.relu(tf.matmul(load_graph(), rows))\n", "    pass\n")
    penalty = "loss += 0.1 * tf.reduce_sum(tf.square(tf.matmul(table, table, transpose_a=True)))\ntrain_op ="
    assert "TMG258" not in codes(plain.replace("train_op =", penalty, 1))
    decay = "decay = tf.reduce_sum(tf.matmul(table, table, transpose_a=True))\n"
    early = plain.replace("rows = table\n", "rows = table\n" + decay)
    assert "TMG258" not in codes(early.replace("train_op =", "loss += 0.1 * decay\ntrain_op =", 1))
