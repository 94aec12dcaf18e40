"""Models that one statement builds and trains by several calls, or that several training steps build alike."""

from __future__ import annotations

import pytest

from tests.scripts import converted, run

MODEL = """\
import tensorflow as tf


class Model(object):
    def __init__(self, size=32):
        self.size = size
        self.x = tf.placeholder(tf.float32, [None, 4])
        {}

    def train(self):
        {}
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(100):
                sess.run(train_op, {{self.x: next_batch(self.size)}})


"""
SPLIT = MODEL.format("self.out = tf.layers.dense(self.x, 1)", "loss = tf.reduce_mean(tf.square(self.out))")
LATE = MODEL.format("self.out = tf.layers.dense(self.x, 1)", "loss = tf.reduce_mean(tf.layers.dense(self.out, 1))")
WHOLE = MODEL.format("self.b = 1.", "loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 1) - self.b))")


@pytest.mark.parametrize("call", ["Model().train()", "def main():\n    Model(32).train()\n\n\nmain()"])
def test_towers_stand_in_the_constructor(call: str) -> None:
    text = converted(SPLIT + call + "\n")
    assert "self.out = tf.concat(tower_out, 0)\n\n    def train" in text
    assert "colocate_gradients_with_ops=True" in text


def test_towers_stand_in_the_method() -> None:
    text = converted(WHOLE + "Model().train()\n")
    assert "    def train(self):\n        check_gpus()\n        optimizer = tf" in text


def test_a_model_that_goes_on_in_another_method() -> None:
    done = run(LATE + "Model().train()\n")
    assert [(finding.code, finding.line) for finding in done.diagnostics] == [("TMG214", 11)]
    assert "apart from its inputs" in done.diagnostics[0].message


ALIKE = """\
import tensorflow as tf


def net(size):
    x = tf.placeholder(tf.float32, [None, 4])
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, size)))
    return x, loss


def down():
    x, loss = net(3)
    return x, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def up():
    x, loss = {}
    return x, tf.train.GradientDescentOptimizer(0.1).minimize(-loss)


for make in [down, up]:
    tf.reset_default_graph()
    x, train_op = make()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            sess.run(train_op, {{x: next_batch(32)}})
"""
OWN = """\
tf.placeholder(tf.float32, [None, 4]), None
    loss = tf.reduce_mean(tf.sigmoid(tf.layers.dense(x, 2)))"""


def test_models_that_one_function_builds() -> None:
    (finding,) = run(ALIKE.format("net(4)")).diagnostics
    assert (finding.code, finding.line) == ("TMG214", 17)
    assert "the same function as the one that is trained in line 12" in finding.message


def test_models_of_their_own() -> None:
    assert converted(ALIKE.format(OWN)).count("in range(num_gpus)") == 2


IN_BRANCHES = """\
import tensorflow as tf

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_string('mode', 'train', '')
tf.app.flags.DEFINE_integer('batch_size', 32, '')


def train(size):
    x = tf.placeholder(tf.float32, [None, 4])
    h = tf.layers.dense(x, 8)
    w = tf.get_variable('w', [8, 1], dtype=h.dtype)
    loss = tf.reduce_mean(tf.square(tf.matmul(h, w))) + tf.add_n([tf.nn.l2_loss(v) for v in {variables}])
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(100):
            sess.run(train_op, {{x: next_batch(size)}})


if FLAGS.mode == 'train':
    train(FLAGS.batch_size)
{otherwise}:
    train(FLAGS.batch_size)
"""


@pytest.mark.parametrize("variables", ["tf.trainable_variables()", "tf.get_collection('trainable_variables')"])
def test_a_model_lists_no_variables_of_a_branch_that_runs_in_its_place(variables: str) -> None:
    text = converted(IN_BRANCHES.format(variables=variables, otherwise="elif FLAGS.mode == 'debug'"))
    assert "        h = tf.layers.dense(x, 8)" in text


def test_a_model_lists_the_variables_of_what_ran_before() -> None:
    done = run(IN_BRANCHES.format(variables="tf.trainable_variables()", otherwise="if FLAGS.mode != 'eval'"))
    assert done.status == "refused"
