"""Blocks of which only the first statements are needed for the loss: the others wait, unless towers need them."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes, parts

HIDDEN = "with tf.name_scope('hidden'):\n    hidden = tf.layers.dense(X, 8)\n    {}\n"
OUT = "prediction = tf.layers.dense(hidden, 1)\n"
LOSS = "loss = tf.reduce_mean(tf.square(prediction - Y)){}\n"


def inside(line: str, model: str) -> tuple[bool, bool]:
    """Whether a line stands in the loop, and whether it stands behind it."""
    _, loop, after = parts(INPUTS + model + STEP + TRAINING)
    return line in loop, line in after


@pytest.mark.parametrize(
    ("first", "rest", "later", "term"),
    [
        ("decay = []", "decay.append(tf.nn.l2_loss(hidden_w))", "", " + 0.1 * tf.add_n(decay)"),
        ("decay = []", "decay.append(tf.nn.l2_loss(hidden_w))", "", " + 0.1 * sum(decay)"),
        ("decay = {}", "decay['hidden'] = tf.nn.l2_loss(hidden_w)", "", " + 0.1 * sum(decay.values())"),
        ("pass", "tf.add_to_collection('decay', tf.nn.l2_loss(hidden_w))", "",
         " + 0.1 * tf.add_n(tf.get_collection('decay'))"),
        ("x = X", "print(x.shape)", "x = prediction\n", " * tf.reduce_mean(x)"),
        ("size = 8", "print(size)", "size = prediction.shape[1]\n", " + 0.0 * float(size)"),
    ],
)  # fmt: skip
def test_the_rest_of_a_block_keeps_its_place_before_what_reads_or_changes_it(
    first: str, rest: str, later: str, term: str
) -> None:
    variable = "hidden_w = tf.get_variable('w', [4, 8])\n"
    model = first + "\n" + variable + HIDDEN.format(rest) + OUT + later + LOSS.format(term)
    assert inside(rest, model) == (True, False)


@pytest.mark.parametrize(
    ("first", "rest", "later"),
    [
        ("x = X", "print(hidden.shape)", "x = prediction\n"),
        ("seen = []", "seen.append(tf.reduce_mean(hidden))", "other = []\n"),
        ("pass", "tf.add_to_collection('seen', hidden)", "decay = tf.get_collection('decay')\n"),
        ("pass", "tf.summary.histogram('hidden', hidden)", ""),
    ],
)
def test_the_rest_of_a_block_waits_where_no_tower_needs_it(first: str, rest: str, later: str) -> None:
    model = first + "\n" + HIDDEN.format(rest) + OUT + later + LOSS.format("")
    assert inside(rest, model) == (False, True)


def test_a_list_that_is_filled_behind_the_towers_has_no_entry_in_them() -> None:
    """The towers would read `seen[0]` to merge it: 1.15 raises an IndexError."""
    model = "seen = []\n" + HIDDEN.format("seen.append(hidden)") + OUT + LOSS.format("")
    assert codes(INPUTS + model + STEP + TRAINING) == ["TMG290"]


def test_what_waits_is_not_read_by_a_statement_that_joins_the_towers() -> None:
    """The list is filled in the towers: so is all that fills it, and what that reads."""
    model = (
        "seen = []\n"
        "with tf.name_scope('hidden'):\n    hidden = tf.layers.dense(X, 8)\n"
        "    seen.append(hidden)\n    top = hidden[0]\n"
        "with tf.name_scope('seen'):\n    first = tf.reduce_max(top)\n    seen.append(first)\n"
        "prediction = tf.layers.dense(hidden, 1) + 0.0 * tf.add_n([tf.reduce_mean(s) for s in seen[:1]])\n"
    )
    _, loop, after = parts(INPUTS + model + LOSS.format("") + STEP + TRAINING)
    assert "top = hidden[0]" in loop and "first = tf.reduce_max(top)" in loop
    assert loop.index("top = hidden[0]") < loop.index("first = tf.reduce_max(top)")
    assert after[1:3] == [
        "loss = tf.add_n(tower_loss)",
        "train_op = optimizer.apply_gradients(sum_gradients(tower_grads))",
    ]


def test_metrics_behind_the_loss_in_its_block_go_on_waiting() -> None:
    lines = (MODEL + "error = prediction - Y\n").replace("\n", "\n    ").rstrip()
    model = "with tf.name_scope('loss'):\n    " + lines + "\n"
    assert inside("error = prediction - Y", model) == (False, True)


IN_SCOPE = """\
import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--batch-size', type=int, default=8)
args = parser.parse_args()
with tf.variable_scope('net'):
    X = tf.placeholder(tf.float32, [args.batch_size, 4])
    prediction = tf.layers.dense(X, 1){scale}
Y = tf.placeholder(tf.float32, [args.batch_size, 1])
loss = tf.reduce_mean(tf.square(prediction - Y))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(args.batch_size)
        sess.run(train_op, {{X: xs, Y: ys}})
"""


def test_an_input_in_front_of_its_block_has_the_rows_of_all_towers() -> None:
    before, loop, _ = parts(IN_SCOPE.format(scale=""))
    assert "X = tf.placeholder(tf.float32, [args.batch_size * num_gpus, 4])" in before
    assert "prediction = tf.layers.dense(X, 1)" in loop


def test_the_rest_of_a_block_goes_on_with_the_rows_of_a_tower() -> None:
    before, loop, _ = parts(IN_SCOPE.format(scale=" / args.batch_size"))
    assert "X = tf.placeholder(tf.float32, [args.batch_size * num_gpus, 4])" in before
    assert "prediction = tf.layers.dense(X, 1) / args.batch_size" in loop
