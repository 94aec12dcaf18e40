"""States of recurrent cells that a script feeds from the last step: each tower takes its rows of them."""

from __future__ import annotations

import pytest

from tests.scripts import codes, parts

SCRIPT = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--model', default='lstm')
args = parser.parse_args()
batch_size = 8
{make}
x = tf.placeholder(tf.float32, [batch_size, 5, 3], name='x')
y = tf.placeholder(tf.float32, [batch_size, 4], name='y')
initial_state = cell.zero_state(batch_size, tf.float32)
outputs, final_state = tf.nn.dynamic_rnn(cell, x, initial_state=initial_state)
loss = tf.reduce_mean(tf.square(outputs[:, -1] - y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    state = sess.run(initial_state)
    for step in range(100):
        images, labels = next_batch(batch_size)
        feed = {{x: images, y: labels}}
{feed}
        _, state = sess.run([train_op, final_state], feed)
"""
BY_CONDITION = """\
if args.model == 'rnn':
    make = tf.nn.rnn_cell.BasicRNNCell
elif args.model == 'lstm':
    make = tf.nn.rnn_cell.LSTMCell
else:
    raise ValueError(args.model)
cell = tf.nn.rnn_cell.MultiRNNCell([make(4) for _ in range(2)])"""
BY_DICT = """\
make = {'rnn': tf.nn.rnn_cell.BasicRNNCell, 'lstm': tf.nn.rnn_cell.LSTMCell}[args.model]
cell = tf.nn.rnn_cell.MultiRNNCell([make(4), make(4)])"""
IN_BRANCHES = """\
if args.model == 'rnn':
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicRNNCell(4) for _ in range(2)])
else:
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4) for _ in range(2)])"""
KNOWN = "cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4) for _ in range(2)])"

UNPACKED = """\
        for i, (c, h) in enumerate(initial_state):
            feed[c] = state[i].c
            feed[h] = state[i].h"""
BY_NAME = """\
        for i, layer in enumerate(initial_state):
            feed[layer.c] = state[i].c
            feed[layer.h] = state[i].h"""
BY_INDEX = """\
        for i in range(2):
            feed[initial_state[i].c] = state[i].c
            feed[initial_state[i].h] = state[i].h"""
LAYERS = """\
        for i, layer in enumerate(initial_state):
            feed[layer] = state[i]"""
WHOLE = "        feed[initial_state] = state"


@pytest.mark.parametrize("feed", [UNPACKED, BY_NAME, BY_INDEX, LAYERS, WHOLE])
@pytest.mark.parametrize("make", [BY_CONDITION, BY_DICT, IN_BRANCHES, KNOWN])
def test_each_tower_takes_its_rows_of_the_state_that_is_fed(make: str, feed: str) -> None:
    before, inside, _ = parts(SCRIPT.format(make=make, feed=feed))
    assert "initial_state = cell.zero_state(batch_size, tf.float32)" in before
    assert "initial_state = map_structure(lambda t: shard_static([t], gpu)[0][0], initial_state_batch)" in inside
    assert "zero_state" not in "\n".join(inside)


@pytest.mark.parametrize("make", [BY_CONDITION, KNOWN])
def test_a_state_that_nothing_feeds_is_made_by_each_tower(make: str) -> None:
    script = SCRIPT.format(make=make, feed="").replace("sess.run(initial_state)", "None")
    before, inside, _ = parts(script)
    assert "zero_state" not in "\n".join(before)
    assert "zero_state" in "\n".join(inside)


@pytest.mark.parametrize("feed", [UNPACKED.replace("initial_state", "final_state"), WHOLE.replace("initial", "final")])
@pytest.mark.parametrize("make", [BY_CONDITION, BY_DICT, KNOWN])
def test_a_state_that_the_towers_compute_cannot_be_fed(make: str, feed: str) -> None:
    assert codes(SCRIPT.format(make=make, feed=feed)) == ["TMG223"]


FLAT = """\
        flat = tf.contrib.framework.nest.flatten(initial_state)
        for part, kept in zip(flat, tf.contrib.framework.nest.flatten(state)):
            feed[part] = kept"""
LISTED = """\
        names = [part for layer in initial_state for part in layer]
        feed.update(zip(names, [part for layer in state for part in layer]))"""
CHAINED = """\
        for part, kept in zip(itertools.chain(*initial_state), itertools.chain(*state)):
            feed[part] = kept"""
SUMMED = """\
        for part, kept in zip(sum(initial_state, ()), sum(state, ())):
            feed[part] = kept"""
PAIRED = """\
        feed.update(helpers.pairs(initial_state, state))"""
PAIRED_BEHIND = """\
        feed.update(helpers.more(images))
        feed.update(helpers.pairs(initial_state, state))"""
WHOLE_FEED = """\
        feed = helpers.feed(x, images, y, labels, initial_state, state)"""


@pytest.mark.parametrize("feed", [FLAT, LISTED, SUMMED, PAIRED, PAIRED_BEHIND, WHOLE_FEED])
@pytest.mark.parametrize("make", [BY_CONDITION, IN_BRANCHES, KNOWN])
def test_parts_that_are_listed(make: str, feed: str) -> None:
    _, inside, _ = parts("import helpers\n" + SCRIPT.format(make=make, feed=feed))
    assert "initial_state = map_structure(lambda t: shard_static([t], gpu)[0][0], initial_state_batch)" in inside


FINAL = [one.replace("initial_state", "final_state") for one in (CHAINED, PAIRED, PAIRED_BEHIND, WHOLE_FEED)]


@pytest.mark.parametrize("feed", [CHAINED, *FINAL])
@pytest.mark.parametrize("make", [BY_CONDITION, IN_BRANCHES, KNOWN])
def test_parts_that_may_be_fed_and_are_not_followed(make: str, feed: str) -> None:
    found = codes("import helpers\nimport itertools\n" + SCRIPT.format(make=make, feed=feed))
    assert found in (["TMG241"], ["TMG223"])
