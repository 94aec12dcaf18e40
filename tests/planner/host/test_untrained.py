"""Branches in which nothing trains have one tower, where an evaluation would leave out rows otherwise."""

from __future__ import annotations

import pytest

from tests.scripts import codes, run

LINE = "num_gpus = 1  # nothing trains here: one tower takes the script's batches"
HEAD = """\
import numpy as np
import tensorflow as tf

tf.app.flags.DEFINE_integer('batch_size', 16, 'rows')
tf.app.flags.DEFINE_string('mode', 'train', 'train or valid')
FLAGS = tf.app.flags.FLAGS


def queue(epochs=None):
    row, = tf.train.slice_input_producer([load()], num_epochs=epochs)
    return tf.train.batch([row], FLAGS.batch_size)


"""
MODEL = """\
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 4) - x))
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
"""
INPUTS = """\
    if {train}:
        x = queue()
    else:
        x = queue(1)
"""
RUN = "        for step in range(100):\n            print(sess.run({fetched}))\n"
CALL = "\n\nrun(FLAGS.mode == 'train')\n"


def script(inputs: str, fetched: str, call: str = CALL, head: str = HEAD) -> str:
    return f"{head}def run(train):\n{inputs}{MODEL}{RUN.format(fetched=fetched)}{call}"


def converted(text: str) -> str:
    made = run(text)
    assert made.text is not None, made.diagnostics
    return made.text


SHARED = [  # one run for both modes
    (INPUTS.format(train="train"), "train_op if train else loss"),
    (INPUTS.format(train="train"), "loss if not train else train_op"),
    (INPUTS.format(train="train"), "[train_op if train else loss, x]"),
    (INPUTS.format(train="FLAGS.mode == 'train'"), "train_op if FLAGS.mode == 'train' else loss"),
    (INPUTS.format(train="FLAGS.mode == 'train'"), "train_op if not FLAGS.mode != 'train' else loss"),
    (INPUTS.format(train="FLAGS.mode != 'valid'"), "loss if FLAGS.mode == 'valid' else train_op"),
    (INPUTS.format(train="FLAGS.mode != 'valid'"), "train_op if FLAGS.mode == 'train' else loss"),
    (INPUTS.format(train="train or train is None"), "train_op if train else loss"),
]


@pytest.mark.parametrize(("inputs", "fetched"), SHARED)
def test_a_mode_without_training_has_one_tower(inputs: str, fetched: str) -> None:
    made = run(script(inputs, fetched))
    assert made.text is not None
    assert [d.code for d in made.diagnostics if d.code == "TMG345"] == []
    above, _, below = made.text.partition(f"        FLAGS.{LINE}\n")
    assert above.endswith("    else:\n") and below.startswith("        x = queue(1)\n")


@pytest.mark.parametrize(
    ("inputs", "fetched"),
    [
        (INPUTS.format(train="train"), "train_op"),  # both train
        (INPUTS.format(train="train"), "train_op if not train else loss"),  # the other one trains
        (INPUTS.format(train="train"), "train_op if step % 2 else loss"),  # another condition
        (INPUTS.format(train="FLAGS.batch_size"), "train_op if FLAGS.mode == 'train' else loss"),
        (INPUTS.format(train="FLAGS.mode == 'train'"), "train_op if FLAGS.mode != 'valid' else loss"),
        (INPUTS.format(train="train and FLAGS.batch_size"), "train_op if train else loss"),  # may train in the else
        (INPUTS.format(train="train") + "    train = chosen()\n", "train_op if train else loss"),  # set again
        (INPUTS.format(train="train()"), "train_op if train() else loss"),  # a call may answer otherwise
    ],
)
def test_a_branch_that_may_train_stays(inputs: str, fetched: str) -> None:
    text = script(inputs, fetched)
    assert LINE not in converted(text)
    assert "TMG345" in codes(text)


BEFORE = "    rows = FLAGS.batch_size\n"  # is read in front of the condition


def test_a_number_that_was_read_before_stays() -> None:
    head = HEAD.replace("queue(epochs=None)", "queue(size, epochs=None)").replace("FLAGS.batch_size)", "size)")
    inputs = INPUTS.format(train="train").replace("queue(", "queue(rows, ").replace(", )", ")")
    text = script(BEFORE + inputs, "train_op if train else loss", head=head)
    assert LINE not in converted(text)
    assert "TMG345" in codes(text)
    later = script(inputs.replace("rows", "FLAGS.batch_size"), "train_op if train else loss", head=head)
    assert LINE in converted(later)


def test_a_mode_that_trains_and_evaluates_stays() -> None:
    inputs = "    x, v = queue(), queue(1)\n"
    model = "    print(sess.run(tf.reduce_mean(v)))\n"
    text = script(inputs, "train_op", "    " + model + CALL)
    assert LINE not in converted(text)
    assert "TMG345" in codes(text)


def test_no_branch_is_cut_where_no_rows_are_left_out() -> None:
    head = HEAD.replace("FLAGS.batch_size)", "FLAGS.batch_size, allow_smaller_final_batch=True)")
    text = script(INPUTS.format(train="train"), "train_op if train else loss", head=head)
    assert LINE not in converted(text)
    assert "TMG345" not in codes(text)
    assert LINE not in str(run(script(*SHARED[0]), batch="total").text)


def test_a_branch_on_the_line_of_its_condition_stays() -> None:
    inputs = "    if train: x = queue()\n    else: x = queue(1)\n"
    text = script(inputs, "train_op if train else loss")
    assert LINE not in converted(text)
    assert "TMG345" in codes(text)


def test_a_chain_of_conditions_takes_the_branch_that_has_a_line() -> None:
    inputs = (
        "    if FLAGS.mode == 'train':\n        x = queue()\n"
        "    elif FLAGS.mode == 'valid':\n        x = queue(1)\n    else:\n        x = queue(2)\n"
    )
    made = converted(script(inputs, "train_op if FLAGS.mode == 'train' else loss"))
    assert f"    elif FLAGS.mode == 'valid':\n        FLAGS.{LINE}\n        x = queue(1)" in made
    assert f"    else:\n        FLAGS.{LINE}\n        x = queue(2)" in made


CONSTANT = """\
import sys

import numpy as np
import tensorflow as tf


def queue(epochs=None):
    row, = tf.train.slice_input_producer([load()], num_epochs=epochs)
    return tf.train.batch([row], 16)


"""


def test_a_constant_is_declared_where_a_function_sets_it() -> None:
    call = "\n\nrun(len(sys.argv) == 1)\n"
    made = converted(script(*SHARED[0], call=call, head=CONSTANT))
    assert "def run(train):\n    global num_gpus\n    if train:\n        x = queue()\n" in made
    assert f"    else:\n        {LINE}\n        x = queue(1)\n" in made


LOOPS = """\
def evaluate(sess, loss, x):
    total = 0
    for i in range(len(test) // FLAGS.batch_size):
        total += sess.run(loss, {x: test[i * FLAGS.batch_size:(i + 1) * FLAGS.batch_size]})
    print(total / (len(test) // FLAGS.batch_size))


def main(_):
    x = tf.placeholder(tf.float32, [None, 4])
    if FLAGS.mode == 'valid':
        loss, _ = net(x)
        with tf.Session() as sess:
            tf.train.Saver().restore(sess, 'model')
            evaluate(sess, loss, x)
    else:
        loss, train_op = net(x)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(100):
                sess.run(train_op, {x: next_batch(FLAGS.batch_size)})
"""
NET = """\
def net(x):
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 4) - x))
    return loss, tf.train.AdamOptimizer(0.01).minimize(loss)


test = np.load('test.npy')


"""


def test_a_mode_with_a_session_of_its_own_has_one_tower() -> None:
    text = f"{HEAD}{NET}{LOOPS}\n\ntf.app.run()\n"
    assert f"    if FLAGS.mode == 'valid':\n        FLAGS.{LINE}\n" in converted(text)
    assert "TMG345" not in codes(text)
    call = "            evaluate(sess, loss, x)\n"
    trains = text.replace(call, f"{call}            sess.run(_, {{x: test}})\n")
    assert LINE not in converted(trains)
    assert "TMG345" in codes(trains)


FED = """\
import numpy as np
import tensorflow as tf

tf.app.flags.DEFINE_integer('batch_size', 16, 'rows')
tf.app.flags.DEFINE_string('mode', 'train', 'train or show')
FLAGS = tf.app.flags.FLAGS
data = np.load('data.npy')


class Net(object):
    def __init__(self, x):
        self.out = tf.layers.dense(x, 4, name='out')
        if FLAGS.mode == 'train':
            self.loss = tf.reduce_mean(tf.square(self.out - x))


def train():
    x = tf.placeholder(tf.float32, [FLAGS.batch_size, 4])
    net = Net(x)
    train_op = tf.train.AdamOptimizer(0.01).minimize(net.loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(0, 640, FLAGS.batch_size):
            sess.run(train_op, {x: data[i:i + FLAGS.batch_size]})


def show():
    assert FLAGS.batch_size == 1
    x = tf.placeholder(tf.float32, [FLAGS.batch_size, 4])
    net = Net(x)
    with tf.Session() as sess:
        for row in data:
            print(sess.run(net.out, {x: row[None, :]}))


if FLAGS.mode == 'train':
    train()
elif FLAGS.mode == 'show':
    show()
"""


def test_a_mode_that_feeds_single_rows_has_one_tower() -> None:
    assert f"elif FLAGS.mode == 'show':\n    FLAGS.{LINE}\n    show()" in converted(FED)


@pytest.mark.parametrize(
    ("mode", "line"),
    [
        ("elif FLAGS.mode == 'show':\n    show()", "    train()\n    show()"),  # rows are shown after the training, too
        ("elif FLAGS.mode == 'show':\n    show()", "show()"),
        ("elif FLAGS.mode == 'show':\n    show()", "elif FLAGS.mode == 'show': show()"),  # no line fits there
        ("if FLAGS.mode == 'train':\n    train", "if FLAGS.mode != 'other':\n    train()\n    show"),
    ],
)
def test_single_rows_are_refused_where_the_model_may_train(mode: str, line: str) -> None:
    assert mode in FED
    assert "TMG252" in codes(FED.replace(mode, line))
