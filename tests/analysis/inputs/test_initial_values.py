"""A placeholder that only gives a variable its initial value is no batch: no training step reads it."""

from __future__ import annotations

import pytest

from converter.analysis.inputs.initial_values import initial_values
from tests.analysis.readings import facts_of
from tests.scripts import codes, inputs_cut

SCRIPT = """\
import numpy as np
import tensorflow as tf

batch_size = 16
links = np.random.randint(0, 100, (100, 5))


class Net(object):
    def __init__(self, nodes, y, table):
        self.nodes, self.y = nodes, y
        h = {looked_up}
        out = tf.layers.dense(h, 1)
        self.loss = tf.reduce_mean(tf.square(out - self.y))
        self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


nodes = tf.placeholder(tf.int32, [None])
y = tf.placeholder(tf.float32, [None, 1])
links_in = tf.placeholder(tf.int32, {shape})
table = {table}
net = Net(nodes, y, table)
sess = tf.Session()
sess.run(tf.global_variables_initializer(){first})
for i in range(100 // batch_size):
    rows = np.arange(i * batch_size, (i + 1) * batch_size)
    {before}
    sess.run(net.train_op, {{nodes: rows, y: np.ones((16, 1)){beside}}})
"""
GIVEN = {
    "shape": "links.shape",
    "table": "tf.Variable(links_in, trainable=False)",
    "looked_up": "tf.cast(tf.nn.embedding_lookup(table, self.nodes), tf.float32)",
    "first": ", {links_in: links}",
    "before": "pass",
    "beside": "",
}
OPEN = {"shape": "[None, 5]", "table": "tf.Variable(links_in, trainable=False, validate_shape=False)"}


def script(**parts: str) -> str:
    """The script, with some of its parts written in another way."""
    return SCRIPT.format(**{**GIVEN, **parts})


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"shape": "[100, 5]"},
        OPEN,
        {"table": "tf.get_variable('table', initializer=links_in, trainable=False)"},
        {"table": "tf.Variable(tf.cast(links_in, tf.int32), trainable=False)"},
        {"shape": "None", "table": "tf.Variable(links_in, trainable=False, validate_shape=False)"},
    ],
)
def test_the_towers_stand_where_the_model_is_built(parts: dict[str, str]) -> None:
    assert inputs_cut(script(**parts)) == [("self.nodes", "self.y")]


@pytest.mark.parametrize(
    ("parts", "refused"),
    [
        # fed beside each step, or between steps: the rows may be those of a batch
        ({"beside": ", links_in: links"}, ["TMG219"]),
        ({"before": "sess.run(table.initializer, {links_in: links[rows]})"}, ["TMG219"]),
        # nothing is seen that feeds it
        ({"first": ", feeds(links_in)"}, ["TMG253"]),
        # the model reads the placeholder itself, too
        ({"looked_up": f"{GIVEN['looked_up']} + tf.to_float(tf.gather(links_in, self.nodes))"}, ["TMG249"]),
        # a variable with a row for each example of an input that steps are fed
        ({"table": "tf.Variable(tf.zeros([tf.shape(nodes)[0], 5], tf.int32), validate_shape=False)"}, ["TMG219"]),
    ],
)
def test_what_may_be_a_batch_is_none(parts: dict[str, str], refused: list[str]) -> None:
    assert codes(script(**parts)) == refused


@pytest.mark.parametrize(
    ("variable", "found"),
    [
        ("tf.Variable(x)", 1),
        ("tf.Variable(x * 2)", 1),
        ("tf.Variable(tf.zeros([x.shape.as_list()[1], 3]))", 0),
        ("tf.Variable(tf.zeros([tf.shape(x)[0], 3]), validate_shape=False)", 0),
        ("tf.get_variable('w', [x.get_shape()[1], 3])", 0),
    ],
)
def test_what_only_tells_how_large_a_variable_is_gives_it_no_value(variable: str, found: int) -> None:
    made = f"x = tf.placeholder(tf.float32, [8, 4])\nw = {variable}\ny = tf.placeholder(tf.float32, [None, 3])\n"
    step = "step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.layers.dense(y, 1)))\nsess = tf.Session()\n"
    runs = "sess.run(w, {x: data})\nfor rows in batches:\n    sess.run(step, {y: rows})\n"
    assert len(initial_values(facts_of(made + step + runs))) == found
