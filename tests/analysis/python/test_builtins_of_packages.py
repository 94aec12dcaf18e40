"""Python's own functions under the names of packages for both Pythons."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, converted, parts

MODEL = """\
h = X
for i in {0}(3):
    h = tf.layers.dense(h, 4, name='layer%d' % i)
loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y)) + tf.add_n([
    tf.nn.l2_loss(v) for _, v in {1}(range(3), tf.trainable_variables())])
"""


@pytest.mark.parametrize(
    ("imports", "count", "pair"),
    [
        ("", "range", "zip"),
        ("from six.moves import xrange, zip\n", "xrange", "zip"),
        ("from six.moves import range\n", "range", "zip"),
        ("import six\n", "six.moves.xrange", "six.moves.zip"),
        ("from past.builtins import xrange\n", "xrange", "zip"),
    ],
)
def test_loops_of_the_model_are_followed_to_their_end(imports: str, count: str, pair: str) -> None:
    _, inside, _ = parts(imports + INPUTS + MODEL.format(count, pair) + STEP + TRAINING)
    assert f"for i in {count}(3):" in inside


def test_epochs_are_counted_by_such_a_function_too() -> None:
    training = TRAINING.replace("range(100)", "xrange(640 // batch_size)")
    text = converted("from six.moves import xrange\n" + INPUTS + MODEL.format("xrange", "zip") + STEP + training)
    assert "batch_size = 32 * num_gpus\n" in text


@pytest.mark.parametrize("imports", ["from six.moves import cPickle as load\n", "from six import iteritems as load\n"])
def test_what_else_such_a_package_has_is_not_python(imports: str) -> None:
    converted(imports + INPUTS + MODEL.format("range", "zip") + STEP + TRAINING.replace("next_batch(", "load("))
