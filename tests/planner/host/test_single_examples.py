"""Branches that set the batch size to 1: they get one tower, and the others share batches of all towers."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted, run

HEAD = """\
import argparse
import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=8)
parser.add_argument('--slow', action='store_true')
args = parser.parse_args()
data = np.random.RandomState(0).rand(64, 4)
"""

MODEL = """\
x = tf.placeholder(tf.float32, [{rows}, 4], name='x')
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 4) - x))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, {size}):
        sess.run(train_op, {{x: data[i:i + {size}]}})
"""

SET = "if args.slow:\n    {size} = 1\n"
ONE = "if args.slow:\n    num_gpus = 1  # one tower takes single examples\n    {size} = 1\n"


@pytest.mark.parametrize("rows", ["batch_size", "None"])
def test_a_name_that_a_branch_sets_to_1(rows: str) -> None:
    text = converted(
        HEAD + "batch_size = 8\n" + SET.format(size="batch_size") + MODEL.format(rows=rows, size="batch_size")
    )
    assert "batch_size = 8 * num_gpus\n" + ONE.format(size="batch_size") in text


@pytest.mark.parametrize("rows", ["args.batch_size", "None"])
def test_a_setting_that_a_branch_sets_to_1(rows: str) -> None:
    size = "args.batch_size"
    text = converted(HEAD + SET.format(size=size) + MODEL.format(rows=rows, size=size))
    assert ONE.format(size=size) in text
    assert "range(0, 64, args.batch_size * num_gpus)" in text


def test_the_other_branch_may_set_it_too() -> None:
    size = "batch_size"
    lines = SET.format(size=size) + "else:\n    batch_size = args.batch_size\n"
    text = converted(HEAD + lines + MODEL.format(rows=size, size=size))
    assert ONE.format(size=size) + "else:\n    batch_size = args.batch_size * num_gpus\n" in text


FUNCTION = """\
def train(pictures, batch_size=8, slow=False):
    if slow:
        batch_size = 1
    x = tf.placeholder(tf.float32, [batch_size, 4])
    if slow:
        made = tf.Variable(tf.zeros(x.get_shape()))
    else:
        made = tf.layers.dense(x, 4)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(made, 4) - x))
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(0, len(pictures), batch_size):
            _, shown = sess.run([train_op, loss], {x: pictures[i:i + batch_size]})
            yield shown


for shown in train(data, args.batch_size, args.slow):
    print(shown)
"""


def test_a_function_may_be_given_a_size_that_was_scaled_before() -> None:
    text = converted(HEAD + FUNCTION)
    assert "for shown in train(data, args.batch_size * num_gpus, args.slow):" in text
    assert "    if slow:\n        num_gpus = 1  # one tower takes single examples\n        batch_size = 1\n" in text
    assert "    global num_gpus\n" in text


def test_a_variable_of_the_shape_of_a_batch_is_one_of_the_others() -> None:  # a near miss
    (found,) = run(HEAD + FUNCTION.replace("    if slow:\n        batch_size = 1\n", "")).diagnostics
    assert found.code == "TMG224"
    text = HEAD + FUNCTION.replace("    if slow:\n        made =", "    if len(pictures) < 9:\n        made =")
    assert "TMG224" in codes(text)


CALLED = """\
def train(slow):
    batch_size = 8
    if slow:
        batch_size = 1
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 4])
        loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 4) - x))
        train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(0, 64, batch_size):
                sess.run(train_op, {x: data[i:i + batch_size]})


train(args.slow)
"""


@pytest.mark.parametrize(("more", "one"), [("", True), ("train(False)\n", False)])
def test_a_function_that_is_called_again_would_find_one_tower(more: str, one: bool) -> None:
    assert ("num_gpus = 1  # one tower" in converted(HEAD + CALLED + more)) is one


DATASET = """\
batch_size = 8
batches = tf.data.Dataset.from_tensor_slices(data.astype('f')).repeat().batch(batch_size)
if args.slow:
    batch_size = 1
x = batches.make_one_shot_iterator().get_next()
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 4) - x))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, batch_size):
        sess.run(train_op)
"""


def test_what_was_made_by_the_size_before_keeps_all_towers() -> (
    None
):  # a near miss: one tower would take 8 * N examples
    assert "num_gpus = 1" not in converted(HEAD + DATASET)


@pytest.mark.parametrize(
    ("again", "code"),
    [
        ("if args.slow: batch_size = 1\n", "TMG279"),  # on the condition's own line
        ("for again in range(2):\n    if args.slow:\n        batch_size = 1\n", "TMG279"),  # asked again
        ("batch_size = 1 if args.slow else batch_size\n", "TMG202"),
    ],
)
def test_where_no_line_can_be_put_in_front_it_is_refused(again: str, code: str) -> None:
    text = HEAD + "batch_size = args.batch_size\n" + again + MODEL.format(rows="batch_size", size="batch_size")
    assert codes(text) == [code]


def test_another_number_than_1_is_scaled() -> None:  # a near miss
    lines = "batch_size = 8\nif args.slow:\n    batch_size = 2\n"
    text = converted(HEAD + lines + MODEL.format(rows="None", size="batch_size"))
    assert "    batch_size = 2 * num_gpus\n" in text and "num_gpus = 1" not in text
