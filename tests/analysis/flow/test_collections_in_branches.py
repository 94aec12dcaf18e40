"""What one branch adds to a collection of the graph, the other branch does not find there."""

from __future__ import annotations

import pytest

from converter.analysis.values import Sequence, Tensor
from tests.analysis.readings import batch, value_of
from tests.scripts import codes, inputs_cut

ADD = "tf.add_to_collection('kept', {})"
FOUND = "found = tf.get_collection('kept')"
MADE = "flag = tf.app.flags.FLAGS.testing\nx = tf.placeholder(tf.float32, [None, 4])\nw = tf.zeros([3])\n"


def kept(script: str) -> list[str]:
    """The batches of what the collection holds where the script reads it, without what layers may add."""
    found = value_of(MADE + script, "found")
    assert isinstance(found, Sequence)
    return [batch(v.batch) for v in found.elements[:-1] if isinstance(v, Tensor)]


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("if flag:\n    {x}\nelse:\n    {found}", []),
        ("if flag:\n    {x}\nelse:\n    {w}\n    {found}", ["free"]),
        ("{w}\nif flag:\n    {x}\nelse:\n    {found}", ["free"]),
        ("if flag == 'a':\n    {x}\nelif flag == 'b':\n    {w}\nelse:\n    {found}", []),
        ("if flag:\n    {x}\nelse:\n    {w}\n{found}", ["example 0", "free"]),
        ("if flag:\n    {x}\n{found}", ["example 0"]),
        ("if flag:\n    pass\nelse:\n    {x}\n{found}", ["example 0"]),
        ("if flag:\n    {x}\n    {found}\nelse:\n    found = tf.get_collection('kept')", ["example 0"]),
        ("{x} if flag else None\n{found}", ["example 0"]),
        ("found = None\n({w}) if flag else (found := tf.get_collection('kept'))", []),
        ("for _ in range(2):\n    if flag:\n        {x}\n{found}", ["example 0", "example 0"]),
    ],
)
def test_what_a_collection_holds(script: str, wanted: list[str]) -> None:
    assert kept(script.format(x=ADD.format("x"), w=ADD.format("w"), found=FOUND)) == wanted


ONE_OF = """\
def one():
    {x}
    return tf.get_collection('kept')


def two():
    {w}
    return tf.get_collection('kept')


chosen = one if flag else two
held = chosen()
"""


def test_what_one_of_two_functions_adds() -> None:
    script = ONE_OF.format(x=ADD.format("x"), w=ADD.format("w"))
    assert sorted(kept(script.replace("held = chosen()", "chosen()\n" + FOUND))) == ["example 0", "free"]
    seen = script.replace("    return", "    global found\n    found =").replace("held = ", "")
    assert kept(seen) in (["example 0"], ["free"])


MODELS = """\
import sys
import numpy as np
import tensorflow as tf
batch_size = 8


class Net(object):
    def build(self):
        self.x, self.y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 1])
        error = tf.reduce_mean(tf.square(self.outputs() - self.y))
        tf.add_to_collection('losses', error)
        self.loss = tf.add_n(tf.get_collection('losses'))
        self.step = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)


class Small(Net):
    def outputs(self):
        return tf.layers.dense(self.x, 1)


class Large(Net):
    def outputs(self):
        return tf.layers.dense(tf.layers.dense(self.x, 9), 1)


kind = Large if len(sys.argv) > 1 else Small
net = kind()
net.build()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        sess.run([net.step, net.loss], {net.x: np.ones([batch_size, 4]), net.y: np.ones([batch_size, 1])})
"""


def test_the_losses_of_one_of_two_classes() -> None:
    assert codes(MODELS) == []


SCRIPT = """\
import numpy as np
import tensorflow as tf
tf.flags.DEFINE_string('mode', '', '')
tf.flags.DEFINE_integer('batch_size', 8, '')
FLAGS = tf.flags.FLAGS


def model(x, y):
    h = tf.layers.dense(x, 3)
    tf.add_to_collection('losses', tf.reduce_mean(tf.square(h - y)))
    return tf.add_n(tf.get_collection('losses')), h


def test():
    x, y = tf.placeholder(tf.float32, [1, 4]), tf.placeholder(tf.float32, [1, 3])
    _, h = model(x, y)
    with tf.Session() as sess:
        print(sess.run(h, {x: np.ones([1, 4])}))


def train(rate):
    x = tf.placeholder(tf.float32, [FLAGS.batch_size, 4])
    y = tf.placeholder(tf.float32, [FLAGS.batch_size, 3])
    loss, _ = model(x, y)
    step = tf.train.GradientDescentOptimizer(rate).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        xs, ys = np.ones([FLAGS.batch_size, 4]), np.ones([FLAGS.batch_size, 3])
        print(sess.run([step, loss], {x: xs, y: ys})[1])


if FLAGS.mode == 'tune':
    train(0.01)
elif FLAGS.mode == 'test':
    test()
else:
    train(0.1)
"""


def test_a_model_that_is_tested_in_a_branch_of_its_own() -> None:
    assert codes(SCRIPT) == []
    assert inputs_cut(SCRIPT) == [("x", "y")]
