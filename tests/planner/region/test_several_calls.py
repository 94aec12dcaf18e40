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


ONE_AFTER_ANOTHER = """\
import tensorflow as tf


class Net(object):
    def __init__(self, wide, deep, size=32):
        self.size = size
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, [None, 4])
            parts = []
            if wide:
                parts.append(tf.layers.dense(self.x, 1))
            if deep:
                parts.append(tf.layers.dense(tf.layers.dense(self.x, 8), 1))
            self.out = tf.add_n(parts)
            self.loss = {loss}
            if deep:
                self.loss += 0.01 * tf.nn.l2_loss(tf.trainable_variables()[0])
            self.train_op = tf.train.GradientDescentOptimizer(0.1).minimize(self.loss)
            self.sess = tf.Session()
            self.sess.run(tf.global_variables_initializer())

    def fit(self):
        for step in range(100):
            print(self.sess.run([self.train_op, self.loss, self.out], {{self.x: next_batch(self.size)}}))


for wide, deep in [(True, False), (True, True)]:
    Net(wide, deep).fit()
last = Net(False, True)
last.fit()
"""


def test_one_loop_serves_models_of_one_class_with_other_settings() -> None:
    """They were refused: each would have had a loop of its own in that constructor."""
    text = converted(ONE_AFTER_ANOTHER.format(loss="tf.reduce_mean(tf.square(self.out))"))
    assert text.count("in range(num_gpus)") == 1
    assert "if deep:\n                        self.loss += 0.01" in text


@pytest.mark.parametrize(
    "loss",
    [
        "tf.reduce_mean(tf.square(self.out)) if deep else tf.reduce_sum(tf.square(self.out))",
        "tf.reduce_mean(tf.square(self.out) if deep else tf.reduce_sum(tf.square(self.out)))",
    ],
)
def test_models_of_one_class_with_losses_of_other_forms(loss: str) -> None:
    """One is a mean of the towers' losses, the other their sum; the second spelling was taken for a mean in both."""
    done = run(ONE_AFTER_ANOTHER.format(loss=loss))
    assert done.status == "refused" and {finding.code for finding in done.diagnostics} == {"TMG214"}


TWO_CRITICS = """\
import tensorflow as tf


def critic(rows, name):
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        return tf.layers.dense(rows, 1)


def critic_loss(name, real, fake):
    error = tf.reduce_mean(tf.square(critic(real, name) - 1.0)) + tf.reduce_mean(tf.square(critic(fake, name)))
    return error / 2


def train_ops(losses):
    def minimize(loss, name):
        variables = tf.trainable_variables(name)
        return tf.train.AdamOptimizer(0.1).minimize(loss, var_list=variables)

    first = minimize(losses[0], 'one')
    second = minimize(losses[1], 'two')
    return tf.group(first, second)


x = tf.placeholder(tf.float32, [32, 4])
y = tf.placeholder(tf.float32, [32, 4])
one = critic_loss('one', x, y)
two = critic_loss('two', y, x)
train = train_ops([one, two])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        print(sess.run([train, one, two], {x: next_batch(32), y: next_batch(32)}))
"""


def test_losses_that_one_function_makes_and_another_minimises() -> None:
    """The second was taken for another model, which no tower would have."""
    text = converted(TWO_CRITICS)
    assert "one = merge_loss(tower_one)" in text and "two = merge_loss(tower_two)" in text
