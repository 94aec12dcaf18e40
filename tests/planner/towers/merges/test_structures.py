"""Tuples, named tuples, dicts and objects that carry tensors into the towers and out of them."""

from __future__ import annotations

import ast

import pytest

from tests.scripts import INPUTS, TRAINING, codes, converted, parts

RECORD = "from collections import namedtuple\n"
NET = "Net = namedtuple('Net', 'hidden output')\n"
LOSS = "loss = tf.reduce_mean(tf.square({output} - Y))\n"
STEP = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize({loss})\n"
BEFORE, INSIDE, AFTER = 0, 1, 2


def script(model: str, output: str, read: str, loss: str = "loss") -> str:
    """A script whose model binds a structure; `read` is what is read of it later."""
    step = (LOSS.format(output=output) if loss == "loss" else "") + STEP.format(loss=loss)
    return RECORD + INPUTS + NET + model + step + f"later = [{read}]\n" + TRAINING


FUNCTION = """\
def model(x):
    hidden = tf.layers.dense(x, 1)
    mean = tf.reduce_mean(hidden)
    return {made}


net = model(X)
"""
WITH_LOSS = FUNCTION.replace("return", "loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 1) - Y))\n    return")


@pytest.mark.parametrize(
    ("made", "output", "read", "after"),
    [
        ("hidden, mean", "net[0]", "net[0]", "net = (tf.concat(tower_net_0, 0), net[1])"),
        ("hidden, mean", "net[0]", "net[-1]", "net = (net[0], tf.add_n(tower_net_1))"),
        ("hidden, mean", "net[0]", "net", "net = (tf.concat(tower_net_0, 0), tf.add_n(tower_net_1))"),
        ("hidden, mean, 3", "net[0]", "net", "net = (tf.concat(tower_net_0, 0), tf.add_n(tower_net_1), net[2])"),
        ("Net(hidden, mean)", "net.hidden", "net.hidden", "net = net._replace(hidden=tf.concat(tower_hidden, 0))"),
        (
            "Net(hidden=hidden, output=mean)",
            "net.hidden",
            "net[1]",
            "net = net._replace(output=tf.add_n(tower_output))",
        ),
        (
            "(Net(hidden, mean), 3)",
            "net[0].hidden",
            "net[0].hidden",
            "net = (net[0]._replace(hidden=tf.concat(tower_hidden, 0)), net[1])",
        ),
        ("{'h': hidden, 'm': mean}", "net['h']", "net['h']", "net['h'] = tf.concat(tower_h, 0)"),
        ("[hidden, mean]", "net[0]", "net[0]", "net[0] = tf.concat(tower_net_0, 0)"),
        ("[(hidden, mean)]", "net[0][0]", "net[0][0]", "net[0] = (tf.concat(tower_net_0_0, 0), net[0][1])"),
        ("{'x': x, 'h': hidden}", "net['h']", "net['x']", "X, Y, net['x'] = X_batch, Y_batch, X_batch"),
        ("Net(x, hidden)", "net.output", "net.hidden", "net = net._replace(hidden=X_batch)"),
    ],
    ids=[
        "tuple",
        "from behind",
        "whole",
        "with a number",
        "named",
        "named by number",
        "nested",
        "dict",
        "list",
        "tuple in a list",
        "dict with an input",
        "named with an input",
    ],
)
def test_results(made: str, output: str, read: str, after: str) -> None:
    text = script(FUNCTION.format(made=made), output, read)
    assert after in parts(text)[AFTER]
    ast.parse(converted(text))


@pytest.mark.parametrize(
    ("made", "loss", "after"),
    [
        ("hidden, loss", "net[1]", "net = (net[0], tf.add_n(tower_net_1))"),
        ("Net(hidden, loss)", "net.output", "net = net._replace(output=tf.add_n(tower_output))"),
        ("{'loss': loss}", "net['loss']", "net['loss'] = tf.add_n(tower_loss)"),
        ("dict(hidden=hidden, loss=loss)", "net['loss']", "net['loss'] = tf.add_n(tower_loss)"),
    ],
)
def test_losses_in_structures(made: str, loss: str, after: str) -> None:
    # The placeholders are read by the function itself, so that the structure is made by the towers.
    text = script(WITH_LOSS.format(made=made), "", loss, loss)
    found = parts(text)
    assert any(after in part for part in found) or "merge_loss" in converted(text)
    ast.parse(converted(text))


FED = "tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 1])"


def with_inputs(inputs: str, first: str, second: str) -> str:
    """A script that reads its inputs from a structure, to build and to feed."""
    made = f"def inputs():\n    return {inputs}\n\n\npair = inputs()\n"
    loss = f"loss = tf.reduce_mean(tf.square(tf.layers.dense({first}, 1) - {second}))\n"
    training = TRAINING.replace("{X: xs, Y: ys}", f"{{{first}: xs, {second}: ys}}")
    return RECORD + INPUTS + NET + made + loss + STEP.format(loss="loss") + training


@pytest.mark.parametrize(
    ("inputs", "first", "second", "inside", "after"),
    [
        (
            f"Net({FED})",
            "pair.hidden",
            "pair.output",
            "pair = pair_batch._replace(hidden=hidden, output=output)",
            "pair = pair_batch",
        ),
        (f"({FED})", "pair[0]", "pair[1]", "pair = (pair_0, pair_1)", "pair = pair_batch"),
        (f"({FED}, 3)", "pair[0]", "pair[1]", "pair = (pair_0, pair_1, pair[2])", "pair = pair_batch"),
        (
            f"[{FED}]",
            "pair[0]",
            "pair[1]",
            "(pair[0], pair[1]), rows, weight = shard([pair_0_batch, pair_1_batch], gpu)",
            "pair[0], pair[1] = pair_0_batch, pair_1_batch",
        ),
        (
            "Net(X, Y)",
            "pair.hidden",
            "pair.output",
            "pair = pair_batch._replace(hidden=hidden, output=output)",
            "pair = pair_batch",
        ),
        (
            "{'x': X, 'y': Y}",
            "pair['x']",
            "pair['y']",
            "(pair['x'], pair['y']), rows, weight = shard([x_batch, y_batch], gpu)",
            "pair['x'], pair['y'] = x_batch, y_batch",
        ),
    ],
    ids=["named", "tuple", "with a number", "list", "named, of names", "dict of names"],
)
def test_inputs(inputs: str, first: str, second: str, inside: str, after: str) -> None:
    text = with_inputs(inputs, first, second)
    found = parts(text)
    assert inside in found[INSIDE] and after in found[AFTER]
    ast.parse(converted(text))


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("heads = [tf.layers.dense(X, 1) for _ in range(2)]\n", []),
        ("heads = [tf.layers.dense(X, 1) for _ in load()]\n", []),
        ("heads = tuple(tf.layers.dense(X, 1) for _ in load())\n", []),
        ("heads = [tf.reduce_max(tf.layers.dense(X, 1)) for _ in load()]\n", ["TMG393"]),
    ],
)
def test_lists_of_unknown_length(model: str, found: list[str]) -> None:
    refused = [code for code in codes(script(model, "tf.add_n(heads)", "heads")) if code != "TMG302"]
    assert refused == found


BUILT = """\
def build():
    x = tf.placeholder(tf.float32, [None, 4])
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
    return {'x': x, 'loss': loss}


g = build()
"""


def test_what_is_put_into_a_structure_after_the_loop_is_whole_already() -> None:
    training = TRAINING.replace("{X: xs, Y: ys}", "{g['x']: xs}")
    text = RECORD + INPUTS + BUILT + STEP.format(loss="g['loss']") + training
    _, inside, after = parts(text)
    loss = BUILT.splitlines()[2].strip()
    assert inside[-3:] == ["(x,), rows, weight = shard([x_batch], gpu)", loss, "tower_loss.append(loss * weight)"]
    assert after[:4] == ["x = x_batch", "loss = merge_loss(tower_loss)", "return {'x': x, 'loss': loss}", "g = build()"]


NET_OF_ATTRIBUTES = """
import tensorflow as tf

batch_size = 32


class Net(object):
    def __init__(self):
        x = tf.placeholder(tf.float32, [None, 4])
        self.y = tf.placeholder(tf.float32, [None, 1])
        out = tf.layers.dense(x, 1)
        self.x = x
        self.forward(out)
        self.loss = tf.reduce_mean(tf.square(self.x[:, :1] + self.predictions['probs'] - self.y))
        self.train_op = tf.train.AdamOptimizer(0.1).minimize(self.loss)

    def forward(self, out):
        self.predictions = {made}


net = Net()
with tf.Session() as sess:
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(net.train_op, {net.x: xs, net.y: ys})
"""


def test_an_attribute_that_is_an_input_is_the_input_again() -> None:
    after = parts(NET_OF_ATTRIBUTES.replace("{made}", "{'probs': tf.sigmoid(out)}"))[AFTER]
    assert "x, self.y, self.x = x_batch, y_batch, x_batch" in after
    assert not any(line.startswith("self.x = ") for line in after)


@pytest.mark.parametrize(
    ("made", "merged"),
    [
        ("{'probs': tf.sigmoid(out)}", True),
        ("{'probs': tf.sigmoid(out), 'top': tf.reduce_max(out)}", False),
    ],
)
def test_dicts_that_are_attributes_are_merged_for_readers_that_are_not_seen(made: str, merged: bool) -> None:
    after = parts(NET_OF_ATTRIBUTES.replace("{made}", made))[AFTER]
    assert ("self.predictions['probs'] = tf.concat(tower_probs, 0)" in after) == merged


@pytest.mark.parametrize("decoder", ["rnn_decoder(steps, zero, cell)", "basic_rnn_seq2seq(steps, steps, cell)"])
def test_the_state_of_a_decoder_is_what_its_cell_makes_it(decoder: str) -> None:
    text = INPUTS + "cell = tf.nn.rnn_cell.BasicLSTMCell(8)\nzero = cell.zero_state(tf.shape(X)[0], tf.float32)\n"
    text += f"steps = [X, X]\noutputs, state = tf.contrib.legacy_seq2seq.{decoder}\n"
    text += "loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[-1], 1) - Y))\n" + STEP.format(loss="loss")
    after = parts(text + "last = state\n" + TRAINING)[AFTER]
    assert "state = map_structure(lambda *parts: tf.concat(parts, 0), *tower_state)" in after


OWN_CELL = """\
class Own(tf.nn.rnn_cell.RNNCell):
    def __init__(self, cell):
        self.cell = cell
    state_size = property(lambda self: self.cell.state_size)
    def __call__(self, inputs, state, scope=None):
        return self.cell(inputs, state, scope)
"""
TREE = "state = map_structure(lambda *parts: tf.concat(parts, 0), *tower_state)"
ROWS = "state = tf.concat(tower_state, 0)"


@pytest.mark.parametrize(
    ("cell", "merged"),
    [
        ("Own(tf.nn.rnn_cell.LSTMCell(4))", TREE),
        ("made_elsewhere()", TREE),
        ("tf.nn.rnn_cell.MultiRNNCell(cells_of(layers))", TREE),
        ("tf.nn.rnn_cell.DropoutWrapper(Own(tf.nn.rnn_cell.GRUCell(4)))", TREE),
        ("tf.nn.rnn_cell.GRUCell(4)", ROWS),
        ("tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4))", ROWS),
        ("tf.nn.rnn_cell.LSTMCell(4, state_is_tuple=False)", ROWS),
    ],
)
def test_the_state_of_a_cell_that_is_not_known_may_be_several_tensors(cell: str, merged: str) -> None:
    text = INPUTS + OWN_CELL + f"outputs, state = tf.nn.dynamic_rnn({cell}, tf.expand_dims(X, 1), dtype=tf.float32)\n"
    text += "loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[:, -1], 1) - Y))\n" + STEP.format(loss="loss")
    assert merged in parts(text + "last = state\n" + TRAINING)[AFTER]


def test_states_that_branches_make_of_such_a_cell() -> None:
    text = INPUTS + OWN_CELL + "cell = Own(tf.nn.rnn_cell.LSTMCell(4))\nsteps = tf.expand_dims(X, 1)\n"
    text += "if forward:\n    outputs, state = tf.nn.dynamic_rnn(cell, steps, dtype=tf.float32)\n"
    text += "else:\n    outputs, state = tf.nn.dynamic_rnn(cell, -steps, dtype=tf.float32)\n"
    text += "loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[:, -1], 1) - Y))\n" + STEP.format(loss="loss")
    assert TREE in parts(text + "last = state\n" + TRAINING)[AFTER]


KEYED = """\
class Net:
    def __init__(self, x):
        {nodes}
        hidden = tf.layers.dense(x, 4)
        for node in [hidden]:
            {keep}
        self.output = tf.layers.dense(hidden, 1)


{made}
"""


@pytest.mark.parametrize(
    ("keep", "read", "found"),
    [
        ("self.nodes[node.name] = node", "net.nodes", ["TMG208"]),
        ("self.nodes[node.name.split('/')[0]] = node", "net.nodes", ["TMG208"]),
        ("self.nodes[node.op.name] = node", "net.nodes", ["TMG208"]),
        ("self.nodes['hidden'] = {node.name: node}", "net.nodes", ["TMG208"]),
        ("self.nodes[node.name] = node", "net.output", []),  # not read
        ("self.nodes['hidden'] = node", "net.nodes", []),
        ("self.nodes['hidden'] = node; print(node.name)", "net.nodes", []),
        ("self.nodes[tf.get_variable('scale', []).name] = node", "net.nodes", []),
    ],
)
def test_keys_that_are_names_in_the_graph(keep: str, read: str, found: list[str]) -> None:
    """They begin with tower_0 in one tower and with tower_1 in the next."""
    model = KEYED.format(nodes="self.nodes = {}", keep=keep, made="net = Net(X)")
    assert codes(script(model, "net.output", read)) == found


UNITS = """\
class Unit:
    def __init__(self, given, scope):
        self.given = tf.square(given)
        with tf.variable_scope(scope):
            self.weights = {'w': tf.get_variable('w', [4, 1])}

    def __call__(self, x):
        return tf.matmul(x * self.given, self.weights['w'])

    def save(self):
        return [self.weights[name].eval() for name in self.weights]


class Other(Unit):
    def __call__(self, x):
        return tf.matmul(x, self.weights['w'])


units = {}
hidden = tf.layers.dense(X, 4)
if np.random.rand() > 2:
    last = Unit(hidden, 'last')
else:
    last = Other(hidden, 'last')
units.update({'last': last})
prediction = last(hidden)
loss = tf.reduce_mean(tf.square(prediction - Y))
"""


@pytest.mark.parametrize(
    ("read", "merged"),
    [
        ("[units[name].save() for name in units]", ""),
        ("units['last'].weights", ""),
        ("sess.run(units['last'].given, {X: xs})", "last.given = tf.concat(tower_given, 0)"),
        ("sess.run([units[name].given for name in units], {X: xs})", "last.given = tf.concat(tower_given, 0)"),
        ("sess.run(last.given, {X: xs})", "last.given = tf.concat(tower_given, 0)"),
    ],
)
def test_an_object_in_a_dict_is_read_by_its_attributes(read: str, merged: str) -> None:
    text = "import numpy as np\n" + INPUTS + UNITS + STEP.format(loss="loss") + TRAINING + f"        {read}\n"
    after = [line.strip() for line in parts(text)[2]]
    assert (merged in after) if merged else not any("given" in line for line in after)
