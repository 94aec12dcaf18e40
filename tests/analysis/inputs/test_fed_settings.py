"""A placeholder without a shape that is fed one number, such as a rate of dropout, is never cut as a batch."""

from __future__ import annotations

import pytest

from tests.scripts import inputs_cut

SCRIPT = """\
import numpy as np
import tensorflow as tf
{head}
batch_size = 8
data = np.random.rand(64, 10).astype('float32')
class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 10])
        self.keep = tf.placeholder(tf.float32{shape}, name='dropout_keep_prob')
        h = {drop}
        self.loss = tf.reduce_mean(tf.square(h))
net = Net()
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(net.loss)
def feed_of(xs, keep=1.0):
    return {{net.x: xs, net.keep: keep}}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, batch_size):
        sess.run(train_op, {feed})
"""
ARGS = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--keep', default=0.5)\nargs = p.parse_args()"
FLAGS = "tf.app.flags.DEFINE_float('keep', 0.5, '')\nFLAGS = tf.app.flags.FLAGS"
WRITTEN = "{{net.x: data[i:i + batch_size], net.keep: {}}}"
DROP = "tf.nn.dropout(tf.layers.dense(self.x, 6), self.keep)"


def cut(**parts: str) -> list[tuple[str, ...]]:
    """The places that are cut for each tower."""
    defaults = {"head": "", "shape": "", "drop": DROP}
    return inputs_cut(SCRIPT.format(**{**defaults, **parts}))


@pytest.mark.parametrize("shape", ["", ", None", ", shape=None"])
@pytest.mark.parametrize(
    ("head", "value"),
    [
        ("", "0.5"),
        ("", "np.float32(0.5)"),
        ("", "0.5 if i else 1.0"),
        (ARGS, "args.keep"),
        (FLAGS, "FLAGS.keep"),
        ("import sys", "float(sys.argv[1])"),
        ("import json\nsettings = json.load(open('s.json'))", "settings['keep']"),
        ("rates = np.linspace(0.5, 1., 64)", "rates[i]"),
        ("import elsewhere", "elsewhere.KEEP"),
    ],
)
def test_whatever_number_is_fed(shape: str, head: str, value: str) -> None:
    assert cut(head=head, shape=shape, feed=WRITTEN.format(value).replace("{{", "{").replace("}}", "}")) == [
        ("self.x",)
    ]


@pytest.mark.parametrize("head", ["", FLAGS])
def test_a_dict_that_a_function_builds(head: str) -> None:
    keep = "FLAGS.keep" if head else "0.5"
    assert cut(head=head, feed=f"feed_of(data[i:i + batch_size], {keep})") == [("self.x",)]


@pytest.mark.parametrize(
    "drop",
    [
        "tf.nn.dropout(tf.layers.dense(self.x, 6), keep_prob=self.keep)",
        "tf.nn.dropout(tf.layers.dense(self.x, 6), rate=1 - self.keep)",
        "tf.layers.dropout(tf.layers.dense(self.x, 6), 1 - self.keep, training=True)",
        "tf.contrib.layers.dropout(tf.layers.dense(self.x, 6), self.keep)",
        "tf.layers.dense(self.x, 6) * self.keep",
    ],
)
def test_whatever_takes_it(drop: str) -> None:
    assert cut(drop=drop, feed="{net.x: data[i:i + batch_size], net.keep: 0.5}") == [("self.x",)]


def test_one_number_for_each_example_is_cut() -> None:
    weights = "{net.x: data[i:i + batch_size], net.keep: np.ones((batch_size, 1))}"
    assert cut(drop="tf.layers.dense(self.x, 6) * self.keep", feed=weights) == [("self.x", "self.keep")]


BALANCE = """\
import numpy as np
import tensorflow as tf
batch_size = 8
data = np.random.rand(64, 10).astype('float32')
x = tf.placeholder(tf.float32, [batch_size, 10])
balance = tf.placeholder(tf.float32, name='balance')
h = tf.layers.dense(x, 6)
errors = tf.square(h)
error = tf.reduce_mean(errors)
loss = balance * error + tf.reduce_mean(tf.abs(h))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    k = {start}
    for i in range(0, 64, batch_size):
        {result} = sess.run({fetches}, {{x: data[i:i + batch_size], balance: k}})
        k = {step}
"""


@pytest.mark.parametrize("start", ["0.", "np.float32(0.)"])
@pytest.mark.parametrize(
    ("result", "fetches"), [("_, now", "[train_op, error]"), ("now, _", "(error, train_op)"), ("now", "error")]
)
@pytest.mark.parametrize(
    "step",
    [
        "np.maximum(np.minimum(1., k + 0.001 * (0.5 - now)), 0.)",
        "np.clip(k + 0.001 * (0.5 - now), 0., 1.)",
        "np.exp(now) * k",
    ],
)
def test_a_number_that_numpy_makes_of_fetched_numbers(start: str, result: str, fetches: str, step: str) -> None:
    script = BALANCE.format(start=start, result=result, fetches=fetches, step=step)
    if result == "now":
        script = script.replace("        now =", "        sess.run(train_op, {x: data[:8], balance: k})\n        now =")
    assert inputs_cut(script) == [("x",)]


def test_numbers_that_numpy_makes_of_fetched_rows_are_cut() -> None:
    step = "np.clip(now[:, :1], 0., 1.)"
    start = "np.ones((batch_size, 1))"
    script = BALANCE.format(start=start, result="_, now", fetches="[train_op, errors]", step=step)
    assert inputs_cut(script) == [("x",), ("balance",)]


@pytest.mark.parametrize("start", ["0.", "np.float32(0.)"])
@pytest.mark.parametrize("step", ["np.clip(k + 0.001 * (0.5 - now), 0., 1.)", "np.tanh(now)"])
def test_a_number_that_is_computed_of_the_loss_which_takes_it(start: str, step: str) -> None:
    script = BALANCE.format(start=start, result="_, now", fetches="[train_op, loss]", step=step)
    assert inputs_cut(script) == [("x",)]


@pytest.mark.parametrize("start", ["np.ones(batch_size)", "data[:batch_size, 0]"])
def test_rows_that_are_computed_of_the_loss_which_takes_them_are_cut(start: str) -> None:
    script = BALANCE.format(start=start, result="_, now", fetches="[train_op, loss]", step="np.clip(k - now, 0., 1.)")
    assert inputs_cut(script) == [("x",), ("balance",)]
